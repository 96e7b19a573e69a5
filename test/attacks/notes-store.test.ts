// What is kept stays what it was: a store that is emptied, cut short, changed or replaced is an error and never an empty
// or a wrong one, and one caller's notes take one caller's share.

import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { createToken } from '../../src/security/auth/index.ts';
import { pairsOf } from '../support/full.ts';
import { type Answer, ServerProcess, useCommand } from '../support/server-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

useCommand();

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
});

const database = (): string => join(folder, 'data', 'mooring.db');
const text = (answer: Answer): string => answer.result.content[0].text;

function run(profile: string, ...flags: string[]): ServerProcess {
  return new ServerProcess(['serve', profile, '--data', join(folder, 'data'), '--log-level', 'error', ...flags]);
}

async function start(profile: string, ...flags: string[]): Promise<ServerProcess> {
  const server = run(profile, ...flags);
  await server.initialize();
  return server;
}

async function stop(server: ServerProcess): Promise<void> {
  server.process.stdin?.end();
  await server.exited;
}

/** A store with notes, written back and closed. */
async function fill(profile: string): Promise<void> {
  const server = await start(profile);
  await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      server.call('add_note', { content: `content ${n} ${'x'.repeat(500)}`, tags: ['t'] }),
    ),
  );
  if (profile === 'reference') await server.call('increment_counter', { amount: 7 });
  await stop(server);
}

/** Runs another command on the same folder; its exit code. */
function command(...args: string[]): Promise<number | string> {
  return new ServerProcess([...args, '--data', join(folder, 'data')]).exited;
}

const damages: readonly (readonly [how: string, damage: () => void, problem: string])[] = [
  ['emptied', () => truncateSync(database(), 0), 'it is empty, although data was kept in it'],
  ['cut short', () => truncateSync(database(), 8192), 'is damaged'],
  ['cut short by a few bytes', () => truncateSync(database(), readFileSync(database()).length - 100), 'is damaged'],
];
const profiles = ['local', 'reference'];

describe.each(profiles)('%s', (profile) => {
  const own = pairsOf(damages, profiles).filter(([, its]) => its === profile);
  test.each(own.map(([damage]) => damage))(
    'a database that was %s is an error with a remedy, not an empty store',
    async (_how, damage, problem) => {
      await fill(profile);
      damage();
      const before = readFileSync(database());
      const server = run(profile);
      if (profile === 'reference') {
        expect(await server.exited).toBe(1);
        expect(server.stderr).toContain(problem);
        expect(server.stderr).toContain('Move it away together with');
      } else {
        await server.initialize();
        for (const [tool, args] of [
          ['get_notes', {}],
          ['add_note', { content: 'x' }],
        ] as const) {
          const answer = await server.call(tool, args);
          expect(answer.result.isError).toBe(true);
          expect(text(answer)).toContain(problem);
          expect(text(answer)).toContain('Move it away together with');
        }
      }
      expect(readFileSync(database()).equals(before)).toBe(true);
    },
  );

  test('a flipped byte in a note is reported and not served; the other notes are, and it can be deleted', async () => {
    await fill(profile);
    const bytes = readFileSync(database());
    const at = bytes.indexOf('content 12 x');
    bytes[at + 20] = 'X'.charCodeAt(0);
    for (const end of ['-wal', '-shm']) rmSync(database() + end, { force: true });
    writeFileSync(database(), bytes);

    const server = await start(profile);
    const answer = await server.call('get_notes');
    expect(answer.result.isError).toBe(true);
    expect(text(answer)).toMatch(/note 13 does not match its checksum and is not shown\. Delete the note with/);
    expect((await server.call('get_notes', { tags: ['t'] })).result.isError).toBe(true);
    expect((await server.request('resources/read', { uri: 'note://13' })).error).toBeDefined();
    const { result } = await server.request('resources/read', { uri: 'note://14' });
    expect(result.contents[0].text).toContain('content 13 x');
    expect(server.lines.join('')).not.toMatch(/xxX|Xxx/);

    if (profile === 'local') expect(text(await server.call('delete_note', { id: '13' }))).toBe('Note 13 deleted');
    else expect(await command('notes', 'delete', '13')).toBe(0);
    expect(JSON.parse(text(await server.call('get_notes')))).toMatchObject({ count: 29, total: 29 });
    if (profile === 'local') return;
    expect((await server.request('resources/read', { uri: 'server://counter' })).result.contents[0].text).toBe('7');
  });

  test('a note is not acknowledged when the log it went to was removed', async () => {
    const server = await start(profile);
    expect(text(await server.call('add_note', { content: 'kept' }))).toBe('Note 1 added');
    rmSync(`${database()}-wal`);
    const answer = await server.call('add_note', { content: 'lost' });
    expect(answer.result.isError).toBe(true);
    expect(text(answer)).toContain('Restart the server');
    expect((await server.request('ping')).result).toEqual({});
  });

  test('deleted notes stay deleted and the others stay after kill -9', async () => {
    const server = await start(profile);
    for (let n = 1; n <= 6; n++) await server.call('add_note', { content: `note ${n}`, tags: ['t'] });
    if (profile === 'local') for (const id of ['2', '5']) await server.call('delete_note', { id });
    else expect(await command('notes', 'delete', '2', '5')).toBe(0);
    await server.kill();
    const again = await start(profile);
    const { notes } = JSON.parse(text(await again.call('get_notes'))) as { notes: { id: string }[] };
    expect(notes.map(({ id }) => id)).toEqual(['6', '4', '3', '1']);
  });
});

test('delete_note is marked as destructive, and is absent where the list of tools is fixed', async () => {
  const server = run('local');
  await server.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} });
  const { tools } = (await server.request('tools/list')).result as { tools: { name: string; annotations: object }[] };
  const annotations = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false };
  expect(tools.find(({ name }) => name === 'delete_note')).toMatchObject({ annotations });
  const missing = await server.call('delete_note', { id: '9' });
  expect(missing.result.isError).toBe(true);
  expect(text(missing)).toContain('There is no note 9');
  const listed = await (await start('reference')).request('tools/list');
  expect(listed.result.tools.map(({ name }: { name: string }) => name)).not.toContain('delete_note');
});

describe('over HTTP, with several callers', () => {
  const tokens = { ada: createToken(), eve: createToken() };

  async function serve(
    profile: string,
    limits: object,
  ): Promise<(who: keyof typeof tokens, args: object) => Promise<string>> {
    writeFileSync(
      join(folder, 'tokens.json'),
      JSON.stringify({ tokens: Object.entries(tokens).map(([id, { hash }]) => ({ id, hash })) }),
      { mode: 0o600 },
    );
    writeFileSync(join(folder, 'mooring.json'), JSON.stringify({ packs: { reference: limits } }));
    const server = new ServerProcess([
      ...['serve', profile, '--http', '--port', '0', '--data', join(folder, 'data')],
      ...['--token-file', join(folder, 'tokens.json'), '--config', join(folder, 'mooring.json')],
    ]);
    const url = await server.until(() => /listening on (\S+)/.exec(server.stderr)?.[1]);
    return async (who, args) => {
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'example-client', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...{ 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' },
          ...{ Authorization: `Bearer ${tokens[who].token}`, 'MCP-Protocol-Version': '2026-07-28' },
          ...{ 'Mcp-Method': 'tools/call', 'Mcp-Name': 'add_note' },
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
          params: { name: 'add_note', arguments: args, _meta: meta },
        }),
      });
      const answer = (await response.json()) as Answer;
      return answer.result === undefined ? JSON.stringify(answer) : text(answer);
    };
  }

  test.each(['local', 'reference'])('%s: the notes of one caller take no more than its share', async (profile) => {
    const add = await serve(profile, { maxBytesPerCaller: 5_000 });
    const note = { content: 'x'.repeat(2_000) };
    expect(await add('eve', note)).toBe('Note 1 added');
    expect(await add('eve', note)).toBe('Note 2 added');
    expect(await add('eve', note)).toContain('the limit is 5000. Delete some first');
    expect(await add('eve', { content: 'small' })).toBe('Note 3 added');
    expect(await add('ada', note)).toBe('Note 1 added');
  });

  test.each(['local', 'reference'])('%s: all notes together have a limit', async (profile) => {
    const add = await serve(profile, { maxBytesTotal: 150_000 });
    const note = { content: 'x'.repeat(50_000) };
    let full = '';
    for (let n = 0; n < 5 && full === ''; n++) {
      const said = await add(n % 2 === 0 ? 'ada' : 'eve', note);
      if (!said.endsWith('added')) full = said;
    }
    expect(full).toContain('150000 bytes. Delete some notes first');
  });
});
