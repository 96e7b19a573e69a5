// The names that a view accepts on calls, who may use it, and what it shows of texts: through the wire.

import { expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Tool } from '../../src/protocol/model.ts';
import { useClosers } from '../support/closers.ts';
import { clientOf, gatewayOf, view } from './fixture.ts';

const closers = useClosers();

function serverWith(
  ...tools: { readonly name: string; readonly description?: string; readonly page?: string }[]
): Server {
  const server = createServer({ name: 'test', version: '1', logger: false });
  for (const { name, description, page } of tools) {
    server.tool(name, {
      ...(description === undefined ? {} : { description }),
      ...(page === undefined ? {} : { _meta: { ui: { resourceUri: page } } }),
      run: () => `${name} ran`,
    });
  }
  return server;
}

const textOf = (result: { readonly content: readonly unknown[] }): string =>
  (result.content[0] as { readonly text: string }).text;

test.each(['2025-06-18', '2026-07-28'])(
  'pages of apps can call tools by the names of their server (%s)',
  async (revision) => {
    const app = serverWith({ name: 'open', page: 'ui://app/x' }, { name: 'save' }, { name: 'own' });
    const gateway = gatewayOf(closers, { app, plain: serverWith({ name: 'save' }, { name: 'other' }) });
    const seen: (string | undefined)[] = [];
    gateway.server.observe({
      ended: ({ request }) => void (request.method === 'tools/call' && seen.push(request.name)),
    });
    const client = await clientOf(closers, gateway.server, { revision });
    await client.listTools();
    expect(textOf(await client.callTool('own', {}))).toBe('own ran');
    // Policies and audit log see the name at the gateway.
    expect(seen).toEqual(['app__own']);
    await expect(client.callTool('other', {})).rejects.toThrow('Unknown tool: other');
    await expect(client.callTool('save', {})).rejects.toThrow('call one of app__save, plain__save');
  },
);

test('bare names can be switched off, or on for all tools that are unique', async () => {
  const servers = { one: serverWith({ name: 'open', page: 'ui://x' }), two: serverWith({ name: 'other' }) };
  const off = gatewayOf(closers, servers, {}, { config: { bareNames: 'off' } });
  const unique = gatewayOf(closers, servers, {}, { config: { bareNames: 'unique' } });
  const [first, second] = [await clientOf(closers, off.server), await clientOf(closers, unique.server)];
  await Promise.all([first.listTools(), second.listTools()]);
  await expect(first.callTool('open', {})).rejects.toThrow('Unknown tool');
  expect(textOf(await second.callTool('other', {}))).toBe('other ran');
});

test('a view with allow is empty for other callers, in lists and on calls', async () => {
  const views = [view('team', { allow: { principals: ['ana', 'dev-*'], scopes: ['mcp:team'] } })];
  const gateway = gatewayOf(closers, { files: serverWith({ name: 'read' }) }, {}, { config: { views } });
  const server = gateway.view('team') as Server;
  const tools = (id: string | undefined, scopes: readonly string[] = []) =>
    [...server.catalog.tools.values()].filter(({ visible }) =>
      visible === undefined ? true : visible(id === undefined ? undefined : { id, scopes }),
    ).length;
  const client = await clientOf(closers, server);
  expect(await client.listTools()).toEqual([]);
  await expect(client.callTool('files__read', {})).rejects.toThrow('Unknown tool');
  expect([tools(undefined), tools('ana'), tools('dev-7'), tools('bob'), tools('bob', ['mcp:team'])]).toEqual([
    0, 1, 1, 0, 1,
  ]);
});

test('texts of servers are shown without hidden characters', async () => {
  const hidden = '\u{E0041}\u200B';
  const gateway = gatewayOf(closers, { files: serverWith({ name: 'read', description: `Reads${hidden} files` }) });
  const client = await clientOf(closers, gateway.server);
  const [shown] = (await client.listTools()) as Tool[];
  expect(shown?.description).toBe('Reads files');
});
