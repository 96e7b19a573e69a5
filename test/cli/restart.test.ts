// With a key in the configuration, sealed sessions and cursors stay valid after a restart, in every profile.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import { profileNames } from '../support/profile-names.ts';
import { useHome } from '../support/program.ts';

const home = useHome();
const key = (): string => randomBytes(32).toString('base64');

interface Answer {
  readonly status: number;
  readonly session: string | null;
  readonly message: { readonly result?: Record<string, unknown>; readonly error?: { readonly code: number } };
}

async function post(url: string, method: string, params: object, session?: string): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'Mcp-Session-Id': session }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...(method.startsWith('notif') ? {} : { id: 1 }), method, params }),
  });
  const text = await response.text();
  const data = /^data: (\{.*)$/m.exec(text)?.[1] ?? text;
  return {
    status: response.status,
    session: response.headers.get('Mcp-Session-Id'),
    message: data === '' ? {} : JSON.parse(data),
  };
}

/** Starts a server and opens a session. */
async function open(args: readonly string[], env: Record<string, string>) {
  const { url, child } = await home.serve([...args, '--data', home.file('data')], { env });
  const info = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const { session } = await post(url, 'initialize', info);
  await post(url, 'notifications/initialized', {}, session as string);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await once(child, 'close');
  };
  return { url, session: session as string, stop };
}

/** Sessions are the same in all profiles: by default some of them, with and without a data folder. */
const restarted = isFullRun ? profileNames : ['local', 'system', 'everything'];

test.each(restarted)(
  '%s: a session survives a restart with the same key, and is rejected with another',
  async (name) => {
    const env = { MOORING_KEY: key() };
    const before = await open([name], env);
    expect((await post(before.url, 'tools/list', {}, before.session)).message.result).toBeDefined();
    await before.stop();

    const after = await home.serve([name, '--data', home.file('data')], { env });
    const { status, message } = await post(after.url, 'tools/list', {}, before.session);
    expect(status).toBe(200);
    expect(message.result).toMatchObject({ tools: expect.any(Array) });

    const other = await home.serve([name, '--data', home.file('data')], { env: { MOORING_KEY: key() } });
    expect((await post(other.url, 'tools/list', {}, before.session)).status).toBe(404);
  },
);

test('an ended session stays ended, and a subscription stays active', async () => {
  const env = { MOORING_KEY: key() };
  const before = await open(['reference'], env);
  const ended = await open(['reference'], env);
  await post(before.url, 'resources/subscribe', { uri: 'server://counter' }, before.session);
  await fetch(ended.url, { method: 'DELETE', headers: { 'Mcp-Session-Id': ended.session } });
  await before.stop();
  await ended.stop();

  const { url } = await home.serve(['reference', '--data', home.file('data')], { env });
  expect((await post(url, 'tools/list', {}, ended.session)).status).toBe(404);
  const stream = await fetch(url, { headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': before.session } });
  const reader = (stream.body as ReadableStream<Uint8Array>).getReader();
  await post(url, 'tools/call', { name: 'increment_counter', arguments: {} }, before.session);
  let heard = '';
  while (!heard.includes('notifications/resources/updated')) {
    const { value, done } = await reader.read();
    if (done) break;
    heard += Buffer.from(value).toString();
  }
  expect(heard).toContain('"uri":"server://counter"');
  await reader.cancel();
});

test('a cursor continues after a restart, and is rejected with another key', async () => {
  const root = home.file('files');
  mkdirSync(root);
  // The profile lists a hundred to a page.
  for (let n = 0; n < 120; n++) writeFileSync(join(root, `${String(n).padStart(3, '0')}.txt`), 'x');
  const args = ['system', '--root', root];
  const env = { MOORING_KEY: key() };
  const before = await open(args, env);
  const first = (await post(before.url, 'resources/list', {}, before.session)).message.result;
  const cursor = first?.['nextCursor'];
  expect(cursor).toEqual(expect.any(String));
  await before.stop();

  const after = await open(args, env);
  const rest = (await post(after.url, 'resources/list', { cursor }, after.session)).message.result;
  const uris = [first, rest].flatMap((page) => page?.['resources'] as { uri: string }[]).map(({ uri }) => uri);
  expect(uris.filter((uri) => uri.endsWith('.txt'))).toHaveLength(120);
  expect(new Set(uris).size).toBe(uris.length);

  const other = await open(args, { MOORING_KEY: key() });
  const rejected = await post(other.url, 'resources/list', { cursor }, other.session);
  expect(rejected.message.error?.code).toBe(-32602);
});

test('an invalid key is reported with a short message', async () => {
  const { code, stderr } = await home.run(['serve', 'clipboard', '--http'], { env: { MOORING_KEY: 'short' } });
  expect(code).toBe(2);
  expect(stderr).toContain('MOORING_KEY) must be 32 bytes in base64. You can create one with: openssl rand -base64 32');
});
