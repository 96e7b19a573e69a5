// Search views: a short list instead of hundreds of tools, and every tool reachable under its own policy.

import { afterEach, expect, test } from 'vitest';
import { type Client, connect, inMemory } from '../../src/client/index.ts';
import { createServer, type Server } from '../../src/engine/server.ts';
import { gatewayConfig } from '../../src/gateway/config/decode-gateway.ts';
import { listModeOf, prepareSearchTools, type SearchTools } from '../../src/gateway/search/index.ts';
import { useClosers } from '../support/closers.ts';
import { gatewayOf, view } from './fixture.ts';

const closers = useClosers(afterEach);
const revisions = ['2024-11-05', '2025-11-25', '2026-07-28'];

function serverWith(count: number): Server {
  const server = createServer({ name: 'test', version: '1', logger: false });
  for (let i = 0; i < count; i++) {
    server.tool(`server${i % 10}__tool_${i}`, {
      description: `Does thing number ${i}.\nMore about it.`,
      input: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const,
      run: ({ text }) => `${i}: ${text}`,
    });
  }
  server.replaceEntries(server, { tools: enableSearch(server).entries });
  return server;
}

function enableSearch(server: Server): SearchTools {
  const search = prepareSearchTools(server);
  server.around(Object.assign((_request: unknown, next: () => unknown) => next(), { redirect: search.redirect }));
  return search;
}

const textOf = (result: { readonly content: readonly unknown[] }): string =>
  (result.content[0] as { readonly text: string }).text;

async function using(server: Server, revision: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await connect(inMemory(server), { revision });
  try {
    await work(client);
  } finally {
    await client.close();
  }
}

test.each(revisions)('every one of 500 tools can be found, described and called (%s)', async (revision) => {
  await using(serverWith(500), revision, async (client) => {
    const found = JSON.parse(textOf(await client.callTool('search_tools', { query: 'number 317', limit: 1 })));
    expect(found.tools).toEqual([{ name: 'server7__tool_317', summary: 'Does thing number 317.' }]);
    const described = JSON.parse(textOf(await client.callTool('describe_tool', { name: 'server7__tool_317' })));
    expect(described).toMatchObject({ name: 'server7__tool_317', inputSchema: { required: ['text'] } });
    const called = await client.callTool('call_tool', { name: 'server7__tool_317', arguments: { text: 'hi' } });
    expect(textOf(called)).toBe('317: hi');
    const all = new Set<string>();
    for (let offset = 0; offset < 500; offset += 50) {
      const page = JSON.parse(textOf(await client.callTool('search_tools', { query: '', limit: 50, offset })));
      for (const { name } of page.tools) all.add(name);
    }
    expect(all.size).toBe(500);
  });
});

test('a tool is found under the server that it belongs to, whatever its name looks like', async () => {
  const named = (...names: string[]): Server => {
    const server = createServer({ name: 'test', version: '1', logger: false });
    for (const name of names) server.tool(name, { run: () => 'done' });
    return server;
  };
  const servers = { one: named('read', 'other__thing'), two: named('write') };
  const config = { views: [view('found', { mode: 'search' })] };
  for (const prefix of [true, false]) {
    const gateway = gatewayOf(closers, servers, { prefix }, { config });
    await using(gateway.view('found') as Server, '2025-11-25', async (client) => {
      const find = async (server?: string): Promise<string[]> => {
        const { tools } = JSON.parse(textOf(await client.callTool('search_tools', { query: '', server })));
        return tools.map((tool: { name: string; server: string }) => `${tool.server}: ${tool.name}`);
      };
      const before = (slug: string): string => (prefix ? `${slug}__` : '');
      const ofOne = [`one: ${before('one')}read`, `one: ${before('one')}other__thing`];
      expect(await find('one')).toEqual(ofOne);
      expect(await find('other')).toEqual([]);
      expect(await find()).toEqual([...ofOne, `two: ${before('two')}write`]);
    });
  }
});

test('a tool that a caller may not see is neither found nor described nor called', async () => {
  const server = serverWith(3);
  server.restrict((kind, key) => kind !== 'tools' || key !== 'server1__tool_1');
  await using(server, '2025-11-25', async (client) => {
    const found = JSON.parse(textOf(await client.callTool('search_tools', { query: 'tool' })));
    expect(found.total).toBe(2);
    expect(await client.callTool('describe_tool', { name: 'server1__tool_1' })).toMatchObject({ isError: true });
    await expect(client.callTool('call_tool', { name: 'server1__tool_1', arguments: { text: '' } })).rejects.toThrow(
      'Unknown tool: server1__tool_1',
    );
  });
});

test('call_tool reports what is wrong with its own arguments, and cannot call itself', async () => {
  await using(serverWith(1), '2025-11-25', async (client) => {
    expect(await client.callTool('call_tool', {})).toMatchObject({ isError: true });
    expect(await client.callTool('call_tool', { name: 'call_tool' })).toMatchObject({ isError: true });
    expect(await client.callTool('call_tool', { name: 'server0__tool_0', arguments: {} })).toMatchObject({
      isError: true,
    });
  });
});

test('search tools can be switched off again', async () => {
  const server = createServer({ name: 'test', version: '1', logger: false });
  server.tool('a', { run: () => 'a' });
  const search = enableSearch(server);
  server.replaceEntries(search, { tools: search.entries });
  server.replaceEntries(search, { tools: search.entries });
  server.replaceEntries(search, {});
  await using(server, '2025-11-25', async (client) => {
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['a']);
    await expect(client.callTool('call_tool', { name: 'a' })).rejects.toThrow('Unknown tool');
  });
});

test('a view is searched if it says so, or with auto if its list is too long; otherwise a long list is reported', async () => {
  const views = { all: {}, search: { mode: 'search' }, auto: { mode: 'auto', maxListBytes: 2_000 } };
  const config = await gatewayConfig({ mcpServers: { a: { command: 'x' } }, gateway: { views } });
  const [all, search, auto] = config.views;
  const tools = Array.from({ length: 1_000 }, (_, i) => ({ name: `tool_${i}`, inputSchema: { type: 'object' } }));
  const few = tools.slice(0, 3);
  expect(listModeOf(search as NonNullable<typeof search>, few).search).toBe(true);
  expect(listModeOf(auto as NonNullable<typeof auto>, few).search).toBe(false);
  expect(listModeOf(auto as NonNullable<typeof auto>, tools).search).toBe(true);
  expect(listModeOf(all as NonNullable<typeof all>, few)).not.toHaveProperty('warning');
  const long = Array.from({ length: 2_000 }, (_, i) => ({ name: `tool_${i}`, inputSchema: { type: 'object' } }));
  expect(listModeOf(all as NonNullable<typeof all>, long)).toMatchObject({
    search: false,
    warning: expect.stringContaining('2000 tools'),
  });
});
