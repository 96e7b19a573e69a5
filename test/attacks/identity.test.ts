// Becoming another caller: by the position of a token, by a client id that equals a user's name. Through the built
// program, in every profile that keeps something per caller and over every transport that has callers.

import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, connect, type Target } from '../../src/client/index.ts';
import { createToken } from '../../src/security/auth/index.ts';
import { AuthorizationServer } from '../security/fixtures/authorization-server.ts';
import { isFullRun } from '../support/full.ts';
import { useHome } from '../support/program.ts';

const home = useHome();

/** Profiles that keep notes for each caller. */
const keepers = ['local', 'reference'] as const;

/** How a caller reaches the server, and with which kind of request. */
const ways: Readonly<Record<string, { target(url: string): Target; revision: 'auto' | 'handshake' }>> = {
  'HTTP, stateless': { target: (url) => url, revision: 'auto' },
  'HTTP, with a session': { target: (url) => url, revision: 'handshake' },
  SSE: { target: (url) => ({ type: 'sse', url: new URL('/sse', url).href }), revision: 'handshake' },
  WebSocket: { target: (url) => url.replace('http', 'ws'), revision: 'handshake' },
};

async function as<T>(token: string, url: string, way: string, work: (client: Client) => Promise<T>): Promise<T> {
  const { target, revision } = ways[way] as (typeof ways)[string];
  const client = await connect(target(url), { revision, headers: { Authorization: `Bearer ${token}` }, retry: false });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

async function addNote(client: Client, content: string): Promise<void> {
  expect((await client.callTool('add_note', { content })).isError ?? false).toBe(false);
}

async function notesOf(client: Client): Promise<string[]> {
  const { content } = await client.callTool('get_notes', {});
  const { notes } = JSON.parse((content[0] as { text: string }).text) as { notes: { content: string }[] };
  return notes.map((note) => note.content);
}

/** Serves a profile on the same data folder as every other server of the test, until `stop`. */
async function serve(profile: string, env: Record<string, string>, ...args: string[]) {
  const { url, child, said } = await home.serve([profile, '--data', home.file('data'), ...args], { env });
  const stop = async (): Promise<void> => {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  };
  return { url, said, stop };
}

const token = (): string => createToken().token;

/** By default each kind of token with one of them. */
const keepersFor = (profile: (typeof keepers)[number]) => (isFullRun ? keepers : [profile]);

describe.each(keepersFor('reference'))('tokens given by value, in %s', (profile) => {
  test('whose list was rotated: a token does not inherit the notes of the one before it, over any transport', async () => {
    const [first, second, third] = [token(), token(), token()];
    const before = await serve(profile, { MOORING_TOKEN: `${first},${second}` });
    await as(first, before.url, 'HTTP, stateless', (client) => addNote(client, 'of the first'));
    await as(second, before.url, 'HTTP, stateless', (client) => addNote(client, 'of the second'));
    await before.stop();
    const after = await serve(profile, { MOORING_TOKEN: `${second},${third}` });
    for (const way of Object.keys(ways)) {
      expect(await as(second, after.url, way, notesOf), way).toEqual(['of the second']);
      expect(await as(third, after.url, way, notesOf), way).toEqual([]);
    }
  });

  test('a token more or less in the list leaves the other callers as they are', async () => {
    const [first, second] = [token(), token()];
    const alone = await serve(profile, { MOORING_TOKEN: first });
    await as(first, alone.url, 'HTTP, stateless', (client) => addNote(client, 'alone'));
    await alone.stop();
    const both = await serve(profile, { MOORING_TOKEN: `${second},${first}` });
    expect(await as(first, both.url, 'HTTP, stateless', notesOf)).toEqual(['alone']);
    expect(await as(second, both.url, 'HTTP, stateless', notesOf)).toEqual([]);
  });

  test('with a name: the caller keeps what is theirs when the token is replaced, old and new side by side', async () => {
    const [old, fresh, other] = [token(), token(), token()];
    const before = await serve(profile, { MOORING_TOKEN: `ada:${old},${other}` });
    await as(old, before.url, 'HTTP, stateless', (client) => addNote(client, 'mine'));
    await before.stop();
    const overlap = await serve(profile, { MOORING_TOKEN: `ada:${fresh},ada:${old},${other}` });
    for (const each of [old, fresh]) expect(await as(each, overlap.url, 'HTTP, stateless', notesOf)).toEqual(['mine']);
    await overlap.stop();
    const after = await serve(profile, { MOORING_TOKEN: `ada:${fresh}` });
    expect(await as(fresh, after.url, 'HTTP, stateless', notesOf)).toEqual(['mine']);
    await expect(as(old, after.url, 'HTTP, stateless', notesOf)).rejects.toThrow('401');
  });

  test('notes of an earlier version, kept by position, belong to no token until a name assigns them', async () => {
    const [one, two] = [token(), token()];
    // What an earlier version called its only caller, and the first of several.
    const earlier = await serve(profile, { MOORING_TOKEN: `token:${one},token-1:${two}` });
    await as(one, earlier.url, 'HTTP, stateless', (client) => addNote(client, 'of the only one'));
    await as(two, earlier.url, 'HTTP, stateless', (client) => addNote(client, 'of the first'));
    expect(earlier.said()).not.toContain('earlier version');
    await earlier.stop();

    const now = await serve(profile, { MOORING_TOKEN: `${one},${two}` });
    expect(await as(one, now.url, 'HTTP, stateless', notesOf)).toEqual([]);
    expect(await as(two, now.url, 'HTTP, stateless', notesOf)).toEqual([]);
    expect(now.said()).toMatch(/data of the callers "token", "token-1", .*earlier version/);
    expect(now.said()).toContain('token-1:TOKEN');
    await now.stop();

    const assigned = await serve(profile, { MOORING_TOKEN: `${one},token-1:${two}` });
    expect(await as(one, assigned.url, 'HTTP, stateless', notesOf)).toEqual([]);
    expect(await as(two, assigned.url, 'HTTP, stateless', notesOf)).toEqual(['of the first']);
    expect(assigned.said()).toMatch(/data of the caller "token", .*earlier version/);
  });
});

test('neither a token nor a part of it is in the log, the audit log or the data folder', async () => {
  const [plain, named] = [token(), token()];
  const audit = home.file('audit.jsonl');
  const { url, said, stop } = await serve(
    'local',
    { MOORING_TOKEN: `${plain},ada:${named}`, MCP_LOG_LEVEL: 'debug' },
    '--audit',
    audit,
  );
  await as(plain, url, 'HTTP, stateless', (client) => addNote(client, 'x'));
  await as(named, url, 'HTTP, stateless', (client) => addNote(client, 'y'));
  await stop();
  const { readFileSync, readdirSync } = await import('node:fs');
  const files = [audit, ...readdirSync(home.file('data')).map((name) => `${home.file('data')}/${name}`)];
  const texts = [said(), ...files.map((file) => readFileSync(file).toString('latin1'))];
  for (const each of [plain, named]) {
    for (const text of texts) {
      expect(text.includes(each)).toBe(false);
      expect(text.includes(each.slice(4, 20))).toBe(false);
    }
  }
  const callers = readFileSync(audit, 'utf8').matchAll(/"principal":"([^"]*)"/g);
  expect(new Set([...callers].map((match) => match[1]))).toEqual(
    new Set([expect.stringMatching(/^caller:[0-9a-f]{32}$/), 'ada']),
  );
});

test.each([
  [(a: string) => `ada:${a},bob:${a}`, /two names/],
  [(a: string) => `:${a}`, /name/],
  [(a: string) => `a b:${a}`, /name/],
  [() => 'ada:', /empty|32 characters/],
  [() => 'ada:short', /32 characters/],
  [(a: string) => `client:ada:${a}`, /name/],
])('a list of tokens that could be read in two ways is a mistake at the start (%#)', async (list, message) => {
  const { code, stderr } = await home.run(['serve', 'local', '--http', '--port', '0'], {
    env: { MOORING_TOKEN: list(token()) },
  });
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

describe.each(keepersFor('local'))('tokens of an authorization server, in %s', (profile) => {
  let issuer: AuthorizationServer;
  beforeAll(async () => {
    issuer = await AuthorizationServer.start();
  });
  afterAll(() => issuer.close());

  const resource = 'https://mcp.example.com/mcp';
  const start = () => serve(profile, {}, '--auth-issuer', issuer.issuer, '--public-url', resource);

  // RFC 9700 §4.15: a client may choose an id that equals a user's, and ask for tokens of its own.
  const impostors: [string, Record<string, unknown>][] = [
    ['without a subject', { sub: undefined, client_id: 'alice' }],
    ['with an empty subject', { sub: '', client_id: 'alice' }],
    ['whose subject is the client itself (RFC 9068 §2.2)', { sub: 'alice', client_id: 'alice' }],
    ['whose authorized party is the subject', { sub: 'alice', azp: 'alice' }],
  ];

  test('a client named like a user is not that user, over any transport', async () => {
    const { url } = await start();
    const alice = await issuer.token(resource, { claims: { client_id: 'editor' } });
    await as(alice, url, 'HTTP, stateless', (client) => addNote(client, 'secret of alice'));
    for (const way of Object.keys(ways)) {
      for (const [what, claims] of impostors) {
        const shown = await issuer.token(resource, { claims });
        expect(await as(shown, url, way, notesOf), `${what}, ${way}`).toEqual([]);
      }
      expect(await as(alice, url, way, notesOf), way).toEqual(['secret of alice']);
    }
  });

  test('a user named like a client in our own notation is not that client, and the other way round', async () => {
    const { url } = await start();
    const robot = await issuer.token(resource, { claims: { sub: undefined, client_id: 'robot' } });
    await as(robot, url, 'HTTP, stateless', (client) => addNote(client, 'of the robot'));
    for (const sub of ['client:robot', 'robot', 'user:client:robot', 'user:robot', 'client\u0000robot']) {
      const shown = await issuer.token(resource, { claims: { sub, client_id: 'editor' } });
      const seen = await as(shown, url, 'HTTP, stateless', notesOf).catch(() => []);
      expect(seen, JSON.stringify(sub)).toEqual([]);
    }
    // The same client, by either kind of token of its own.
    const again = await issuer.token(resource, { claims: { sub: 'robot', client_id: 'robot' } });
    expect(await as(again, url, 'HTTP, stateless', notesOf)).toEqual(['of the robot']);
  });
});
