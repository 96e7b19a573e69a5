// Keys that seal sessions and unfinished calls: changed without a gap, never weak, and good for one server only.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createServer } from '../../src/engine/server.ts';
import { type HttpServer, serveHttp } from '../../src/transports/http.ts';
import { isFullRun } from '../support/full.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { profileNames } from '../support/profile-names.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const key = (): string => randomBytes(32).toString('base64');

const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const ask = 'test_input_required_result_request_state';

/** A server of the program with these keys, on the data folder that all of a test share. */
async function serve(profile: string, env: Record<string, string>) {
  const { url, child } = await home.serve([profile, '--data', home.file('data')], { env });
  const client = new HttpTestClient(Number(new URL(url).port));
  const stop = async (): Promise<void> => {
    client.close();
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  };
  return { client, stop };
}

const statusOf = async (client: HttpTestClient, id: string): Promise<number> =>
  (await client.session(id, 'tools/list')).status;

/** That sessions outlive a restart is tested in test/cli/restart.test.ts. */
const changed = isFullRun ? profileNames : ['everything', 'secure-local'];

describe.each(changed)('%s', (profile) => {
  test('a session opened under the previous key goes on under the new one, until the previous one is dropped', async () => {
    const [oldest, old, fresh] = [key(), key(), key()];
    const before = await serve(profile, { MOORING_KEY: old });
    const session = await before.client.initialize();
    await before.stop();

    const overlap = await serve(profile, { MOORING_KEY: fresh, MOORING_KEY_PREVIOUS: `${oldest},${old}` });
    expect(await statusOf(overlap.client, session)).toBe(200);
    const later = await overlap.client.initialize();
    await overlap.stop();

    const after = await serve(profile, { MOORING_KEY: fresh });
    // What the overlap handed out is sealed under the new key.
    expect(await statusOf(after.client, later)).toBe(200);
    expect(await statusOf(after.client, session)).toBe(404);
  });
});

test('an unfinished call begun under the previous key is finished under the new one', async () => {
  const [old, fresh] = [key(), key()];
  const before = await serve('everything', { MOORING_KEY: old });
  const asked = await before.client.modern('tools/call', { name: ask }, { meta });
  const requestState = asked.json.result?.['requestState'] as string;
  expect(requestState).toEqual(expect.any(String));
  await before.stop();

  const answer = { name: ask, requestState, inputResponses: { confirm: { action: 'accept', content: { ok: true } } } };
  const other = await serve('everything', { MOORING_KEY: fresh });
  expect((await other.client.modern('tools/call', answer, { meta })).json.error?.code).toBe(-32602);
  await other.stop();
  const after = await serve('everything', { MOORING_KEY: fresh, MOORING_KEY_PREVIOUS: old });
  const { result } = (await after.client.modern('tools/call', answer, { meta })).json;
  expect(result).toMatchObject({ content: [{ text: expect.stringMatching(/^state-ok: .* confirmed=true$/) }] });
});

test('a session of one profile is not one of another, with the same key and the same data folder', async () => {
  const env = { MOORING_KEY: key() };
  const names = profileNames;
  const servers = await Promise.all(names.map((name) => serve(name, env)));
  for (const [i, here] of names.entries()) {
    const { client } = servers[i] as (typeof servers)[number];
    const id = await client.initialize();
    expect(await statusOf(client, id)).toBe(200);
    for (const [j, there] of names.entries()) {
      if (i === j) continue;
      const other = (servers[j] as (typeof servers)[number]).client;
      expect(await statusOf(other, id), `a session of ${here} at ${there}`).toBe(404);
      expect((await other.send({ method: 'DELETE', headers: { 'Mcp-Session-Id': id } })).status).toBe(404);
    }
    expect(await statusOf(client, id)).toBe(200);
  }
}, 120_000);

test('a session of one server is not one of another by a different name, with the same key', async () => {
  const shared = randomBytes(32);
  const running: HttpServer[] = [];
  const start = async (name: string): Promise<HttpTestClient> => {
    const server = createServer({ name, version: '1.0.0', key: shared });
    server.tool('hello', { run: () => 'hello' });
    const http = await serveHttp(server, { port: 0 });
    running.push(http);
    return new HttpTestClient(http.port);
  };
  const [here, replica, other] = [await start('diary'), await start('diary'), await start('archive')];
  const id = await here.initialize();
  expect(await statusOf(replica, id)).toBe(200);
  expect(await statusOf(other, id)).toBe(404);
  for (const client of [here, replica, other]) client.close();
  await Promise.all(running.map((each) => each.close()));
});

const base64 = (bytes: Iterable<number>): string => Buffer.from([...bytes]).toString('base64');
const weak: [string, string][] = [
  ['too short', randomBytes(16).toString('base64')],
  ['too long', randomBytes(33).toString('base64')],
  ['no base64', `${randomBytes(31).toString('base64')}!!`],
  ['with a line break in it', `${key().slice(0, 20)}\n${key().slice(20)}`],
  ['all zero', base64(new Uint8Array(32))],
  ['one byte over and over', base64(new Uint8Array(32).fill(0xa5))],
  ['a pattern', base64(Array.from({ length: 32 }, (_, i) => [0xde, 0xad, 0xbe, 0xef][i % 4] as number))],
  ['counting up', base64(Array.from({ length: 32 }, (_, i) => i))],
  ['a text', Buffer.from('correct horse battery staple 123').toString('base64')],
];

test.each(weak)('a key that is %s is a mistake that says how to make one', async (_what, value) => {
  const [stdio, http] = [[], ['--http', '--port', '0']];
  const given: [Record<string, string>, string[][]][] = [
    [{ MOORING_KEY: value }, isFullRun ? [stdio, http] : [http]],
    [{ MOORING_KEY: key(), MOORING_KEY_PREVIOUS: value }, isFullRun ? [stdio, http] : [stdio]],
  ];
  for (const [env, transports] of given) {
    for (const transport of transports) {
      const { code, stderr } = await home.run(['serve', 'everything', ...transport], { env });
      expect(code).toBe(2);
      expect(stderr).toContain('openssl rand -base64 32');
      expect(stderr).not.toContain(value);
    }
  }
});

test('a previous key without a key is a mistake', async () => {
  const { code, stderr } = await home.run(['serve', 'everything'], { env: { MOORING_KEY_PREVIOUS: key() } });
  expect(code).toBe(2);
  expect(stderr).toContain('Set MOORING_KEY');
});

test.each([
  ['a long text that repeats', 'ab'.repeat(40)],
  ['a short text', 'sixteen letters!'],
  ['bytes that repeat', new Uint8Array(32).fill(7)],
  ['too few bytes', randomBytes(31)],
])('a server of your own rejects %s as a key', (_what, value) => {
  expect(() => createServer({ name: 'x', version: '1', key: value })).toThrow('openssl rand -base64 32');
  const previousKeys = [value];
  expect(() => createServer({ name: 'x', version: '1', key: randomBytes(32), previousKeys })).toThrow('openssl rand');
});

test('random keys are never rejected', () => {
  for (let n = 0; n < 5_000; n++) createServer({ name: 'x', version: '1', key: randomBytes(32) });
});
