// Callers with catalogs of their own: lists, calls, notifications and tasks of each are those of its catalog.

import { expect, test } from 'vitest';
import type { CallerCatalogs } from '../../src/engine/catalog/caller-catalogs.ts';
import type { Catalog } from '../../src/engine/catalog/catalog.ts';
import type { OwnedEntries } from '../../src/engine/catalog/catalog-entry.ts';
import {
  relayedPrompt,
  relayedResource,
  relayedTemplate,
  relayedTool,
} from '../../src/engine/catalog/relayed-entries.ts';
import { createServer, type Server } from '../../src/index.ts';
import type { CacheHint, Tool } from '../../src/protocol/model.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const owner = {};
const closed: CacheHint = { ttlMs: 7_000, cacheScope: 'private' };

const text = (value: string) => ({ content: [{ type: 'text', text: value }] }) as const;

/** A tool that says whose it is, with an argument of that name. */
function toolOf(name: string, whose: string) {
  const inputSchema: Tool['inputSchema'] = { type: 'object', properties: { [whose]: {} } };
  return relayedTool({ name, inputSchema }, { run: () => text(`${name} of ${whose}`), upstream: `of-${whose}` });
}

/** Everything that this caller has, under names that all callers have, and one tool of its own. */
function entriesOf(whose: string): OwnedEntries {
  const read = () => ({ contents: [{ uri: 'x:a', text: `read by ${whose}` }] });
  const complete = () => () => [whose];
  return {
    tools: [toolOf('same', whose), toolOf(`only-${whose}`, whose)],
    prompts: [
      relayedPrompt({ name: 'ask', arguments: [{ name: 'who' }] }, { get: () => ({ messages: [] }), complete }),
      relayedPrompt({ name: `ask-${whose}` }, { get: () => `prompt of ${whose}` }),
    ],
    resources: [relayedResource({ uri: 'x:a', name: whose }, { read })],
    resourceTemplates: [relayedTemplate({ uriTemplate: `${whose}:{id}`, name: whose }, { read })],
  };
}

/** Ada and Bob have their own catalogs by principal, or by session; other callers see that of the server. */
function setUp(options: { readonly cache?: CacheHint } = {}) {
  const listChanged = true;
  const capabilities = { tools: { listChanged }, prompts: {}, resources: {}, completions: {} };
  const server = createServer({ name: 'own', version: '1.0.0', logger: false, capabilities, ...options });
  server.tool('common', { run: () => 'for all' });
  server.replaceEntries(owner, { tools: [toolOf('shared', 'all')] });
  const created = new Map<string, Catalog>();
  const catalogs: CallerCatalogs = {
    of: ({ principal }) => {
      const id = principal?.id;
      if (id !== 'ada' && id !== 'bob') return undefined;
      let catalog = created.get(id);
      if (catalog?.isCurrent !== true) created.set(id, (catalog = server.createCatalog(owner, entriesOf(id), closed)));
      return catalog;
    },
    isKnown: () => true,
    known: async () => {},
    all: () => created.values(),
  };
  server.setCallerCatalogs(catalogs);
  return { server, created };
}

const peerOf = (id: string) => ({ transport: 'memory', principal: { id } }) as const;
const open = (server: Server, id: string) => TestClient.open(server, '2025-11-25', {}, peerOf(id));
const namesOf = ({ result }: Message, kind = 'tools'): string[] => result[kind].map((each: Tool) => each.name);

test('each caller lists its own catalog, with what others have registered', async () => {
  const { server } = setUp();
  expect(namesOf(await (await open(server, 'ada')).request('tools/list'))).toEqual(['common', 'same', 'only-ada']);
  expect(namesOf(await (await open(server, 'bob')).request('tools/list'))).toEqual(['common', 'same', 'only-bob']);
  expect(namesOf(await (await open(server, 'eve')).request('tools/list'))).toEqual(['common', 'shared']);
  for (const id of ['ada', 'bob']) {
    const client = await open(server, id);
    expect(namesOf(await client.request('prompts/list'), 'prompts')).toEqual(['ask', `ask-${id}`]);
    expect(namesOf(await client.request('resources/list'), 'resources')).toEqual([id]);
    expect(namesOf(await client.request('resources/templates/list'), 'resourceTemplates')).toEqual([id]);
    const [, tool] = (await client.request('tools/list')).result.tools;
    expect(tool.inputSchema.properties).toEqual({ [id]: {} });
  }
});

test('one name leads to what its caller sees; the names of others are unknown', async () => {
  const { server } = setUp();
  for (const [id, other] of [
    ['ada', 'bob'],
    ['bob', 'ada'],
  ] as const) {
    const client = await open(server, id);
    expect((await client.call('same')).result).toMatchObject(text(`same of ${id}`));
    expect((await client.call('common')).result).toMatchObject(text('for all'));
    expect((await client.call(`only-${other}`)).error?.message).toBe(`Unknown tool: only-${other}`);
    expect((await client.call('shared')).error?.message).toBe('Unknown tool: shared');
    const read = await client.request('resources/read', { uri: 'x:a' });
    expect(read.result.contents[0].text).toBe(`read by ${id}`);
    expect((await client.request('resources/read', { uri: `${other}:1` })).error?.code).toBe(-32002);
    expect((await client.request('prompts/get', { name: `ask-${other}` })).error?.code).toBe(-32602);
    const ref = { type: 'ref/prompt', name: 'ask' };
    const completed = await client.request('completion/complete', { ref, argument: { name: 'who', value: '' } });
    expect(completed.result.completion.values).toEqual([id]);
  }
});

test('a list of one caller is never marked as good for all', async () => {
  const { server } = setUp({ cache: { ttlMs: 60_000, cacheScope: 'public' } });
  const ada = new TestClient(server, peerOf('ada'));
  expect((await ada.stateless('tools/list')).result).toMatchObject(closed);
  const eve = new TestClient(server, peerOf('eve'));
  expect((await eve.stateless('tools/list')).result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
});

test('what is registered later, and restrictions, apply to catalogs of callers too', async () => {
  const { server } = setUp();
  const ada = await open(server, 'ada');
  await ada.request('tools/list');
  const { remove } = server.tool('later', { run: () => 'later' });
  server.restrict((_kind, key) => key !== 'only-ada');
  expect(namesOf(await ada.request('tools/list'))).toEqual(['common', 'later', 'same']);
  expect((await ada.call('only-ada')).error?.message).toBe('Unknown tool: only-ada');
  remove();
  expect(namesOf(await ada.request('tools/list'))).toEqual(['common', 'same']);
});

test('only an audience is notified of a change: by principal, or by session', async () => {
  const { server } = setUp();
  const [ada, again, bob] = [await open(server, 'ada'), await open(server, 'ada'), await open(server, 'bob')];
  const streaming = new TestClient(server, peerOf('bob'));
  void streaming.stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
  await streaming.next(({ method }) => method === 'notifications/subscriptions/acknowledged');
  const changes = (client: TestClient): number =>
    client.received.filter(({ method }) => method === 'notifications/tools/list_changed').length;
  server.listChanged('tools', (principal) => principal?.id === 'bob');
  await expect.poll(() => [bob, streaming].map(changes)).toEqual([1, 1]);
  expect([ada, again].map(changes)).toEqual([0, 0]);
  const keys = new Set<string | undefined>();
  server.listChanged('tools', (_principal, session) => keys.add(session?.key).size === 1);
  await expect.poll(() => keys.size).toBe(4);
  expect([ada, again, bob, streaming].map(changes)).toEqual([1, 0, 1, 1]);
});

test('a change of one list does not drop the encoded lists of other callers', async () => {
  const { server, created } = setUp();
  let encoded = 0;
  const counted = (whose: string) => {
    const tool = toolOf('same', whose);
    const describe = () => {
      encoded++;
      return tool.describe();
    };
    return server.createCatalog(owner, { tools: [{ ...tool, describe }] }, closed);
  };
  created.set('ada', counted('ada'));
  created.set('bob', counted('bob'));
  const [ada, bob] = [await open(server, 'ada'), await open(server, 'bob')];
  const argumentOf = async (client: TestClient): Promise<string[]> =>
    Object.keys((await client.request('tools/list')).result.tools[1].inputSchema.properties);
  for (const client of [ada, bob, ada, bob]) await argumentOf(client);
  expect(encoded).toBe(2);
  created.set('ada', counted('ada-again'));
  server.listChanged('tools', (principal) => principal?.id === 'ada');
  expect(await argumentOf(ada)).toEqual(['ada-again']);
  expect(await argumentOf(bob)).toEqual(['bob']);
  expect(encoded).toBe(3);
});

test('names of any caller are registered, and their servers are known to limits', async () => {
  const { server } = setUp();
  const upstreams: (string | undefined)[] = [];
  server.around((request, next) => {
    if (request.method === 'tools/call') upstreams.push(request.upstream);
    return next();
  });
  for (const id of ['ada', 'bob']) await (await open(server, id)).call('same');
  expect(upstreams).toEqual(['of-ada', 'of-bob']);
  expect(server.isRegistered('tools', 'only-ada')).toBe(true);
  expect(server.isRegistered('tools', 'only-eve')).toBe(false);
  expect(server.entriesNamed('tools', 'same')).toHaveLength(2);
  expect(server.entriesNamed('tools', 'common')).toHaveLength(1);
});
