// What a request changes in its session is acknowledged when all processes know it: the next request may reach any of them.
import { afterEach, expect, test } from 'vitest';
import type { Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { type Answer, both, type HttpTestClient } from '../support/http-client.ts';
import { openPost, Replicas } from '../support/replicas.ts';
import { installLogTool } from './support/log-tool.ts';

const closers = useClosers(afterEach);

function install(server: Server): void {
  installLogTool(server);
  server.tool('wait', {
    run: async (_args, ctx) => {
      await ctx.progress(1);
      return new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
    },
  });
  server.resource('memo://1', { name: 'memo', read: () => 'text' });
}

async function start() {
  const replicas = new Replicas();
  closers.push(() => replicas.close());
  const [a, b] = [await replicas.start(install), await replicas.start(install)];
  const session = await a.client.initialize();
  // Both have it in memory.
  await b.client.session(session, 'ping');
  return { a, b, session };
}

const notify = (client: HttpTestClient, session: string, method: string, params: object): Promise<Answer> =>
  client.send({ body: { jsonrpc: '2.0', method, params }, headers: { Accept: both, 'Mcp-Session-Id': session } });

/** Whether there is a response within a moment. */
const isAcknowledged = (response: Promise<Answer>): Promise<boolean> =>
  Promise.race([response.then(() => true), new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 100))]);

test('a log level', { timeout: 60_000 }, async () => {
  const { a, b, session } = await start();
  b.pause();
  const changed = a.client.session(session, 'logging/setLevel', { level: 'error' });
  expect(await isAcknowledged(changed)).toBe(false);
  b.resume();
  expect((await changed).status).toBe(200);
  const { events } = await b.client.session(session, 'tools/call', { name: 'log' });
  expect(events).toEqual([]);
});

test('a subscription', { timeout: 60_000 }, async () => {
  const { a, b, session } = await start();
  b.pause();
  const changed = a.client.session(session, 'resources/subscribe', { uri: 'memo://1' });
  expect(await isAcknowledged(changed)).toBe(false);
  b.resume();
  expect((await changed).status).toBe(200);
});

test('the cancellation of a call in another process', { timeout: 60_000 }, async () => {
  const { a, b, session } = await start();
  const params = { name: 'wait', _meta: { progressToken: 1 } };
  const call = await openPost(b.client, session, { jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  await call.until(1);
  b.pause();
  const cancelled = notify(a.client, session, 'notifications/cancelled', { requestId: 7 });
  expect(await isAcknowledged(cancelled)).toBe(false);
  b.resume();
  expect((await cancelled).status).toBe(202);
  // The id can be used again.
  expect((await b.client.session(session, 'ping', {}, { id: 7 })).status).toBe(200);
  expect((await call.end()).length).toBe(1);
});

test('a process that does not respond delays the acknowledgement, and does not prevent it', {
  timeout: 60_000,
}, async () => {
  const { a, b, session } = await start();
  b.pause();
  expect((await a.client.session(session, 'logging/setLevel', { level: 'error' })).status).toBe(200);
  b.resume();
});
