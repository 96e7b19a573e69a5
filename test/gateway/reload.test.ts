// A new configuration: servers that have not changed are not touched, others come and go without losing calls.

import { afterEach, expect, test } from 'vitest';
import { inMemory } from '../../src/client/index.ts';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { createServer, type Server, serveHttp } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { clientOf, gatewayConfig, upstream, view } from './fixture.ts';

const closers = useClosers(afterEach);

function named(name: string, connected: string[] = [], released: Promise<void> = Promise.resolve()): Server {
  const server = createServer({ name, version: '1.0.0', logger: false });
  server.tool('who', { run: () => name });
  server.tool('slow', {
    run: async () => {
      await released;
      return name;
    },
  });
  server.observe({ connected: () => connected.push(name) });
  return server;
}

function gatewayFor(servers: Readonly<Record<string, Server>>, slugs: readonly string[]): Gateway {
  const gateway = createGateway(gatewayConfig(slugs.map((slug) => upstream(slug))), {
    logger: false,
    target: ({ name }) => inMemory(servers[name] as Server),
  });
  closers.push(() => gateway.close());
  return gateway;
}

const text = ({ content }: { readonly content: readonly unknown[] }): string => (content[0] as { text: string }).text;

test('unchanged servers keep their connection, and clients are notified once of what came and went', async () => {
  const connected: string[] = [];
  const servers = { one: named('one', connected), two: named('two', connected), three: named('three', connected) };
  const gateway = gatewayFor(servers, ['one', 'two']);
  const changes: string[] = [];
  const client = await clientOf(closers, gateway.server, { onListChanged: (kind) => changes.push(kind) });
  await client.listTools();
  await gateway.reload(gatewayConfig([upstream('one'), upstream('three')]));
  await expect
    .poll(async () => (await client.listTools({ cache: 'refresh' })).map(({ name }) => name))
    .toEqual(['one__who', 'one__slow', 'three__who', 'three__slow']);
  expect(text(await client.callTool('one__who'))).toBe('one');
  expect(connected.filter((name) => name === 'one')).toHaveLength(1);
  await expect(client.callTool('two__who')).rejects.toThrow(/Unknown tool/);
  expect(new Set(changes)).toEqual(new Set(['tools']));
});

test('calls in flight on a server that is removed or changed end with their result', async () => {
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const servers = { one: named('one', [], released), two: named('two', [], released), other: named('changed') };
  const gateway = gatewayFor(servers, ['one', 'two']);
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  const calls = [client.callTool('one__slow'), client.callTool('two__slow')];
  await expect.poll(() => gateway.status().map(({ inFlight }) => inFlight)).toEqual([1, 1]);
  const next = gatewayConfig([upstream('one', { name: 'other', digest: 'another' })], { drainMs: 60_000 });
  await gateway.reload(next);
  expect(text(await client.callTool('one__who'))).toBe('changed');
  release();
  expect((await Promise.all(calls)).map(text)).toEqual(['one', 'two']);
});

test('no call fails on a server that does not change, while others are reloaded all the time', async () => {
  const servers = { one: named('one'), two: named('two') };
  const gateway = gatewayFor(servers, ['one', 'two']);
  const client = await clientOf(closers, gateway.server);
  await client.listTools();
  let isOver = false;
  const results: string[] = [];
  const calling = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) results.push(text(await client.callTool('one__who')));
    }),
  );
  for (let n = 0; n < 20; n++)
    await gateway.reload(gatewayConfig([upstream('one'), upstream('two', { digest: `${n}` })]));
  isOver = true;
  await calling;
  expect(results.length).toBeGreaterThan(20);
  expect(new Set(results)).toEqual(new Set(['one']));
});

test('views have addresses of their own, which come and go with the configuration', async () => {
  const servers = { one: named('one'), two: named('two') };
  const gateway = gatewayFor(servers, ['one', 'two']);
  const http = await serveHttp(gateway.server, {
    port: 0,
    graceMs: 100,
    hosts: (path) => (path.startsWith('/mcp/') ? gateway.serverAt(path.slice(4)) : undefined),
  });
  const client = new HttpTestClient(http.port);
  closers.push(
    () => http.close(),
    () => client.close(),
  );
  const toolsAt = async (path: string): Promise<unknown> => {
    const { status, json } = await client.modern('tools/list', {}, { path });
    return status === 200 ? ((json.result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name) : status;
  };
  const call = (path: string, name: string) => client.modern('tools/call', { name, arguments: {} }, { path });
  expect(await toolsAt('/mcp/v/small')).toBe(404);
  expect(await toolsAt('/mcp/s/two')).toEqual(['who', 'slow']);
  expect(await toolsAt('/mcp/v/default')).toEqual(await toolsAt('/mcp'));
  const views = [view('small', { servers: ['two'], tools: { exclude: ['*__slow'] } })];
  await gateway.reload(gatewayConfig([upstream('one'), upstream('two')], { views }));
  expect(await toolsAt('/mcp/v/small')).toEqual(['two__who']);
  // What a view does not show cannot be called there.
  expect((await call('/mcp/v/small', 'two__slow')).json.error?.code).toBe(-32602);
  expect((await call('/mcp/v/small', 'one__who')).json.error?.code).toBe(-32602);
  expect((await call('/mcp', 'one__who')).status).toBe(200);
  // A session belongs to the address that opened it.
  const session = await client.initialize({ path: '/mcp/v/small' });
  const body = { jsonrpc: '2.0', id: 7, method: 'tools/list' };
  const headers = { 'Mcp-Session-Id': session, Accept: 'application/json, text/event-stream' };
  expect((await client.send({ path: '/mcp/v/small', body, headers })).status).toBe(200);
  expect((await client.send({ path: '/mcp', body, headers })).status).toBe(404);
  // The default view has two addresses.
  const own = { ...headers, 'Mcp-Session-Id': await client.initialize({ path: '/mcp' }) };
  expect((await client.send({ path: '/mcp/v/default', body, headers: own })).status).toBe(200);
  await gateway.reload(gatewayConfig([upstream('one')]));
  expect(await toolsAt('/mcp/v/small')).toBe(404);
  expect(await toolsAt('/mcp/s/two')).toBe(404);
  expect(await toolsAt('/mcp')).toEqual(['one__who', 'one__slow']);
});

test('a changed server that does not list its tools does not delay the others for long', async () => {
  const hanging = named('hanging');
  hanging.around(async ({ method }, next) => (method === 'tools/list' ? new Promise(() => {}) : next()));
  const servers = { one: named('one'), two: named('two'), hanging };
  const gateway = createGateway(gatewayConfig([upstream('one')], { firstListMs: 100 }), {
    logger: false,
    target: ({ entry, name }) =>
      inMemory(servers[entry.url?.endsWith('hanging') === true ? 'hanging' : (name as 'one')]),
  });
  closers.push(() => gateway.close());
  const client = await clientOf(closers, gateway.server);
  expect((await client.listTools()).length).toBe(2);
  const changed = upstream('one', { entry: { url: 'http://127.0.0.1:9/hanging' } });
  await gateway.reload(gatewayConfig([changed, upstream('two')], { firstListMs: 100 }));
  await expect
    .poll(async () => (await client.listTools({ cache: 'refresh' })).map(({ name }) => name))
    .toEqual(['two__who', 'two__slow']);
});
