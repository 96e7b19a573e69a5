// Tasks over every transport that has them: created, polled, asked for input, cancelled, and found again by their owner only.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServer } from '../../src/index.ts';
import { both, EventReader, HttpTestClient } from '../support/http-client.ts';
import type { Message } from '../support/test-client.ts';
import { serveWires, statelessKinds, type Wire, wireKinds } from '../support/wires.ts';

const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const meta = {
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
};
const accepted = { action: 'accept', content: { name: 'Ada' } };

function taskServer() {
  const server = createServer({ name: 'tasks', version: '1', logger: false });
  server.tool('greet', {
    task: 'required',
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Who are you?', form, { key: 'who' });
      return answer.action === 'accept' ? `hello ${answer.content.name}` : answer.action;
    },
  });
  server.tool('wait', {
    task: 'required',
    run: (_args, ctx) =>
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  return server;
}

const server = taskServer();
let wires: Awaited<ReturnType<typeof serveWires>>;
beforeAll(async () => {
  wires = await serveWires(server, { ada: [], bob: [] });
});
afterAll(async () => {
  await wires.close();
  await server.close();
});

async function until(status: string, get: () => Promise<Message>): Promise<Message> {
  for (let polls = 0; polls < 500; polls++) {
    const message = await get();
    if (message.result?.status === status) return message;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the task never became ${status}`);
}

describe.each(wireKinds)('2025-11-25 over %s', (kind) => {
  const connect = (caller = 'ada'): Promise<Wire> => wires.connect(kind, caller, { elicitation: {} });
  const start = async (wire: Wire, name: string): Promise<string> =>
    (await wire.request('tools/call', { name, task: { ttl: 120_000 } })).result.task.taskId;

  test('an input request is sent while the client only polls', async () => {
    const wire = await connect();
    const taskId = await start(wire, 'greet');
    const asked = await wire.next((each) => each.method === 'elicitation/create');
    expect(asked.params._meta['io.modelcontextprotocol/related-task']).toEqual({ taskId });
    expect((await wire.request('tasks/get', { taskId })).result).toMatchObject({ taskId, status: 'input_required' });
    await wire.respond(asked.id, accepted);
    await until('completed', () => wire.request('tasks/get', { taskId }));
    const { result } = await wire.request('tasks/result', { taskId });
    expect(result.content[0].text).toBe('hello Ada');
    expect(wire.received.filter((each) => each.method === 'elicitation/create')).toHaveLength(1);
  });

  test('a request for the result waits, and another session of the same caller gets it too', async () => {
    const wire = await connect();
    const taskId = await start(wire, 'greet');
    const asked = await wire.next((each) => each.method === 'elicitation/create');
    const waiting = wire.request('tasks/result', { taskId });
    const other = await connect();
    const alsoWaiting = other.request('tasks/result', { taskId });
    await wire.respond(asked.id, accepted);
    for (const answer of [await waiting, await alsoWaiting]) {
      expect(answer.result).toMatchObject({ content: [{ text: 'hello Ada' }] });
      expect(answer.result._meta['io.modelcontextprotocol/related-task']).toEqual({ taskId });
    }
  });

  test('a task is listed for its owner, and for no other caller', async () => {
    const wire = await connect();
    const taskId = await start(wire, 'wait');
    const listed = (await wire.request('tasks/list')).result.tasks.map((task: { taskId: string }) => task.taskId);
    expect(listed).toContain(taskId);
    const other = await connect('bob');
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      expect((await other.request(method, { taskId })).error).toEqual({ code: -32602, message: 'Task not found' });
    }
    expect((await other.request('tasks/list')).result.tasks).toEqual([]);
    expect((await wire.request('tasks/cancel', { taskId })).result.status).toBe('cancelled');
    expect((await wire.request('tasks/cancel', { taskId })).error?.code).toBe(-32602);
  });

  test('the end of a task is announced', async () => {
    const wire = await connect();
    const taskId = await start(wire, 'wait');
    await wire.request('tasks/cancel', { taskId });
    const told = await wire.next(
      (each) => each.method === 'notifications/tasks/status' && each.params.status === 'cancelled',
    );
    expect(told.params.taskId).toBe(taskId);
  });
});

describe.each(statelessKinds)('2026-07-28 over %s', (kind) => {
  const start = async (wire: Wire, name: string): Promise<string> => {
    const { result } = await wire.stateless('tools/call', { name }, meta);
    expect(result).toMatchObject({ resultType: 'task', status: 'working' });
    return result.taskId;
  };

  test('input is part of the task, and so is the result', async () => {
    const wire = await wires.connect(kind, 'ada');
    const taskId = await start(wire, 'greet');
    const get = (): Promise<Message> => wire.stateless('tasks/get', { taskId }, meta);
    const asked = await until('input_required', get);
    expect(asked.result.inputRequests.who.method).toBe('elicitation/create');
    await wire.stateless('tasks/update', { taskId, inputResponses: { who: accepted } }, meta);
    expect((await until('completed', get)).result.result.content[0].text).toBe('hello Ada');
  });

  test('a task outlives the connection that created it, and belongs to its caller', async () => {
    const wire = await wires.connect(kind, 'ada');
    const taskId = await start(wire, 'wait');
    wire.close();
    const again = await wires.connect(kind, 'ada');
    expect((await again.stateless('tasks/get', { taskId }, meta)).result.status).toBe('working');
    const other = await wires.connect(kind, 'bob');
    for (const method of ['tasks/get', 'tasks/cancel']) {
      const { error } = await other.stateless(method, { taskId }, meta);
      expect(error).toEqual({ code: -32602, message: 'Task not found' });
    }
    await again.stateless('tasks/cancel', { taskId }, meta);
    await until('cancelled', () => again.stateless('tasks/get', { taskId }, meta));
  });

  test('a subscription is told when the task needs input, and when it ends', async () => {
    const wire = await wires.connect(kind, 'ada');
    const taskId = await start(wire, 'greet');
    await until('input_required', () => wire.stateless('tasks/get', { taskId }, meta));
    const listening = await wire.stateless('subscriptions/listen', { notifications: { taskIds: [taskId] } }, meta);
    expect(listening.params.notifications).toEqual({ taskIds: [taskId] });
    const told = (status: string): Promise<Message> =>
      wire.next((each) => each.method === 'notifications/tasks' && each.params.status === status);
    expect((await told('input_required')).params.inputRequests.who).toBeDefined();
    await wire.stateless('tasks/update', { taskId, inputResponses: { who: accepted } }, meta);
    expect((await told('completed')).params.result.content[0].text).toBe('hello Ada');
  });
});

test('over HTTP without a GET stream, the input request comes with the request for the result', async () => {
  const client = new HttpTestClient(wires.http.port);
  const headers = wires.headersOf('ada');
  const session = await client.initialize({ headers, capabilities: { elicitation: {} } });
  const own = { ...headers, Accept: both, 'Mcp-Session-Id': session };
  const call = (id: number, method: string, params: object) => ({
    body: { jsonrpc: '2.0', id, method, params },
    headers: own,
  });
  const created = await client.send(call(1, 'tools/call', { name: 'greet', task: {} }));
  const { taskId } = JSON.parse(created.text).result.task;
  const reader = new EventReader(await client.open(call(2, 'tasks/result', { taskId })));
  const message = async (fits: (each: Message) => boolean): Promise<Message> => {
    for (;;) {
      const texts = reader.events.flatMap(({ data }) => (data === undefined || data === '' ? [] : [data]));
      const found = texts.map((text) => JSON.parse(text) as Message).find(fits);
      if (found !== undefined) return found;
      await new Promise((resolve) => reader.response.once('data', resolve));
    }
  };
  const asked = await message((each) => each.method === 'elicitation/create');
  await client.send({ body: { jsonrpc: '2.0', id: asked.id, result: accepted }, headers: own });
  expect((await message((each) => each.id === 2)).result.content[0].text).toBe('hello Ada');
  client.close();
});

test('over HTTP, the header must name the task, and anonymous callers cannot list tasks', async () => {
  const client = new HttpTestClient(wires.http.port);
  const taskId = 'a'.repeat(32);
  const answer = await client.modern(
    'tasks/get',
    { taskId },
    { meta, headers: { ...wires.headersOf('ada'), 'Mcp-Name': 'b' } },
  );
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text).error.code).toBe(-32020);
  const undeclared = await client.modern('tasks/get', { taskId }, { headers: wires.headersOf('ada') });
  expect(undeclared.status).toBe(400);
  expect(JSON.parse(undeclared.text).error.code).toBe(-32021);
  client.close();
});
