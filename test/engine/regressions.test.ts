// Bugs that were fixed. Each test failed before the fix.

import { expect, test } from 'vitest';
import { createServer, elicit, type Peer, type ServerOptions, WireError } from '../../src/index.ts';
import { TestClient } from '../support/test-client.ts';

const peerOf = (id: string): Peer => ({ transport: 'memory', principal: { id } });
const make = (options: Partial<ServerOptions> = {}) => createServer({ name: 'regressions', version: '1', ...options });
const form = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] } as const;
const asking = { elicitation: {} };
const accepted = { sure: { action: 'accept', content: { ok: true } } };

test('an error whose data cannot be serialized still gets a response', async () => {
  const server = make();
  const boom = (): never => {
    throw new WireError('application', 'boom', { data: { n: 1n } });
  };
  server.tool('now', { run: boom });
  server.tool('later', { run: async () => boom() });
  const client = await TestClient.open(server);
  expect((await client.call('now')).error?.code).toBe(-32603);
  expect((await client.call('later')).error?.code).toBe(-32603);
});

test('a visibility function that throws hides the change and affects no other caller', async () => {
  const server = make();
  server.resource('a://b', { name: 'b', read: () => 'x' });
  server.resource('a://c', {
    name: 'c',
    read: () => 'x',
    visible: () => {
      throw new Error('no idea');
    },
  });
  const [one, two] = [await TestClient.open(server), await TestClient.open(server)];
  for (const each of [one, two])
    each.send({ jsonrpc: '2.0', id: 's', method: 'resources/subscribe', params: { uri: 'a://c' } });
  await two.request('resources/subscribe', { uri: 'a://b' });
  server.resourceUpdated('a://c');
  server.resourceUpdated('a://b');
  await two.next((each) => each.params?.uri === 'a://b');
  expect((await one.request('ping')).result).toEqual({});
});

test('a single-use tool and a step marked once reject the same retry sent twice, also with a single input request', async () => {
  const server = make();
  const charged: string[] = [];
  const run = (name: string) => async (_args: unknown, ctx: import('../../src/index.ts').Context) => {
    await ctx.elicit('Sure?', form, { key: 'sure' });
    await ctx.step('one', () => charged.push(name), { once: true });
    await ctx.step('two', () => charged.push(name), { once: true });
    return 'charged';
  };
  server.tool('once', { run: run('once') });
  server.tool('single', { singleUse: true, run: run('single') });
  for (const name of ['once', 'single']) {
    const client = new TestClient(server);
    const { requestState } = (await client.stateless('tools/call', { name }, asking)).result;
    expect(typeof requestState).toBe('string');
    const retry = { name, requestState, inputResponses: accepted };
    expect((await client.stateless('tools/call', retry, asking)).result.content[0].text).toBe('charged');
    expect((await client.stateless('tools/call', retry, asking)).error?.message).toContain('used before');
    const { error } = await client.stateless('tools/call', { name, inputResponses: accepted }, asking);
    expect(error?.message).toContain('missing');
  }
  expect(charged).toEqual(['once', 'once', 'single', 'single']);
});

test('a page with a cursor is not shared between callers', async () => {
  const server = make({ limits: { pageSize: 1 } });
  for (const name of ['a', 'b', 'c']) server.tool(name, { run: () => name });
  // Callers without a principal count as one caller.
  for (const who of [undefined, 'ada', 'bob', undefined]) {
    const peer = who === undefined ? undefined : peerOf(who);
    const client = await TestClient.open(server, '2025-11-25', {}, peer);
    const { nextCursor } = (await client.request('tools/list')).result;
    expect((await client.request('tools/list', { cursor: nextCursor })).result.tools[0].name).toBe('b');
  }
});

test('a page encoded before a change is not cached after it', async () => {
  const server = make({ limits: { pageSize: 1 } });
  const first = server.tool('a', { run: () => 'a' });
  server.tool('b', { run: () => 'b' });
  const client = await TestClient.open(server);
  const early = client.request('tools/list');
  first.remove();
  await early;
  expect((await client.request('tools/list')).result.tools[0].name).toBe('b');
});

test('a list that differs between callers is never marked public', async () => {
  const server = make({ cache: { ttlMs: 60_000, cacheScope: 'public' } });
  server.resource('a://b', { name: 'b', read: (ctx) => `secret of ${ctx.principal?.id}` });
  server.resourceTemplate('m://{who}', {
    name: 'm',
    read: () => 'x',
    list: (who) => [{ uri: `m://${who?.id}`, name: 'mine' }],
  });
  const client = new TestClient(server, peerOf('ada'));
  expect((await client.stateless('resources/read', { uri: 'a://b' })).result).toMatchObject({
    ttlMs: 0,
    cacheScope: 'private',
  });
  expect((await client.stateless('resources/list')).result).toMatchObject({ ttlMs: 60_000, cacheScope: 'private' });
  expect((await client.stateless('resources/templates/list')).result).toMatchObject({ cacheScope: 'public' });
});

test('the error of a rejected message never has the id of a request in flight', async () => {
  const server = make();
  server.tool('wait', { run: () => new Promise((resolve) => setTimeout(() => resolve('done'), 10)) });
  const client = await TestClient.open(server);
  const first = client.request('tools/call', { name: 'wait' }, 1);
  client.send({ jsonrpc: '2.0', id: 1, method: 'no/such' });
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
  expect((await first).result.content[0].text).toBe('done');
  expect(client.received.filter((each) => each.id === 1)).toHaveLength(1);
  expect(client.received.filter((each) => each.error !== undefined)).toHaveLength(2);
});

test('a response never gets a response, however malformed it is', async () => {
  const client = await TestClient.open(make());
  const before = client.received.length;
  client.send({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'x' } });
  client.send({ jsonrpc: '2.0', id: 1, result: {}, error: { code: 1, message: 'x' } });
  client.send({ id: 1, result: 7 });
  expect(client.received.length).toBe(before);
});

test('a subscription ends with its result even without a grace period', async () => {
  const server = make();
  server.tool('t', { run: () => 't' });
  const client = new TestClient(server);
  const listen = client.stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
  await client.next((each) => each.method === 'notifications/subscriptions/acknowledged');
  await client.channel.drain(0);
  expect((await listen).result.resultType).toBe('complete');
});

test('cancelled calls leave the queue, and a long queue of quick calls does not overflow the stack', async () => {
  const server = make({ rules: { execution: { concurrency: 1 } }, limits: { maxInFlight: 100_000 } });
  let release: (text: string) => void = () => {};
  server.tool('slow', { run: () => new Promise<string>((resolve) => (release = resolve)) });
  server.tool('quick', { run: () => 'quick' });
  const client = await TestClient.open(server);
  const slow = client.call('slow');
  for (let i = 0; i < 20_000; i++) {
    client.send({ jsonrpc: '2.0', id: i, method: 'tools/call', params: { name: 'quick' } });
    if (i % 2 === 0) client.notify('notifications/cancelled', { requestId: i });
  }
  const last = client.call('quick');
  release('slow');
  expect((await slow).result.content[0].text).toBe('slow');
  expect((await last).result.content[0].text).toBe('quick');
});

test('a concurrency limit applies to stateless requests as well', async () => {
  const server = make({ rules: { execution: { concurrency: 3 } } });
  let running = 0;
  let most = 0;
  server.tool('t', {
    run: async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    },
  });
  const client = new TestClient(server);
  await Promise.all(Array.from({ length: 9 }, () => client.stateless('tools/call', { name: 't' })));
  expect(most).toBe(3);
});

test('roots that were requested before a change are not cached after it', async () => {
  const server = make();
  server.tool('roots', { run: async (_args, ctx) => (await ctx.roots()).map((each) => each.uri).join() });
  const client = await TestClient.open(server, '2025-06-18', { roots: { listChanged: true } });
  const first = client.call('roots');
  const asked = await client.next((each) => each.method === 'roots/list');
  client.send({ jsonrpc: '2.0', id: asked.id, result: { roots: [{ uri: 'file:///old' }] } });
  client.notify('notifications/roots/list_changed');
  expect((await first).result.content[0].text).toBe('file:///old');
  const second = client.call('roots');
  const again = await client.next((each) => each.method === 'roots/list' && each.id !== asked.id);
  client.send({ jsonrpc: '2.0', id: again.id, result: { roots: [{ uri: 'file:///new' }] } });
  expect((await second).result.content[0].text).toBe('file:///new');
});

test('initialize cannot be cancelled, and two of them open one session, however slow the middleware is', async () => {
  const server = make();
  server.around(async (_request, next) => {
    await new Promise((resolve) => setTimeout(resolve, 2));
    return next();
  });
  const client = new TestClient(server);
  const one = client.request('initialize', { protocolVersion: '2025-06-18' }, 1);
  const two = client.request('initialize', { protocolVersion: '2025-03-26' }, 2);
  client.notify('notifications/cancelled', { requestId: 1 });
  expect((await one).result.protocolVersion).toBe('2025-06-18');
  expect((await two).error?.code).toBe(-32600);
});

test('a thenable is awaited, undefined structured content is left out, a total must be a number', async () => {
  const server = make();
  // biome-ignore lint/suspicious/noThenProperty: a thenable that returns nothing is the point
  server.tool('thenable', { run: () => ({ then: (done: (text: string) => void) => void done('ok') }) });
  server.tool('undefined', { run: () => ({ content: [], structuredContent: undefined }) });
  server.tool('total', { run: (_args, ctx) => ctx.progress(1, Number.NaN) });
  const client = await TestClient.open(server, '2025-06-18');
  expect((await client.call('thenable')).result.content[0].text).toBe('ok');
  expect((await client.call('undefined')).result).toEqual({ content: [] });
  await client.request('tools/call', { name: 'total', _meta: { progressToken: 1 } });
  expect((await client.next((each) => each.method === 'notifications/progress')).params).toEqual({
    progressToken: 1,
    progress: 1,
  });
});

test('a form is flat: nested fields are rejected with a reason, unknown keywords are not sent', async () => {
  expect(() => elicit('x', { type: 'object', properties: { a: { type: 'object' } } })).toThrow('one by one');
  const { schema } = elicit('x', {
    type: 'object',
    properties: {
      a: { type: 'string', pattern: '^x', format: 'uuid' },
      b: { type: 'array', items: { type: 'string', enum: ['x'] } },
    },
    additionalProperties: false,
  });
  expect(schema.json).toEqual({
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'string', enum: ['x'] } } },
  });
});

test('calls that are never retried leave nothing in memory', async () => {
  const server = make();
  server.tool('ask', { run: async (_args, ctx) => (await ctx.elicit('x', form)).action });
  const refs: WeakRef<object>[] = [];
  server.observe({ started: ({ ctx }) => refs.push(new WeakRef(ctx)) });
  const client = new TestClient(server);
  for (let i = 0; i < 50; i++) await client.stateless('tools/call', { name: 'ask' }, asking);
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--expose-gc');
  const { runInNewContext } = await import('node:vm');
  const gc = runInNewContext('gc') as () => void;
  await new Promise((resolve) => setTimeout(resolve, 10));
  gc();
  await new Promise((resolve) => setTimeout(resolve, 0));
  gc();
  expect(refs.filter((each) => each.deref() !== undefined).length).toBeLessThan(10);
});
