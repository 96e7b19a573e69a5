// Profile `secure-local` through the wire: every requirement of its document, and its example session as written.

import { afterEach, expect, test, vi } from 'vitest';
import type { Server } from '../../src/engine/server.ts';
import { type FakeEngine, startFakeDuckDuckGo } from '../support/fake-duckduckgo.ts';
import { afterwards, assemble, useProfiles } from '../support/profile.ts';
import { TestClient } from '../support/test-client.ts';

useProfiles();
afterEach(() => void vi.useRealTimers());

const version = '2025-11-25';
const hello = { protocolVersion: version, clientInfo: { name: 'test', version: '1.0' }, capabilities: {} };

async function make(packs: { search?: object; limits?: object } = {}): Promise<{ server: Server; engine: FakeEngine }> {
  const engine = await startFakeDuckDuckGo();
  afterwards(() => engine.close());
  const search = { url: engine.url, limits: { backOffMs: 1, maxBackOffMs: 2 }, ...packs.search };
  const { server } = await assemble('secure-local', { packs: { ...packs, search } });
  return { server, engine };
}

async function open(packs?: { search?: object; limits?: object }) {
  const { server, engine } = await make(packs);
  return { server, engine, client: await TestClient.open(server) };
}

test('S2-1 S2-6: initialize answers exactly as the document shows', async () => {
  const client = new TestClient((await make()).server);
  const answer = await client.request('initialize', hello, 1);
  expect(answer).toEqual({
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocolVersion: '2025-11-25',
      serverInfo: { name: 'mcp-secure-local', version: '1.0.0' },
      capabilities: { tools: { listChanged: true } },
    },
  });
});

test('S2-1: a client of another revision is answered with this one', async () => {
  const client = new TestClient((await make()).server);
  const { result } = await client.request('initialize', { ...hello, protocolVersion: '2024-11-05' });
  expect(result.protocolVersion).toBe(version);
});

test('S2-4: errors have code and message and need no data', async () => {
  const { client } = await open();
  expect(await client.request('no/such', {}, 7)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32601, message: 'Method not found: no/such' },
  });
});

test('S2-5 S2-7: notifications get no response, and initialized needs no params', async () => {
  const client = new TestClient((await make()).server);
  await client.request('initialize', hello, 1);
  client.notify('notifications/initialized');
  client.notify('notifications/unknown');
  expect((await client.request('ping')).result).toEqual({});
  expect(client.received).toHaveLength(2);
});

test('S2-8 S2-9 S2-10: before initialize every request is rejected, ping included, and no tool runs', async () => {
  const { server, engine } = await make();
  const client = new TestClient(server);
  for (const method of ['ping', 'tools/list', 'resources/list', 'no/such']) {
    expect((await client.request(method)).error?.code, method).toBe(-32600);
  }
  expect((await client.call('web_search', { query: 'x' })).error).toMatchObject({
    code: -32600,
    message: expect.stringContaining('Server not initialized'),
  });
  expect(engine.asked).toHaveLength(0);
});

test('S2-11 S2-13: early requests and notifications do not break the handshake that follows', async () => {
  const { server } = await make();
  const client = new TestClient(server);
  client.notify('notifications/initialized');
  client.notify('notifications/cancelled', { requestId: 1 });
  await client.request('tools/list');
  expect(client.received).toHaveLength(1);
  expect((await client.request('initialize', hello)).result.protocolVersion).toBe(version);
  expect((await client.request('tools/list')).error?.code).toBe(-32600);
  client.notify('notifications/initialized');
  expect((await client.request('tools/list')).result.tools).toHaveLength(1);
});

test('S2-12: between the answer to initialize and initialized, requests are still rejected', async () => {
  const { server, engine } = await make();
  const client = new TestClient(server);
  await client.request('initialize', hello);
  expect((await client.call('web_search', { query: 'x' })).error?.code).toBe(-32600);
  expect((await client.request('ping')).error?.code).toBe(-32600);
  expect(engine.asked).toHaveLength(0);
});

test('S2-14: a second initialize is rejected', async () => {
  const { client } = await open();
  expect((await client.request('initialize', hello)).error?.code).toBe(-32600);
});

test('S2-15: requests of the stateless revision need no initialize', async () => {
  const client = new TestClient((await make()).server);
  const { result } = await client.stateless('tools/list');
  expect(result.tools[0].name).toBe('web_search');
  expect((await client.stateless('tools/call', { name: 'web_search', arguments: {} })).result.isError).toBe(true);
  expect((await client.stateless('tools/call', { name: 'missing' })).error?.code).toBe(-32602);
});

test('S2-16 S2-17: tools/list without params gives the one tool as the document shows it', async () => {
  const { client } = await open();
  expect((await client.request('tools/list', undefined, 2)).result).toEqual({
    tools: [
      {
        name: 'web_search',
        description: 'Search the web using DuckDuckGo',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'The search query' },
            max_results: { type: 'integer', description: 'Maximum results (default: 5)' },
          },
          required: ['query'],
        },
      },
    ],
  });
});

test('S2-18 S2-19 S2-20 S2-28: results are one text, numbered from 1, five at most by default, isError false', async () => {
  const { client } = await open();
  const { result } = await client.call('web_search', { query: 'MCP protocol' });
  expect(Object.keys(result)).toEqual(['content', 'isError']);
  expect(result.isError).toBe(false);
  expect(result.content).toHaveLength(1);
  expect(result.content[0].type).toBe('text');
  expect(result.content[0].text).toMatch(/^Search results for: MCP protocol\n\n1\. /);
  const numbers = (text: string) => [...text.matchAll(/^(\d+)\. /gm)].map((match) => Number(match[1]));
  expect(numbers(result.content[0].text)).toEqual([1, 2, 3, 4, 5]);
  const three = await client.call('web_search', { query: 'MCP protocol', max_results: 3 });
  expect(numbers(three.result.content[0].text)).toEqual([1, 2, 3]);
});

test('S2-21: a failing network is a result that says so, never a JSON-RPC error', async () => {
  const { client, engine } = await open({ search: { timeoutMs: 100, limits: { attempts: 1 } } });
  engine.behave('silence');
  expect((await client.call('web_search', { query: 'hello' })).result).toEqual({
    content: [{ type: 'text', text: 'Search error: Network timeout' }],
    isError: true,
  });
  engine.behave('challenge');
  const { result, error } = await client.call('web_search', { query: 'hello' });
  expect(error).toBeUndefined();
  expect(result.content[0].text).toContain('bot challenge');
});

test('S2-22 S2-23 S2-26 S2-27: the JSON-RPC codes with their meanings', async () => {
  const { server, client } = await open();
  server.method('test/fault', () => {
    throw new Error('secret detail');
  });
  client.channel.receiveText('{not json');
  expect((await client.next((each) => each.error?.code === -32700)).error?.message).toContain('Parse error');
  client.channel.receiveText('{"id":5,"method":"ping"}');
  expect((await client.next((each) => each.id === 5)).error?.code).toBe(-32600);
  expect((await client.request('tools/unknown')).error?.code).toBe(-32601);
  expect((await client.request('tools/call', {})).error?.code).toBe(-32602);
  expect((await client.request('tools/call')).error?.code).toBe(-32602);
  expect((await client.call('missing', {})).error?.code).toBe(-32602);
  expect((await client.request('test/fault')).error).toEqual({ code: -32603, message: 'Internal error' });
});

test('S2-24 S2-25: arguments are checked before anything runs, and the result names the field', async () => {
  const { client, engine } = await open();
  for (const args of [{}, { query: 5 }, { query: 'x', max_results: 'many' }, { query: 'x', max_results: 2.5 }]) {
    const { result, error } = await client.call('web_search', args);
    expect(error).toBeUndefined();
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toContain('max_results' in args ? 'max_results' : 'query');
  }
  expect(engine.asked).toHaveLength(0);
});

test('S2-29 S2-30: image content and the flat form of a resource can be produced', async () => {
  const { server, client } = await open();
  server.tool('show', {
    run: () =>
      [
        { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' } },
      ] as const,
  });
  expect((await client.call('show', {})).result.content).toEqual([
    { type: 'image', data: 'aGVsbG8=', mimeType: 'image/png' },
    { type: 'resource', uri: 'file:///path/to/file', mimeType: 'text/plain', text: 'file contents' },
  ]);
});

test('S2-31 S2-32: excess is rejected without running anything, the connection stays open, and later calls succeed', async () => {
  // Time passes only as the test says.
  vi.useFakeTimers({ toFake: ['performance'] });
  const { server, engine, client } = await open({ limits: { requests: 3, windowMs: 6_000 } });
  for (let n = 0; n < 3; n++) await client.call('web_search', { query: 'q' });
  const rejected = await client.call('web_search', { query: 'one too many' });
  expect(rejected.error).toMatchObject({ code: -32000, message: 'Rate limit exceeded' });
  const { retryAfterMs } = (rejected.error?.data ?? {}) as { retryAfterMs: number };
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(engine.asked).toHaveLength(1);
  expect((await client.request('ping')).result).toEqual({});
  client.notify('notifications/initialized');
  const other = new TestClient(server);
  expect((await other.request('initialize', hello)).result.protocolVersion).toBe(version);
  vi.advanceTimersByTime(retryAfterMs);
  expect((await client.call('web_search', { query: 'q' })).result.isError).toBe(false);
});

test('S2-33: the example session, as written', async () => {
  const { server } = await make();
  const client = new TestClient(server);
  const say = async (text: string) => {
    client.channel.receiveText(text);
    const { id } = JSON.parse(text);
    return id === undefined ? undefined : client.next((each) => each.id === id);
  };
  expect(
    await say(
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"test","version":"1.0"},"capabilities":{}}}',
    ),
  ).toEqual(
    JSON.parse(
      '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"mcp-secure-local","version":"1.0.0"},"capabilities":{"tools":{"listChanged":true}}}}',
    ),
  );
  await say('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  expect(await say('{"jsonrpc":"2.0","id":2,"method":"tools/list"}')).toMatchObject(
    JSON.parse(
      '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"web_search","description":"Search the web using DuckDuckGo","inputSchema":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}]}}',
    ),
  );
  const found = await say(
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"web_search","arguments":{"query":"hello"}}}',
  );
  expect(found?.result.isError).toBe(false);
  expect(found?.result.content[0].text.startsWith('Search results for: hello\n')).toBe(true);
  expect(client.received.map((each) => each.id)).toEqual([1, 2, 3]);
});

test('S2-34: a tool that is added or removed is announced', async () => {
  const { server, client } = await open();
  const { remove } = server.tool('later', { run: () => 'here' });
  await client.next((each) => each.method === 'notifications/tools/list_changed');
  expect((await client.request('tools/list')).result.tools).toHaveLength(2);
  remove();
  await client.request('ping');
  const told = client.received.filter((each) => each.method === 'notifications/tools/list_changed');
  expect(told).toHaveLength(2);
});

test('S2-35: only the message of what a tool throws reaches the client', async () => {
  const { server, client } = await open();
  server.tool('fall', {
    run: () => {
      throw new TypeError('the floor is gone');
    },
  });
  const { result } = await client.call('fall', {});
  expect(result).toEqual({ content: [{ type: 'text', text: 'the floor is gone' }], isError: true });
  expect(JSON.stringify(client.received)).not.toContain('.ts:');
});

test('S2-36: batches are rejected', async () => {
  const { client } = await open();
  client.send([{ jsonrpc: '2.0', id: 'b', method: 'ping' }]);
  expect((await client.next((each) => each.error !== undefined)).error?.code).toBe(-32600);
  expect(client.received.some((each) => each.id === 'b' && each.result !== undefined)).toBe(false);
});

test('S2-37: the engine can be another one, chosen by configuration', async () => {
  const { server } = await assemble('secure-local', {
    packs: { search: { backend: 'searxng', url: 'http://127.0.0.1:1/', limits: { attempts: 1 } } },
  });
  const client = await TestClient.open(server);
  const { result } = await client.call('web_search', { query: 'x' });
  expect(result.content[0].text).toMatch(/^Search error: Request to 127\.0\.0\.1 failed/);
  await expect(assemble('secure-local', { packs: { search: { backend: 'yellow pages' } } })).rejects.toThrow(
    /packs\.search.*backend/,
  );
});
