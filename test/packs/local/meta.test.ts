// Pack `meta` through the wire: health, finding tools, and a short list that grows with what was found.

import { expect, test } from 'vitest';
import { createServer, type Server } from '../../../src/index.ts';
import { Categories, type MetaOptions, meta } from '../../../src/packs/meta/index.ts';
import { reference } from '../../../src/packs/reference/index.ts';
import { type Message, TestClient } from '../../support/test-client.ts';

async function make(options: Omit<MetaOptions, 'categories'> = {}): Promise<Server> {
  const server = createServer({ name: 'meta-test', version: '1.2.3' });
  const categories = new Categories(server);
  await categories.use(reference(), 'Notes, time and arithmetic');
  server.tool('secret_tool', {
    description: 'Needs a scope',
    visible: (principal) => principal?.id === 'ada',
    run: () => 'x',
  });
  await categories.use(meta({ categories, ...options }), 'About this server');
  return server;
}

const answer = ({ result }: Message) => JSON.parse(result.content[0].text);
const names = ({ result }: Message): string[] => result.tools.map((each: { name: string }) => each.name);

test('S3-34: health_check is JSON that says how the server and its parts are doing', async () => {
  const well = await TestClient.open(
    await make({ health: async () => [{ name: 'data', status: 'ok', detail: 'fine' }] }),
  );
  expect(answer(await well.call('health_check'))).toEqual({
    status: 'ok',
    server: 'meta-test',
    version: '1.2.3',
    uptime: expect.any(Number),
    parts: [{ name: 'data', status: 'ok', detail: 'fine' }],
  });
  const ill = await TestClient.open(
    await make({ health: async () => [{ name: 'plugin x', status: 'failed', detail: 'why' }] }),
  );
  expect(answer(await ill.call('health_check'))).toMatchObject({
    status: 'degraded',
    parts: [{ name: 'plugin x', status: 'failed', detail: 'why' }],
  });
  const alone = await TestClient.open(await make());
  expect(answer(await alone.call('health_check'))).toMatchObject({ status: 'ok', parts: [] });
});

test('every answer has a schema that names its fields, and comes as a value as well as in text', async () => {
  const client = await TestClient.open(
    await make({ health: async () => [{ name: 'data', status: 'degraded', detail: 'slow' }] }),
  );
  const { result } = await client.request('tools/list');
  const outputOf = (name: string) =>
    result.tools.find((tool: { name: string }) => tool.name === name).outputSchema as {
      properties: Record<string, unknown>;
      required: string[];
    };
  expect(outputOf('health_check').required).toEqual(['status', 'server', 'version', 'uptime', 'parts']);
  expect(outputOf('health_check').properties['parts']).toMatchObject({
    items: {
      properties: { status: { enum: ['ok', 'degraded', 'failed'] } },
      required: ['name', 'status'],
    },
  });
  for (const [name, args] of Object.entries({
    health_check: {},
    search_tools: { query: 'note' },
    list_categories: {},
  })) {
    const { properties, required } = outputOf(name);
    expect(Object.keys(properties)).toEqual(required);
    const called = await client.call(name, args);
    expect(called.result.structuredContent).toEqual(answer(called));
    expect(Object.keys(called.result.structuredContent)).toEqual(required);
  }
});

test('search_tools finds by words of names, descriptions and arguments, best first, with schemas', async () => {
  const client = await TestClient.open(await make());
  const search = async (args: object) => answer(await client.call('search_tools', args));
  const found = await search({ query: 'note' });
  expect(found.tools.map((each: { name: string }) => each.name)).toEqual(['add_note', 'delete_note', 'get_notes']);
  expect(found.tools[0]).toMatchObject({
    description: 'Add a note to the server',
    category: 'reference',
    inputSchema: { required: ['content'] },
  });
  expect((await search({ query: 'arithmetic' })).tools[0].name).toBe('calculate');
  expect((await search({ query: 'tags' })).tools.map((each: { name: string }) => each.name)).toContain('add_note');
  expect(await search({ query: 'quantum chromodynamics' })).toEqual({ tools: [], total: 0 });
  const all = await search({ query: '', limit: 2 });
  expect(all.tools).toHaveLength(2);
  expect(all.total).toBe(10);
  expect((await search({ query: '', category: 'meta', limit: 50 })).total).toBe(3);
});

test('list_categories groups the tools, without those the caller may not see', async () => {
  const server = await make();
  const client = await TestClient.open(server);
  expect(answer(await client.call('list_categories'))).toEqual({
    categories: [
      {
        name: 'reference',
        about: 'Notes, time and arithmetic',
        tools: [
          'get_current_time',
          'calculate',
          'increment_counter',
          'add_note',
          'delete_note',
          'get_notes',
          'long_running_task',
        ],
      },
      { name: 'meta', about: 'About this server', tools: ['health_check', 'search_tools', 'list_categories'] },
    ],
  });
  expect(answer(await client.call('search_tools', { query: 'secret' })).total).toBe(0);
  const ada = await TestClient.open(server, '2025-11-25', {}, { transport: 'memory', principal: { id: 'ada' } });
  expect(answer(await ada.call('search_tools', { query: 'secret' })).total).toBe(1);
  expect(answer(await ada.call('list_categories')).categories.at(-1)).toMatchObject({
    name: 'other',
    tools: ['secret_tool'],
  });
});

test('a short list shows few tools, the rest is found, and what was found is listed only in that session', async () => {
  const server = await make({ shortList: ['calculate'] });
  const [one, other] = [await TestClient.open(server), await TestClient.open(server)];
  const short = ['calculate', 'health_check', 'search_tools', 'list_categories'];
  expect(names(await one.request('tools/list'))).toEqual(short);
  one.received.length = 0;
  await one.call('search_tools', { query: 'add note', limit: 1 });
  await one.next((each) => each.method === 'notifications/tools/list_changed');
  expect(names(await one.request('tools/list')).sort()).toEqual([...short, 'add_note'].sort());
  expect(names(await other.request('tools/list'))).toEqual(short);
  // A search that finds nothing new is no change.
  one.received.length = 0;
  await one.call('search_tools', { query: 'add note', limit: 1 });
  await one.request('ping');
  expect(one.received.some((each) => each.method !== undefined)).toBe(false);
});

test('what is not listed can be called all the same, and stateless clients find it too', async () => {
  const server = await make({ shortList: [] });
  const client = await TestClient.open(server);
  expect((await client.call('calculate', { operation: 'add', a: 1, b: 1 })).result.content[0].text).toBe('1 + 1 = 2');
  const short = ['health_check', 'search_tools', 'list_categories'];
  expect(names(await client.stateless('tools/list'))).toEqual(short);
  const { result } = await client.stateless('tools/call', { name: 'search_tools', arguments: { query: 'time' } });
  expect(JSON.parse(result.content[0].text).tools[0].name).toBe('get_current_time');
  expect(names(await client.stateless('tools/list'))).toEqual(short);
});

test('single tools of the pack can be had', async () => {
  const server = createServer({ name: 'one', version: '1' });
  await server.use(meta({ tools: ['health_check'] }));
  const client = await TestClient.open(server);
  expect(names(await client.request('tools/list'))).toEqual(['health_check']);
});
