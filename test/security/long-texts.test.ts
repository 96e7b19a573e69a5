// Texts of a message that a server looks up, keeps or sends back have a length limit of their own, on every transport.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import { serveHttp } from '../../src/transports/http.ts';
import { both, HttpTestClient } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const long = 'x'.repeat(3 * 1024 * 1024);

function makeServer(): Server {
  const server = createServer({ name: 'long', version: '1.0.0' });
  server.tool('count', {
    run: async (_args, ctx) => {
      for (let n = 1; n <= 100; n++) await ctx.progress(n);
      return 'counted';
    },
  });
  server.prompt('greet', {
    args: { who: { complete: () => ['world'] } },
    get: () => 'hello',
  });
  server.resourceTemplate('note://{id}', { name: 'note', read: () => 'a note', complete: { id: () => ['1'] } });
  return server;
}

let wires: Awaited<ReturnType<typeof serveWires>>;
beforeAll(async () => {
  wires = await serveWires(makeServer());
});
afterAll(() => wires.close());

/** Each with a text of three megabytes. */
const requests: readonly [what: string, method: string, params: Record<string, unknown>][] = [
  ['the name of a tool', 'tools/call', { name: long }],
  ['the name of a prompt', 'prompts/get', { name: long }],
  ['the URI of a resource', 'resources/read', { uri: long }],
  ['the URI of a subscription', 'resources/subscribe', { uri: `note://${long}` }],
  ['the URI of a subscription that ends', 'resources/unsubscribe', { uri: long }],
  ['a cursor', 'tools/list', { cursor: long }],
  ['a log level', 'logging/setLevel', { level: long }],
  ['a progress token', 'tools/call', { name: 'count', _meta: { progressToken: long } }],
  [
    'the name of an argument',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: 'greet' }, argument: { name: long, value: '' } },
  ],
  [
    'the name of a prompt to complete',
    'completion/complete',
    { ref: { type: 'ref/prompt', name: long }, argument: { name: 'who', value: '' } },
  ],
  [
    'a template to complete',
    'completion/complete',
    { ref: { type: 'ref/resource', uri: long }, argument: { name: 'id', value: '' } },
  ],
];

describe.each(wireKinds)('over %s', (kind) => {
  let wire: Wire;
  beforeAll(async () => {
    wire = await wires.connect(kind);
  });

  test.each(requests)('%s of three megabytes is rejected, and not sent back', async (_what, method, params) => {
    const answer = await wire.request(method, params);
    expect(answer.error).toMatchObject({ code: -32602, message: expect.stringContaining('characters') });
    expect(wire.longest).toBeLessThan(5_000);
  });

  test('an id of three megabytes is rejected, and not sent back', async () => {
    const { id, error } = await wire.ask({ jsonrpc: '2.0', id: long, method: 'ping' });
    expect(id ?? null).toBeNull();
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining('1024 characters') });
    // Neither where the message is wrong for another reason.
    const wrong = await wire.ask({ jsonrpc: '2.0', id: long, method: 'no/such/method' });
    expect(wrong.error?.code).toBe(-32600);
    const worse = await wire.ask({ jsonrpc: '2.0', id: long, method: 'ping', params: [] });
    expect(worse.error?.code).toBe(-32600);
    expect(wire.longest).toBeLessThan(5_000);
  });

  test('texts as long as they may be are served', async () => {
    expect((await wire.ask({ jsonrpc: '2.0', id: 'i'.repeat(1_024), method: 'ping' })).result).toEqual({});
    expect((await wire.request('resources/read', { uri: `note://${'n'.repeat(8_185)}` })).result).toBeDefined();
    const _meta = { progressToken: 't'.repeat(1_024) };
    expect((await wire.request('tools/call', { name: 'count', _meta })).result).toBeDefined();
  });
});

describe.each(statelessKinds)('over %s, stateless', (kind) => {
  test('a filter with a URI of three megabytes is rejected, and so is one whose URIs are long altogether', async () => {
    const wire = await wires.connect(kind);
    const listen = (resourceSubscriptions: string[]) =>
      wire.stateless('subscriptions/listen', { notifications: { resourceSubscriptions } });
    for (const uris of [[long], Array.from({ length: 1_000 }, (_, n) => `note://${n}/${'x'.repeat(8_000)}`)]) {
      expect((await listen(uris)).error).toMatchObject({
        code: -32602,
        message: expect.stringContaining('characters'),
      });
    }
    expect(wire.longest).toBeLessThan(5_000);
  });
});

test('a client whose clientInfo is too long is rejected, and its icons are not stored', async () => {
  const seen: unknown[] = [];
  const server = makeServer();
  server.tool('who', { run: (_args, ctx) => void seen.push(ctx.clientInfo) });
  const http = await serveHttp(server, { port: 0, graceMs: 100 });
  const client = new HttpTestClient(http.port);
  const clientInfo = { name: 'c', version: '1' };
  const initialize = (params: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo, ...params },
  });
  for (const params of [
    { capabilities: { experimental: { long } } },
    { clientInfo: { ...clientInfo, title: long } },
    { clientInfo: { ...clientInfo, name: long }, protocolVersion: long },
  ]) {
    const { headers, json, text } = await client.send({ body: initialize(params), headers: { Accept: both } });
    expect(json.error).toMatchObject({ code: -32602, message: expect.stringContaining('16384 characters') });
    expect([headers['mcp-session-id'], text.length < 1_000]).toEqual([undefined, true]);
  }
  const inMemory = new TestClient(server);
  const icons = [{ src: `data:image/png;base64,${long}` }];
  inMemory.send(initialize({ clientInfo: { ...clientInfo, icons } }));
  expect((await inMemory.next(({ id }) => id === 1)).result).toBeDefined();
  await inMemory.call('who');
  expect(seen).toEqual([clientInfo]);
  client.close();
  await http.close();
});
