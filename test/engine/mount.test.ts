// One server mounted on another: what clients of the outer one see, call and are notified of.

import { expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import type { Principal } from '../../src/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const make = (name: string, options: object = {}): Server => createServer({ name, version: '1.0.0', ...options });
const run = (): string => 'ok';

function makeLibrary(): Server {
  const library = make('library');
  library.tool('find', {
    input: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    run: ({ title }, ctx) => `${title} on ${ctx.revision}`,
  });
  library.prompt('review', {
    args: { book: { required: true, complete: () => ['Emma'] } },
    get: ({ book }) => `Review ${book}`,
  });
  library.resource('book://emma', { name: 'emma', read: () => 'Emma Woodhouse' });
  library.resourceTemplate('page://{number}', {
    name: 'page',
    read: ({ number }) => `page ${number}`,
    list: () => [
      { uri: 'page://1', name: 'first' },
      { uri: 'page://2', name: 'second' },
    ],
  });
  return library;
}

type Request = (method: string, params?: object) => Promise<Message>;

/** A client of each era: how it sends a request. */
const eras: Readonly<Record<string, (server: Server) => Promise<Request>>> = {
  '2025-11-25': async (server) => {
    const client = await TestClient.open(server);
    return (method, params) => client.request(method, params);
  },
  '2026-07-28': async (server) => {
    const client = new TestClient(server);
    return (method, params) => client.stateless(method, params);
  },
};

test.for(Object.entries(eras))('everything of a mounted server can be used, on %s', async ([revision, connect]) => {
  const outer = make('outer');
  outer.tool('own', { run });
  outer.mount('lib', makeLibrary());
  const request = await connect(outer);
  const listed = (await request('tools/list')).result.tools;
  expect(listed.map((each: { name: string }) => each.name)).toEqual(['own', 'lib_find']);
  expect(listed[1].inputSchema.required).toEqual(['title']);
  const call = async (name: string, args: object) => request('tools/call', { name, arguments: args });
  expect((await call('lib_find', { title: 'Emma' })).result.content[0].text).toBe(`Emma on ${revision}`);
  expect((await call('lib_find', {})).result.isError).toBe(true);
  expect((await call('find', { title: 'Emma' })).error?.message).toContain('find');

  expect((await request('prompts/list')).result.prompts[0].name).toBe('lib_review');
  const prompt = await request('prompts/get', { name: 'lib_review', arguments: { book: 'Emma' } });
  expect(prompt.result.messages[0].content.text).toBe('Review Emma');
  const completion = await request('completion/complete', {
    ref: { type: 'ref/prompt', name: 'lib_review' },
    argument: { name: 'book', value: '' },
  });
  expect(completion.result.completion.values).toEqual(['Emma']);

  const uris = (await request('resources/list')).result.resources.map((each: { uri: string }) => each.uri);
  expect(uris.sort()).toEqual(['book://emma', 'page://1', 'page://2']);
  expect((await request('resources/templates/list')).result.resourceTemplates[0].uriTemplate).toBe('page://{number}');
  expect((await request('resources/read', { uri: 'book://emma' })).result.contents[0].text).toBe('Emma Woodhouse');
  expect((await request('resources/read', { uri: 'page://7' })).result.contents[0].text).toBe('page 7');
});

test('later registrations and removals appear too, and clients of every era are notified', async () => {
  const outer = make('outer');
  outer.tool('own', { run });
  const library = makeLibrary();
  const mounted = outer.mount('lib', library);
  const session = await TestClient.open(outer);
  const stateless = new TestClient(outer);
  void stateless.stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
  await stateless.next((each) => each.method === 'notifications/subscriptions/acknowledged');
  const notified = async (): Promise<void> => {
    for (const each of [session, stateless]) {
      await each.next(({ method }) => method === 'notifications/tools/list_changed');
      each.received.length = 0;
    }
  };
  const names = async (): Promise<string[]> =>
    (await session.request('tools/list')).result.tools.map((each: { name: string }) => each.name);

  const added = library.tool('lend', { run });
  await notified();
  expect(await names()).toEqual(['own', 'lib_find', 'lib_lend']);
  added.remove();
  await notified();
  expect(await names()).toEqual(['own', 'lib_find']);
  library.toolsChanged();
  await notified();
  mounted.remove();
  await notified();
  expect(await names()).toEqual(['own']);
  library.tool('later', { run });
  expect(await names()).toEqual(['own']);
});

test('subscribers of the outer server are notified of updates of a mounted resource', async () => {
  const outer = make('outer');
  const library = makeLibrary();
  outer.mount('lib', library);
  const session = await TestClient.open(outer);
  await session.request('resources/subscribe', { uri: 'book://emma' });
  library.resourceUpdated('book://emma');
  const updated = await session.next(({ method }) => method === 'notifications/resources/updated');
  expect(updated.params.uri).toBe('book://emma');
});

test('a name or URI on both servers is an error, and nothing is added', () => {
  const outer = make('outer');
  outer.resource('book://emma', { name: 'emma', read: run });
  const library = makeLibrary();
  expect(() => outer.mount('lib', library)).toThrow('Resource "book://emma" is already registered');
  expect(outer.catalog.tools.size + outer.catalog.prompts.size).toBe(0);
  library.tool('not_mounted', { run });
  expect(outer.catalog.tools.size).toBe(0);

  const shelf = make('shelf');
  outer.mount('shelf', shelf);
  outer.tool('shelf_sort', { run });
  expect(() => shelf.tool('sort', { run })).toThrow('Tool "shelf_sort" is already registered');
  expect(shelf.catalog.tools.size).toBe(0);
});

test('mounts can be nested, but not in a circle', async () => {
  const [a, b, c] = [make('a'), make('b'), make('c')];
  a.mount('b', b);
  b.mount('c', c);
  c.tool('deep', { run });
  expect([...a.catalog.tools.keys()]).toEqual(['b_c_deep']);
  expect((await (await TestClient.open(a)).call('b_c_deep')).result.content[0].text).toBe('ok');
  expect(() => c.mount('a', a)).toThrow('cannot be mounted');
  expect(() => a.mount('a', a)).toThrow('cannot be mounted');
  expect(() => a.mount('', make('d'))).toThrow('A prefix needs');
});

test('middleware is that of the outer server', async () => {
  const warn = vi.fn();
  const logger = { ...silentLogger, warn };
  const outer = make('outer', { logger });
  const inner = make('inner');
  const seen: string[] = [];
  const record = (server: Server): void => {
    server.around(({ name }, next) => {
      seen.push(`${server.name} ${name}`);
      return next();
    });
  };
  record(inner);
  record(outer);
  inner.tool('t', { run });
  outer.mount('in', inner);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('middleware of a mounted server'), { mounted: 'inner' });
  const client = await TestClient.open(outer);
  seen.length = 0;
  await client.call('in_t');
  expect(seen).toEqual(['outer in_t']);
});

test('a prefixed name that is too long for some clients is reported', () => {
  const warn = vi.fn();
  const outer = make('outer', { logger: { ...silentLogger, warn } });
  const inner = make('inner');
  outer.mount('prefix', inner);
  inner.tool('x'.repeat(120), { run });
  expect(warn).not.toHaveBeenCalled();
  inner.tool('x'.repeat(122), { run });
  expect(warn).toHaveBeenCalledWith(expect.stringContaining('may not work with every client'));
});

test('what the mounted server hides is hidden on the outer one, also by a later restriction', async () => {
  const outer = make('outer');
  const library = makeLibrary();
  library.tool('admin', { run, visible: (principal) => principal?.id === 'ada' });
  outer.mount('lib', library);
  library.restrict((_kind, key, principal) => principal?.id === 'ada' || (key !== 'find' && key !== 'page://2'));
  const connect = (id: string): Promise<TestClient> =>
    TestClient.open(outer, '2025-11-25', {}, { transport: 'memory', principal: { id } as Principal });
  const [ada, bob] = [await connect('ada'), await connect('bob')];
  const tools = async (each: TestClient) =>
    (await each.request('tools/list')).result.tools.map(({ name }: { name: string }) => name);
  expect(await tools(ada)).toEqual(['lib_find', 'lib_admin']);
  expect(await tools(bob)).toEqual([]);
  expect((await bob.call('lib_find', { title: 'x' })).error?.code).toBe(-32602);
  const uris = async (each: TestClient) =>
    (await each.request('resources/list')).result.resources.map(({ uri }: { uri: string }) => uri);
  expect(await uris(ada)).toContain('page://2');
  expect(await uris(bob)).not.toContain('page://2');
  expect((await ada.request('resources/read', { uri: 'page://2' })).result).toBeDefined();
  expect((await bob.request('resources/read', { uri: 'page://2' })).error).toBeDefined();

  // A subscriber is not notified of what it may not read.
  for (const each of [ada, bob]) await each.request('resources/subscribe', { uri: 'page://2' });
  library.resourceUpdated('page://2');
  await ada.next(({ method }) => method === 'notifications/resources/updated');
  await bob.request('ping');
  expect(bob.received.some(({ method }) => method === 'notifications/resources/updated')).toBe(false);
});
