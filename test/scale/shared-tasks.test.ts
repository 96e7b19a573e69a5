// Tasks whose client is connected to another process than the one that runs them.
import { afterEach, expect, test } from 'vitest';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import type { TaskStore } from '../../src/engine/tasks/store/task-store.ts';
import { createServer, elicit, type Server, type ServerOptions } from '../../src/index.ts';
import type { Bus } from '../../src/protocol/ports.ts';
import { useClosers } from '../support/closers.ts';
import {
  both,
  type EventReader,
  type HttpTestClient,
  type Message,
  modernBody,
  modernHeaders,
} from '../support/http-client.ts';
import { openGet, openPost, type Replica, Replicas } from '../support/replicas.ts';

const closers = useClosers(afterEach);
const timeout = 120_000;
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const secret = 'Who is the secret guest?';

/** What the tests do to the handler of `steps`. */
const handlers = new Map<string, (value: unknown) => void>();

function taskServer(shared: Partial<ServerOptions>): Server {
  const server = createServer({ name: 'replica', version: '1', logger: false, ...shared });
  server.tool('ask', {
    task: 'required',
    run: async (_args, ctx) => {
      const answers = await ctx.requestInputs({ first: elicit(secret, form), second: elicit('Second?', form) });
      return `${answers.first.action} ${answers.second.action}`;
    },
  });
  server.tool('steps', {
    task: 'required',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: async ({ name }, ctx) => {
      await new Promise((resolve) => handlers.set(String(name), resolve));
      for (let step = 1; step <= 5; step++) {
        await ctx.progress(step, 5);
        ctx.log('info', `step ${step}`);
      }
      return 'done';
    },
  });
  server.tool('report', {
    task: 'required',
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: async ({ name }, ctx) => {
      await new Promise((resolve) => handlers.set(String(name), resolve));
      await ctx.progress(1, 2, 'half');
      return new Promise(() => {});
    },
  });
  server.tool('wait', {
    task: 'required',
    run: (_args, ctx) =>
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  return server;
}

/** A store that several processes share: it answers later. */
function storeElsewhere(): TaskStore {
  const memory = createMemoryTaskStore();
  const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    durable: true,
    create: async (...args) => later().then(() => memory.create(...args)),
    read: async (...args) => later().then(() => memory.read(...args)),
    change: async (...args) => later().then(() => memory.change(...args)),
    claim: async (...args) => later().then(() => memory.claim(...args)),
    renew: async (...args) => later().then(() => memory.renew(...args)),
    list: async (...args) => later().then(() => memory.list(...args)),
    count: async (...args) => later().then(() => memory.count(...args)),
    sweep: async (...args) => later().then(() => memory.sweep(...args)),
  };
}

/** Three servers, and what they have published. */
async function start(): Promise<{ readonly all: readonly [Replica, Replica, Replica]; readonly published: string[] }> {
  const replicas = new Replicas();
  closers.push(() => replicas.close());
  const store = storeElsewhere();
  const published: string[] = [];
  const create = (shared: Partial<ServerOptions>): Server => {
    const bus = shared.bus as Bus;
    const publish = bus.publish.bind(bus);
    bus.publish = (topic, data) => {
      published.push(JSON.stringify(data));
      return publish(topic, data);
    };
    return taskServer({ ...shared, tasks: { store } });
  };
  const options = { authenticate: () => ({ id: 'client' }) };
  const all = [
    await replicas.startServer(create, options),
    await replicas.startServer(create, options),
    await replicas.startServer(create, options),
  ] as const;
  return { all, published };
}

const initialize = (client: HttpTestClient): Promise<string> =>
  client.initialize({ capabilities: { elicitation: {} } });

async function createTask(client: HttpTestClient, session: string, name: string, args: object = {}): Promise<string> {
  const params = { name, arguments: args, task: {}, _meta: { progressToken: 'p' } };
  const { json } = await client.session(session, 'tools/call', params);
  return (json.result as { task: { taskId: string } }).task.taskId;
}

/** The messages with that method, in order. */
const named = (stream: EventReader, method: string) => stream.messages.filter((each) => each.method === method);

/** Waits until a stream has that many messages with that method. */
const until = (stream: EventReader, method: string, count: number): Promise<void> =>
  expect.poll(() => named(stream, method).length, { timeout: 60_000 }).toBe(count);

/** Answers an input request that was sent on a stream, with the message. */
async function answer(client: HttpTestClient, session: string, stream: EventReader, message: string): Promise<void> {
  const asked = named(stream, 'elicitation/create').find(({ params }) => params?.['message'] === message);
  const body = { jsonrpc: '2.0', id: asked?.id, result: { action: 'decline' } };
  const headers = { Accept: 'application/json, text/event-stream', 'Mcp-Session-Id': session };
  expect((await client.send({ body, headers })).status).toBe(202);
}

/** The content of a task's result. It is the last message of a stream if the task had not ended when it was asked for. */
async function contentOf(client: HttpTestClient, session: string, taskId: string): Promise<unknown> {
  const { json, events } = await client.session(session, 'tasks/result', { taskId });
  const response = (json ?? JSON.parse(events.at(-1)?.data ?? '{}')) as Message;
  return response.result?.['content'];
}

test('a stream that is opened later, in another process, gets the input requests, and a third process takes the responses', {
  timeout,
}, async () => {
  const { all, published } = await start();
  const [a, b, c] = all;
  const session = await initialize(a.client);
  const taskId = await createTask(a.client, session, 'ask');
  const status = async () => (await c.client.session(session, 'tasks/get', { taskId })).json.result?.['status'];
  await expect.poll(status, { timeout: 60_000 }).toBe('input_required');
  const stream = await openGet(b.client, session);
  await until(stream, 'elicitation/create', 2);
  await answer(c.client, session, stream, secret);
  await until(stream, 'notifications/tasks/status', 1);
  await answer(a.client, session, stream, 'Second?');
  expect(await contentOf(c.client, session, taskId)).toEqual([{ type: 'text', text: 'decline decline' }]);
  await until(stream, 'notifications/tasks/status', 3);
  expect(named(stream, 'notifications/tasks/status').map(({ params }) => params?.['status'])).toEqual([
    'input_required',
    'working',
    'completed',
  ]);
  expect(named(stream, 'elicitation/create').length).toBe(2);
  expect(published.length).toBeGreaterThan(0);
  expect(published.filter((text) => text.includes(secret))).toEqual([]);
  stream.cut();
});

test('an input request is sent once, although two processes can reach the client', { timeout }, async () => {
  const { all } = await start();
  const [a, b, c] = all;
  const session = await initialize(a.client);
  const stream = await openGet(b.client, session);
  const taskId = await createTask(a.client, session, 'ask');
  const waiting = await openPost(c.client, session, {
    ...{ jsonrpc: '2.0', id: 9, method: 'tasks/result', params: { taskId } },
  });
  const sent = (): number => named(stream, 'elicitation/create').length + named(waiting, 'elicitation/create').length;
  await expect.poll(sent, { timeout: 60_000 }).toBe(2);
  const carrier = named(stream, 'elicitation/create').length > 0 ? stream : waiting;
  for (const message of [secret, 'Second?']) await answer(a.client, session, carrier, message);
  const messages = await waiting.end();
  expect(messages.at(-1)?.result?.['content']).toEqual([{ type: 'text', text: 'decline decline' }]);
  expect(sent()).toBe(2);
  stream.cut();
});

test('a client is notified of a change that its process has read from the store before it was told of it', {
  timeout,
}, async () => {
  const { all } = await start();
  const [a, b] = all;
  const session = await initialize(a.client);
  const stream = await openGet(b.client, session);
  const taskId = await createTask(a.client, session, 'report', { name: 'late' });
  const state = async (client: HttpTestClient) =>
    (await client.session(session, 'tasks/get', { taskId })).json.result?.['statusMessage'];
  expect(await state(b.client)).toBeUndefined();
  b.pause();
  handlers.get('late')?.(undefined);
  await expect.poll(() => state(a.client), { timeout: 60_000 }).toBe('half');
  expect(await state(b.client)).toBe('half');
  b.resume();
  await until(stream, 'notifications/tasks/status', 1);
  expect(named(stream, 'notifications/tasks/status')[0]?.params?.['statusMessage']).toBe('half');
  stream.cut();
});

test('another process sends them again when the one with the stream has ended', { timeout }, async () => {
  const { all } = await start();
  const [a, b, c] = all;
  const session = await initialize(a.client);
  const stream = await openGet(b.client, session);
  const taskId = await createTask(a.client, session, 'ask');
  await until(stream, 'elicitation/create', 2);
  b.kill();
  const second = await openGet(c.client, session);
  await until(second, 'elicitation/create', 2);
  for (const message of [secret, 'Second?']) await answer(a.client, session, second, message);
  expect(await contentOf(c.client, session, taskId)).toEqual([{ type: 'text', text: 'decline decline' }]);
  second.cut();
});

test('progress and log messages arrive once and in order, for each request that waits with a token of its own', {
  timeout,
}, async () => {
  const { all } = await start();
  const [a, b, c] = all;
  const session = await initialize(a.client);
  const taskId = await createTask(a.client, session, 'steps', { name: 'order' });
  const wait = (client: HttpTestClient, progressToken: string): Promise<EventReader> =>
    openPost(client, session, {
      ...{ jsonrpc: '2.0', id: progressToken, method: 'tasks/result', params: { taskId, _meta: { progressToken } } },
    });
  const [first, second] = [await wait(b.client, 'own b'), await wait(c.client, 'own c')];
  // Both have their first message when they follow the task.
  await Promise.all([first.until(1), second.until(1)]);
  // And the process of the handler knows it when it has heard of both.
  await Promise.all(all.map(({ bus }) => bus.publish('test', null)));
  handlers.get('order')?.(undefined);
  await Promise.all([first.end(), second.end()]);
  const tokens = (stream: EventReader, token: string) =>
    named(stream, 'notifications/progress')
      .filter(({ params }) => params?.['progressToken'] === token)
      .map(({ params }) => params?.['progress']);
  expect(tokens(first, 'own b')).toEqual([1, 2, 3, 4, 5]);
  expect(tokens(second, 'own c')).toEqual([1, 2, 3, 4, 5]);
  // What belongs to the call that created the task is sent to one of them.
  expect([...tokens(first, 'p'), ...tokens(second, 'p')]).toEqual([1, 2, 3, 4, 5]);
  const logged = [first, second].flatMap((stream) => named(stream, 'notifications/message'));
  expect(logged.map(({ params }) => params?.['data'])).toEqual([1, 2, 3, 4, 5].map((step) => `step ${step}`));
});

test('what was acknowledged is read in every process', { timeout }, async () => {
  const { all } = await start();
  const extensions = { 'io.modelcontextprotocol/tasks': {} };
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions } };
  const request = async (replica: Replica, method: string, params: Record<string, unknown>) => {
    const body = modernBody(method, params, 1, meta);
    const { json } = await replica.client.send({ body, headers: { Accept: both, ...modernHeaders(method, params) } });
    return json.result as Record<string, unknown>;
  };
  for (let n = 0; n < 3; n++) {
    const at = (offset: number): Replica => all[(n + offset) % 3] as Replica;
    const { taskId } = await request(at(0), 'tools/call', { name: 'wait' });
    await request(at(1), 'tasks/cancel', { taskId });
    expect((await request(at(2), 'tasks/get', { taskId }))['status']).toBe('cancelled');
    const asked = await request(at(0), 'tools/call', { name: 'ask' });
    const state = (offset: number) => request(at(offset), 'tasks/get', { taskId: asked['taskId'] });
    const requested = async () => Object.keys((await state(1))['inputRequests'] ?? {});
    await expect.poll(requested, { timeout: 60_000 }).toEqual(['first', 'second']);
    const inputResponses = { first: { action: 'decline' }, second: { action: 'decline' } };
    await request(at(2), 'tasks/update', { taskId: asked['taskId'], inputResponses });
    expect((await state(1))['inputRequests']).toBeUndefined();
    await expect.poll(async () => (await state(1))['status'], { timeout: 60_000 }).toBe('completed');
  }
});
