// Whatever a caller makes the server keep is bounded by bytes, for that caller and for all together, on every transport;
// what ends gives its space back.

import { afterEach, describe, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { ServerOptions } from '../../src/engine/server-options.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import { useClosers } from '../support/closers.ts';
import { HttpTestClient } from '../support/http-client.ts';
import { TestClient } from '../support/test-client.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const closers = useClosers(afterEach);

const callers = { alice: [], bob: [], carol: [] };

async function serve(limits: ServerOptions['limits'], prepare: (server: Server) => void = () => {}) {
  const server = createServer({ name: 'kept', version: '1.0.0', ...(limits && { limits }) });
  server.resourceTemplate('note://{+id}', { name: 'note', read: () => 'a note' });
  prepare(server);
  const wires = await serveWires(server, callers);
  closers.push(() => wires.close());
  return { server, ...wires };
}

const overloaded = { message: expect.stringContaining('too much data is stored') };
let counter = 0;
const uri = (length = 1_000): string => `note://${counter++}/${'x'.repeat(length)}`;

/** Subscribes until it is rejected, at most so many times; gives what was subscribed to. */
async function fill(wire: Wire, most = 500): Promise<string[]> {
  const watched: string[] = [];
  for (let n = 0; n < most; n++) {
    const next = uri();
    const { error } = await wire.request('resources/subscribe', { uri: next });
    if (error !== undefined) {
      expect(error).toMatchObject(overloaded);
      return watched;
    }
    watched.push(next);
  }
  throw new Error(`${most} subscriptions were accepted`);
}

describe.each(wireKinds)('subscriptions over %s', (kind) => {
  test('of one caller take so much memory, over all its connections; others are not affected', async () => {
    const { connect } = await serve({ maxKeptBytesPerCaller: 100_000 });
    const first = await connect(kind, 'alice');
    const watched = await fill(first);
    expect(watched.length).toBeGreaterThan(20);
    const second = await connect(kind, 'alice');
    expect((await second.request('resources/subscribe', { uri: uri() })).error).toMatchObject(overloaded);
    // The same again is nothing new, and other requests are served.
    expect((await first.request('resources/subscribe', { uri: watched[0] })).result).toEqual({});
    expect((await second.request('resources/read', { uri: uri() })).result).toBeDefined();
    const other = await connect(kind, 'bob');
    expect((await other.request('resources/subscribe', { uri: uri() })).result).toEqual({});
    // What ends gives its space back.
    for (const each of watched.slice(0, 2)) await first.request('resources/unsubscribe', { uri: each });
    expect((await second.request('resources/subscribe', { uri: uri() })).result).toEqual({});
  });

  test('of all callers take so much memory', async () => {
    const { connect } = await serve({ maxKeptBytes: 100_000 });
    await fill(await connect(kind, 'alice'));
    const other = await connect(kind, 'bob');
    expect((await other.request('resources/subscribe', { uri: uri() })).error).toMatchObject(overloaded);
  });
});

test.each(['stdio', 'sse', 'websocket'] as const)('a %s connection that ends gives its space back', async (kind) => {
  const { connect } = await serve({ maxKeptBytesPerCaller: 100_000 });
  const first = await connect(kind, 'alice');
  await fill(first);
  const second = await connect(kind, 'alice');
  expect((await second.request('resources/subscribe', { uri: uri() })).error).toMatchObject(overloaded);
  first.close();
  await expect.poll(async () => (await second.request('resources/subscribe', { uri: uri() })).error).toBeUndefined();
});

test('a session over HTTP that is ended gives its space back', async () => {
  const { connect, http, headersOf } = await serve({ maxKeptBytesPerCaller: 100_000 });
  const second = await connect('http', 'alice');
  const client = new HttpTestClient(http.port);
  const headers = headersOf('alice');
  const session = await client.initialize({ headers });
  const subscribe = () => client.session(session, 'resources/subscribe', { uri: uri() }, { headers });
  while ((await subscribe()).json.error === undefined);
  expect((await second.request('resources/subscribe', { uri: uri() })).error).toMatchObject(overloaded);
  await client.send({ method: 'DELETE', headers: { ...headers, 'Mcp-Session-Id': session } });
  expect((await second.request('resources/subscribe', { uri: uri() })).result).toEqual({});
  client.close();
});

test('sessions over HTTP whose calls hang count as well', async () => {
  const { http, headersOf } = await serve({ maxKeptBytesPerCaller: 100_000 }, (server) => {
    server.tool('hang', { run: (_args, ctx) => new Promise((_, end) => ctx.signal.addEventListener('abort', end)) });
  });
  const client = new HttpTestClient(http.port);
  const headers = headersOf('alice');
  let accepted = 0;
  for (let n = 0; n < 10; n++) {
    const session = await client.initialize({ headers });
    client.session(session, 'tools/call', { name: 'hang' }, { headers, id: 'hangs' }).catch(() => {});
    for (let m = 0; m < 10; m++) {
      const { json } = await client.session(session, 'resources/subscribe', { uri: uri() }, { headers });
      if (json.error === undefined) accepted++;
    }
  }
  expect(accepted).toBeLessThan(50);
  client.close();
});

test('one session has so many characters of URIs to watch', async () => {
  const { connect } = await serve({ maxWatchedLength: 10_000 });
  const wire = await connect('http', 'alice');
  for (let n = 0; n < 9; n++) {
    expect((await wire.request('resources/subscribe', { uri: uri(1_000) })).result, String(n)).toEqual({});
  }
  const { error } = await wire.request('resources/subscribe', { uri: uri(1_000) });
  expect(error?.message).toContain('10000 characters');
});

describe.each(statelessKinds)('listening over %s', (kind) => {
  test('counts with its URIs, and gives their space back when it ends', async () => {
    const { connect } = await serve({ maxKeptBytesPerCaller: 100_000 });
    const wire = await connect(kind, 'alice');
    const listen = (each: Wire) =>
      each.stateless('subscriptions/listen', {
        notifications: { resourceSubscriptions: Array.from({ length: 20 }, () => uri()) },
      });
    const told: object[] = [];
    for (let n = 0; n < 20; n++) {
      const first = await listen(wire);
      if (first.error !== undefined) {
        expect(first.error).toMatchObject({ code: 503, ...overloaded });
        break;
      }
      told.push(first);
    }
    expect(told.length).toBeGreaterThan(1);
    expect(told.length).toBeLessThan(5);
    expect((await listen(await connect(kind, 'bob'))).error).toBeUndefined();
    const second = await connect(kind, 'alice');
    wire.close();
    await expect.poll(async () => (await listen(second)).error).toBeUndefined();
  });
});

describe.each(wireKinds)('large requests that take long over %s', (kind) => {
  test('are bounded by their bytes for each caller; small ones are served, and those that end give their space back', async () => {
    let begun = 0;
    const { connect } = await serve({ maxPendingBytesPerCaller: 100_000 }, (server) => {
      server.tool('wait', {
        input: { type: 'object', properties: { text: {} } },
        run: (_args, ctx) => {
          begun++;
          return new Promise((_, reject) => ctx.signal.addEventListener('abort', reject));
        },
      });
    });
    const large = 'x'.repeat(30_000);
    const call = (wire: Wire, id: string, text: unknown) =>
      wire.ask({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'wait', arguments: { text } } });
    /** Resolves when the tool has begun; its end is not awaited. */
    const begin = async (wire: Wire, id: string, text: unknown): Promise<void> => {
      const before = begun;
      call(wire, id, text).catch(() => {});
      await expect.poll(() => begun).toBe(before + 1);
    };
    const rejected = { message: expect.stringContaining('too many large requests') };

    const wire = await connect(kind, 'alice');
    for (let n = 0; n < 4; n++) await begin(wire, `large ${n}`, large);
    expect((await call(wire, 'one too many', large)).error).toMatchObject(rejected);
    expect((await call(await connect(kind, 'alice'), 'elsewhere', large)).error).toMatchObject(rejected);
    await begin(wire, 'small', 'x');
    await begin(await connect(kind, 'bob'), 'of another caller', large);
    for (let n = 0; n < 2; n++) await wire.notify('notifications/cancelled', { requestId: `large ${n}` });
    await begin(wire, 'again', large);
    // A list of empty objects takes more memory than its text is long.
    await begin(
      await connect(kind, 'carol'),
      'many',
      Array.from({ length: 2_000 }, () => ({})),
    );
    expect((await call(await connect(kind, 'carol'), 'one more', large)).error).toMatchObject(rejected);
  });
});

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

test('large arguments of tasks count until the task ends, not only until its request is answered', async () => {
  const server = createServer({ name: 'kept', version: '1.0.0', limits: { maxPendingBytesPerCaller: 100_000 } });
  closers.push(() => server.close());
  server.tool('wait', {
    input: { type: 'object', properties: { text: { type: 'string' } } },
    task: { start: 'immediately' },
    run: (_args, ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', reject)),
  });
  const client = new TestClient(server, { transport: 'memory', principal: { id: 'alice' } });
  const create = () => client.stateless('tools/call', { name: 'wait', arguments: { text: 'x'.repeat(30_000) } }, tasks);
  const first = await create();
  for (let n = 0; n < 3; n++) expect((await create()).error).toBeUndefined();
  expect((await create()).error).toMatchObject({ message: expect.stringContaining('too many large requests') });
  const { taskId } = first.result as { taskId: string };
  await client.stateless('tasks/cancel', { taskId }, tasks);
  await expect.poll(async () => (await create()).error).toBeUndefined();
});

describe('tasks with large results', () => {
  /** A store that takes a moment to read a task, and counts how many are being read. */
  function slowStore() {
    const store = createMemoryTaskStore();
    const reads = { now: 0, most: 0 };
    const read = store.read.bind(store);
    store.read = async (id) => {
      reads.most = Math.max(reads.most, ++reads.now);
      await new Promise((resolve) => setTimeout(resolve, 1));
      reads.now--;
      return read(id);
    };
    return { reads, store };
  }

  test('that a subscription or many requests name are read a few at a time, and are not kept', async () => {
    const { reads, store } = slowStore();
    const server = createServer({ name: 'kept', version: '1.0.0', tasks: { store } });
    closers.push(() => server.close());
    server.tool('quick', { task: { start: 'immediately' }, run: () => 'x'.repeat(1_000) });
    const client = new TestClient(server, { transport: 'memory', principal: { id: 'alice' } });
    const taskIds: string[] = [];
    for (let n = 0; n < 50; n++) {
      const { result } = await client.stateless('tools/call', { name: 'quick', arguments: {} }, tasks);
      taskIds.push((result as { taskId: string }).taskId);
    }
    reads.most = 0;
    await Promise.all(taskIds.map((taskId) => client.stateless('tasks/get', { taskId }, tasks)));
    void client.stateless('subscriptions/listen', { notifications: { taskIds } }, tasks);
    const told = () => client.received.filter(({ method }) => method === 'notifications/tasks');
    await expect.poll(() => told().length).toBe(50);
    expect(reads.most).toBe(4);
  });
});

test('long roots are requested again, not cached', async () => {
  let length = 10;
  const server = createServer({ name: 'roots', version: '1.0.0' });
  server.tool('where', { run: async (_args, ctx) => String((await ctx.roots()).length) });
  const client = await TestClient.open(server, '2025-11-25', { roots: { listChanged: true } });
  let asked = 0;
  const answering = async (): Promise<void> => {
    for (;;) {
      const { id } = await client.next(({ method, id: each }) => method === 'roots/list' && each !== undefined);
      client.received.splice(
        client.received.findIndex((each) => each.id === id && each.method !== undefined),
        1,
      );
      asked++;
      const roots = Array.from({ length }, (_, n) => ({ uri: `file:///${n}/${'x'.repeat(100)}` }));
      client.send({ jsonrpc: '2.0', id, result: { roots } });
    }
  };
  void answering();
  for (let n = 0; n < 3; n++) expect((await client.call('where')).result.content[0].text).toBe('10');
  expect(asked).toBe(1);
  length = 1_000;
  client.notify('notifications/roots/list_changed');
  for (let n = 0; n < 3; n++) expect((await client.call('where')).result.content[0].text).toBe('1000');
  expect(asked).toBe(4);
});
