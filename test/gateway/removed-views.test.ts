// A view, or the address of a server, that a new configuration does not have any more: its calls finish, its sessions end.

import { afterEach, expect, test } from 'vitest';
import { type Client, connect, inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway, type GatewayConfig } from '../../src/gateway/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { both, EventReader, HttpTestClient } from '../support/http-client.ts';
import { gatewayConfig, upstream, view } from './fixture.ts';

const closers = useClosers(afterEach);
const configs = {
  before: gatewayConfig([upstream('one', { isolation: 'session' }), upstream('two')], {
    views: [view('small', { servers: ['one'] })],
    drainMs: 20_000,
  }),
  after: gatewayConfig([upstream('one', { isolation: 'session' })], { drainMs: 20_000 }),
} satisfies Record<string, GatewayConfig>;

/** `release` lets the calls of `slow` end. */
async function start() {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const running = { calls: 0 };
  const server = createServer({ name: 'server', version: '1.0.0', logger: false });
  server.tool('slow', {
    run: async () => {
      running.calls++;
      await released;
      return 'done';
    },
  });
  const closed: string[] = [];
  const gateway: Gateway = createGateway(configs.before, {
    logger: false,
    target: () => inMemory(server),
    prepareServer: (each, as) =>
      void each.use({ name: 'test', install() {}, close: () => void closed.push(JSON.stringify(as)) }),
  });
  const http: HttpServer = await serveHttp(gateway.server, {
    port: 0,
    graceMs: 100,
    hosts: (path) => (path.startsWith('/mcp/') ? gateway.serverAt(path.slice('/mcp'.length)) : undefined),
  });
  const client = new HttpTestClient(http.port);
  closers.push(
    () => http.close(),
    () => gateway.close(),
    () => client.close(),
  );
  return { gateway, client, http, release, running, closed };
}

test.each([
  ['/mcp/v/small', 'one__slow', '{"view":"small"}'],
  ['/mcp/s/two', 'slow', '{"upstream":"two"}'],
])('a call at %s finishes, then its session and its streams end', { timeout: 30_000 }, async (path, tool, as) => {
  const { gateway, client, release, running, closed } = await start();
  const session = await client.initialize({ path });
  const headers = { 'Mcp-Session-Id': session, Accept: both };
  const stream = await client.open({ method: 'GET', path, headers: { ...headers, Accept: 'text/event-stream' } });
  const events = new EventReader(stream);
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: tool, arguments: {} } };
  const call = client.send({ path, body, headers });
  await expect.poll(() => running.calls).toBe(1);
  await gateway.reload(configs.after);
  // Whatever is sent there meanwhile does not end the call.
  for (const each of [headers, { Accept: both }]) {
    expect((await client.send({ path, body: { ...body, id: 2, method: 'tools/list' }, headers: each })).status).toBe(
      404,
    );
  }
  expect(closed).toEqual([]);
  release();
  const { status, text } = await call;
  expect([status, text]).toEqual([200, expect.stringContaining('"done"')]);
  await expect.poll(() => events.ended).toBe(true);
  await expect.poll(() => closed).toEqual([as]);
  expect((await client.send({ path, body: { ...body, id: 3 }, headers })).status).toBe(404);
  expect((await client.modern('tools/list')).status).toBe(200);
});

test('a WebSocket of a removed view is closed, and the processes of its session are not needed any more', async () => {
  const { gateway, http, release } = await start();
  release();
  const states: string[] = [];
  const url = `${http.url.replace(/^http/, 'ws')}/v/small`;
  const client: Client = await connect(url, { revision: '2025-11-25', onState: (state) => states.push(state) });
  closers.push(() => client.close());
  await client.callTool('one__slow');
  const connections = (): number | undefined => gateway.status()[0]?.connections;
  expect(connections()).toBe(1);
  await gateway.reload(configs.after);
  await expect.poll(() => states).toContain('lost');
  await expect.poll(connections).toBe(0);
});

test('a view that is there again has new sessions', async () => {
  const { gateway, client } = await start();
  const path = '/mcp/v/small';
  await client.initialize({ path });
  await gateway.reload(configs.after);
  await gateway.reload(configs.before);
  const session = await client.initialize({ path });
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const { json } = await client.send({ path, body, headers: { 'Mcp-Session-Id': session, Accept: both } });
  expect(json.result?.['tools']).toHaveLength(1);
});
