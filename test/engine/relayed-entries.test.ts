// What gateways register: entries of other servers, replaced in one step, and results passed on as text.

import { expect, test } from 'vitest';
import { RelayedResult } from '../../src/engine/calls/relayed-result.ts';
import { relayedTool } from '../../src/engine/catalog/relayed-entries.ts';
import { createServer, type Server } from '../../src/index.ts';
import type { ToolResult } from '../../src/protocol/model.ts';
import { TestClient } from '../support/test-client.ts';

const inputSchema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const serverOf = (): Server => createServer({ name: 'gateway', version: '1.0.0', logger: false });
const toolOf = (name: string, run: () => unknown = () => 'x', description = '') =>
  relayedTool({ name, description, inputSchema }, { run });

test('clients are notified once for each list, and only if they see a difference', async () => {
  const server = serverOf();
  const owner = {};
  server.replaceEntries(owner, { tools: [toolOf('a'), toolOf('b')] });
  const client = await TestClient.open(server);
  const changes = async (): Promise<number> => {
    await client.request('ping');
    await client.request('ping');
    return client.received.filter(({ method }) => method === 'notifications/tools/list_changed').length;
  };
  server.replaceEntries(owner, { tools: [toolOf('a', () => 'new'), toolOf('b')] });
  expect(await changes()).toBe(0);
  expect((await client.call('a', {})).result.content).toMatchObject([{ text: 'new' }]);
  server.replaceEntries(owner, { tools: [toolOf('b'), toolOf('c'), toolOf('d')] });
  expect(await changes()).toBe(1);
  const { result } = await client.request('tools/list');
  expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['b', 'c', 'd']);
  expect((await client.call('a', {})).error?.code).toBe(-32602);
});

test('an owner does not take over what another has registered', async () => {
  const server = serverOf();
  server.tool('own', { run: () => 'of the server' });
  expect(server.replaceEntries({}, { tools: [toolOf('own'), toolOf('other')] })).toEqual(['own']);
  const client = await TestClient.open(server);
  expect((await client.call('own')).result.content).toMatchObject([{ text: 'of the server' }]);
});

test('arguments are passed on without validation, and tools that are not listed can be called', async () => {
  const server = serverOf();
  const run = (args: unknown) => JSON.stringify(args);
  server.replaceEntries({}, { tools: [relayedTool({ name: 'hidden', inputSchema }, { run, listed: false })] });
  const client = await TestClient.open(server);
  expect((await client.request('tools/list')).result.tools).toEqual([]);
  expect((await client.call('hidden', { n: 'text', more: 1 })).result.content).toMatchObject([
    { text: '{"n":"text","more":1}' },
  ]);
});

/** The result of a call on the wire, with and without the text of the other server. */
async function bothWays(result: ToolResult, revision: string): Promise<readonly unknown[]> {
  const isStateless = revision === '2026-07-28';
  const wire = isStateless ? { ...result, resultType: 'complete' } : result;
  const encoded = { text: JSON.stringify(wire), revision, meta: result._meta };
  const server = serverOf();
  const tools = [
    toolOf('text', () => new RelayedResult(result, encoded)),
    toolOf('object', () => new RelayedResult(result)),
  ];
  server.replaceEntries({}, { tools });
  const client = isStateless ? new TestClient(server) : await TestClient.open(server, revision);
  const call = (name: string) =>
    isStateless ? client.stateless('tools/call', { name, arguments: {} }) : client.call(name, {});
  return [(await call('text')).result, (await call('object')).result];
}

const results: readonly ToolResult[] = [
  { content: [] },
  { content: [{ type: 'text', text: 'a "quoted" line\n' }], isError: true },
  { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }], structuredContent: { a: [1, null] } },
  { content: [{ type: 'text', text: 'x' }], _meta: { own: { b: 1 } } },
];

test.each(['2025-06-18', '2025-11-25', '2026-07-28'])(
  'a result passed on as text equals the encoded one at %s',
  async (revision) => {
    for (const result of results) {
      const [passedOn, encoded] = await bothWays(result, revision);
      expect(passedOn).toEqual(encoded);
    }
  },
);

test('the text is not used for another revision', async () => {
  const result: ToolResult = { content: [{ type: 'resource_link', uri: 'a://b', name: 'b' }] };
  const encoded = { text: JSON.stringify(result), revision: '2025-06-18', meta: undefined };
  const server = serverOf();
  server.replaceEntries({}, { tools: [toolOf('link', () => new RelayedResult(result, encoded))] });
  const older = await TestClient.open(server, '2025-03-26');
  expect((await older.call('link', {})).result.content).toMatchObject([{ type: 'text' }]);
});
