// Tasks of a server in memory: who gets one, and what happens to it. Over real transports: test/e2e/tasks.test.ts.

import { afterEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { createServer, type Server, type ServerOptions, type TaskOptions, type TaskSupport } from '../../src/index.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const extension = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const name = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function serverWith(options: Partial<ServerOptions> = {}): Server {
  const server = createServer({ name: 'tasks', version: '1', logger: false, ...options });
  servers.push(server);
  return server;
}

/** A promise that the test resolves. */
function gate<T = string>() {
  let open!: (value: T) => void;
  let fail!: (error: unknown) => void;
  const passed = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { passed, open, fail };
}

/** Polls until the task has that status. */
async function until(status: string, get: () => Promise<Message>): Promise<Message> {
  for (let polls = 0; polls < 500; polls++) {
    const message = await get();
    if (message.result?.status === status) return message;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`the task never became ${status}: ${JSON.stringify(await get())}`);
}

/** What a call is answered with. */
function kindOf({ result, error }: Message): string {
  if (error !== undefined) return String(error.code);
  if (result.task !== undefined || result.resultType === 'task') return 'task';
  return result.isError === true ? 'failed' : 'result';
}

const old = ['2024-11-05', '2025-03-26', '2025-06-18'];

/** Who gets what: the client, how it calls, and the answer for each support. */
const cells: readonly (readonly [client: string, support: TaskSupport, expected: string])[] = [
  ...old.flatMap((revision) =>
    (['forbidden', 'optional', 'required'] as const).map((support) => [revision, support, 'result'] as const),
  ),
  ['2025-11-25', 'forbidden', 'result'],
  ['2025-11-25', 'optional', 'result'],
  ['2025-11-25', 'required', '-32601'],
  ['2025-11-25 with task', 'forbidden', '-32601'],
  ['2025-11-25 with task', 'optional', 'task'],
  ['2025-11-25 with task', 'required', 'task'],
  ['2025-11-25 with the extension', 'forbidden', 'result'],
  ['2025-11-25 with the extension', 'optional', 'result'],
  ['2025-11-25 with the extension', 'required', '-32601'],
  ['2026-07-28', 'forbidden', 'result'],
  ['2026-07-28', 'optional', 'result'],
  ['2026-07-28', 'required', '-32021'],
  ['2026-07-28 with task', 'optional', 'result'],
  ['2026-07-28 with task', 'required', '-32021'],
  ['2026-07-28 with the extension', 'forbidden', 'result'],
  ['2026-07-28 with the extension', 'optional', 'result'],
  ['2026-07-28 with the extension', 'required', 'task'],
];

async function callAs(server: Server, client: string, tool: string): Promise<Message> {
  const [revision, , how] = client.split(' ') as [string, string?, string?];
  const task = how === 'task' ? { task: {} } : {};
  const capabilities = how === 'the' ? extension : {};
  const params = { name: tool, ...task };
  if (revision === '2026-07-28') return new TestClient(server).stateless('tools/call', params, capabilities);
  return (await TestClient.open(server, revision, capabilities)).request('tools/call', params);
}

test.each(cells)('a client of %s that calls a tool with support %s gets: %s', async (client, support, expected) => {
  const server = serverWith();
  server.tool('other', { task: 'optional', run: () => 'other' });
  server.tool('work', { task: support, run: async () => 'done' });
  expect(kindOf(await callAs(server, client, 'work'))).toBe(expected);
});

test('a requested task that cannot start is an error, since its client waits for a task', async () => {
  const server = serverWith();
  const input = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] } as const;
  server.tool('work', { task: 'optional', input, run: () => 'done' });
  server.tool('ask', { task: 'required', needs: ['sampling'], run: () => 'done' });
  const client = await TestClient.open(server, '2025-11-25');
  const call = async (name: string, more: object) => client.request('tools/call', { name, arguments: {}, ...more });
  expect((await call('work', { task: {} })).error).toMatchObject({
    code: -32602,
    message: 'Invalid arguments for tool work: n: is required',
  });
  expect((await call('ask', { task: {} })).error).toMatchObject({ code: -32602 });
  expect((await call('work', {})).result).toMatchObject({ isError: true });
});

test.each<[string, TaskOptions, string]>([
  ['immediately', { start: 'immediately' }, 'task'],
  ['when-slow, and slow', { start: 'when-slow', afterMs: 1 }, 'task'],
  ['when-slow, and fast', { start: 'when-slow', afterMs: 60_000 }, 'result'],
  ['on-detach', { start: 'on-detach' }, 'task'],
])('a server decides by start: %s', async (_title, task, expected) => {
  const server = serverWith();
  const slow = gate();
  server.tool('work', {
    task,
    run: async (_args, ctx) => {
      if (task.start === 'on-detach') await ctx.detach();
      return expected === 'task' ? slow.passed : 'done';
    },
  });
  const client = new TestClient(server);
  const created = await client.stateless('tools/call', { name: 'work' }, extension);
  expect(kindOf(created)).toBe(expected);
  slow.open('done');
  if (expected === 'result') return;
  const get = () => client.stateless('tasks/get', { taskId: created.result.taskId }, extension);
  const { result } = await until('completed', get);
  expect(result.result.content).toEqual([{ type: 'text', text: 'done' }]);
});

test('the time that a task is stored is a whole number of milliseconds', async () => {
  const server = serverWith();
  server.tool('work', { task: { support: 'required', ttlMs: 60_000.5, keepMs: 3_600_000.5 }, run: () => 'done' });
  const client = new TestClient(server);
  const { taskId, ttlMs } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
  const get = () => client.stateless('tasks/get', { taskId }, extension);
  const { result } = await until('completed', get);
  expect([ttlMs, result.ttlMs].filter((each) => !Number.isInteger(each))).toEqual([]);
});

test('a tool that cannot be called inline tells old clients why', async () => {
  const server = serverWith();
  server.tool('work', { task: { support: 'required', inline: false }, run: () => 'done' });
  const answer = await (await TestClient.open(server, '2025-06-18')).call('work');
  expect(answer.result.isError).toBe(true);
  expect(answer.result.content[0].text).toContain('only runs as a task');
});

test('a client that waits for a tool with tasks hears every ten seconds that it runs', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
  try {
    const server = serverWith();
    const [begun, slow] = [gate(), gate()];
    server.tool('work', {
      task: 'optional',
      run: async (_args, ctx) => {
        begun.open('');
        await slow.passed;
        await ctx.progress(1, 2);
        return 'done';
      },
    });
    const client = await TestClient.open(server, '2025-06-18');
    const answer = client.request('tools/call', { name: 'work', _meta: { progressToken: 'p' } });
    await begun.passed;
    await vi.advanceTimersByTimeAsync(20_000);
    slow.open('');
    expect((await answer).result.content[0].text).toBe('done');
    const values = client.received.flatMap(({ method, params }) =>
      method === 'notifications/progress' ? [params.progress as number] : [],
    );
    expect(values).toHaveLength(3);
    expect(values[0]).toBe(0);
    expect(values[2]).toBe(1);
    expect(values[1]).toBeGreaterThan(0);
    expect(values[1]).toBeLessThan(1e-6);
  } finally {
    vi.useRealTimers();
  }
});

test('a server without tasks declares none and ignores the param', async () => {
  const server = serverWith();
  server.tool('work', { run: () => 'done' });
  const client = await TestClient.open(server);
  expect(client.received[0]?.result.capabilities.tasks).toBeUndefined();
  expect(kindOf(await client.request('tools/call', { name: 'work', task: {} }))).toBe('result');
  expect((await client.request('tasks/list')).error?.code).toBe(-32601);
});

test('what is declared depends on the revision and on the caller', async () => {
  const server = serverWith();
  server.tool('work', { task: 'optional', visible: (principal) => principal?.id !== 'guest', run: () => 'done' });
  server.tool('other', { run: () => 'done' });
  const declared = async (revision: string, peer?: ConstructorParameters<typeof TestClient>[1]) =>
    (await TestClient.open(server, revision, {}, peer)).received[0]?.result.capabilities;
  const all = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  expect((await declared('2025-06-18')).tasks).toBeUndefined();
  expect((await declared('2025-11-25')).tasks).toEqual(all);
  const { list: _list, ...withoutList } = all;
  expect((await declared('2025-11-25', { transport: 'http' })).tasks).toEqual(withoutList);
  const guest = { transport: 'http', principal: { id: 'guest' } } as const;
  expect((await declared('2025-11-25', guest)).tasks).toBeUndefined();
  const discovered = await new TestClient(server).stateless('server/discover');
  expect(discovered.result.capabilities.extensions).toEqual({ 'io.modelcontextprotocol/tasks': {} });
  expect(discovered.result.capabilities.tasks).toBeUndefined();
});

test('input requests of a task are part of it on the stateless revision, and each key is used once', async () => {
  const server = serverWith();
  server.tool('greet', {
    task: { start: 'immediately' },
    run: async (_args, ctx) => {
      const first = await ctx.elicit('Who are you?', name, { key: 'who' });
      return first.action === 'accept' ? `hello ${first.content.name}` : first.action;
    },
  });
  const client = new TestClient(server);
  const can = { ...extension, elicitation: {} };
  const { taskId } = (await client.stateless('tools/call', { name: 'greet' }, can)).result;
  const get = () => client.stateless('tasks/get', { taskId }, can);
  const asked = await until('input_required', get);
  expect(Object.keys(asked.result.inputRequests)).toEqual(['who']);
  const update = (inputResponses: object) => client.stateless('tasks/update', { taskId, inputResponses }, can);
  expect((await update({ stranger: { action: 'accept' } })).result.resultType).toBe('complete');
  await update({ who: { action: 'accept', content: { name: 7 } } });
  const again = await until('input_required', get);
  expect(Object.keys(again.result.inputRequests)).toEqual(['who#2']);
  await update({ 'who#2': { action: 'accept', content: { name: 'Ada' } } });
  expect((await until('completed', get)).result.result.content[0].text).toBe('hello Ada');
});

test('input requests of a task are requests of their own on 2025-11-25', async () => {
  const server = serverWith();
  server.tool('greet', {
    task: 'required',
    run: async (_args, ctx) => {
      const first = await ctx.elicit('Who are you?', name);
      return first.action === 'accept' ? `hello ${first.content.name}` : first.action;
    },
  });
  const client = await TestClient.open(server, '2025-11-25', { elicitation: {} });
  const { taskId, status } = (await client.request('tools/call', { name: 'greet', task: {} })).result.task;
  expect(status).toBe('working');
  const asked = await client.next((each) => each.method === 'elicitation/create');
  expect(asked.params._meta).toEqual({ 'io.modelcontextprotocol/related-task': { taskId } });
  expect((await client.request('tasks/get', { taskId })).result.status).toBe('input_required');
  client.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'accept', content: { name: 'Ada' } } });
  const { result } = await client.request('tasks/result', { taskId });
  expect(result.content[0].text).toBe('hello Ada');
  expect(result._meta).toEqual({ 'io.modelcontextprotocol/related-task': { taskId } });
});

test('input before the task is a retry of the call, and is not requested again within the task', async () => {
  const server = serverWith();
  let starts = 0;
  server.tool('greet', {
    task: { start: 'on-detach' },
    run: async (_args, ctx) => {
      starts++;
      const first = await ctx.elicit('Who are you?', name, { key: 'who' });
      await ctx.detach();
      const second = await ctx.elicit('And your friend?', name, { key: 'friend' });
      const names = [first, second].map((each) => (each.action === 'accept' ? each.content.name : each.action));
      return names.join(' and ');
    },
  });
  const client = new TestClient(server);
  const can = { ...extension, elicitation: {} };
  const asked = await client.stateless('tools/call', { name: 'greet' }, can);
  expect(asked.result.resultType).toBe('input_required');
  const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
  const { requestState } = asked.result;
  const created = await client.stateless('tools/call', { name: 'greet', inputResponses, requestState }, can);
  expect(created.result.resultType).toBe('task');
  expect(created.result.requestState).toBeUndefined();
  const { taskId } = created.result;
  const get = () => client.stateless('tasks/get', { taskId }, can);
  expect(Object.keys((await until('input_required', get)).result.inputRequests)).toEqual(['friend']);
  const friend = { action: 'accept', content: { name: 'Bob' } };
  await client.stateless('tasks/update', { taskId, inputResponses: { friend } }, can);
  expect((await until('completed', get)).result.result.content[0].text).toBe('Ada and Bob');
  expect(starts).toBe(2);
});

test('errors: results that report one, wire errors, and how each revision shows them', async () => {
  const server = serverWith();
  const { WireError } = await import('../../src/index.ts');
  server.tool('fails', {
    task: { start: 'immediately' },
    run: () => {
      throw new Error('out of paper');
    },
  });
  server.tool('breaks', {
    task: { start: 'immediately' },
    run: () => {
      throw new WireError('internal', 'no connection', { data: { retry: false } });
    },
  });
  const client = await TestClient.open(server);
  const start = async (tool: string): Promise<string> =>
    (await client.request('tools/call', { name: tool, task: {} })).result.task.taskId;
  const failed = await start('fails');
  const oldView = await until('failed', () => client.request('tasks/get', { taskId: failed }));
  expect(oldView.result.statusMessage).toBe('out of paper');
  expect((await client.request('tasks/result', { taskId: failed })).result.isError).toBe(true);
  const newView = await client.stateless('tasks/get', { taskId: failed }, extension);
  expect(newView.result).toMatchObject({ status: 'completed', result: { isError: true } });
  expect(JSON.stringify(newView)).not.toContain('related-task');

  const broken = await start('breaks');
  await until('failed', () => client.request('tasks/get', { taskId: broken }));
  const error = { code: -32603, message: 'no connection', data: { retry: false } };
  expect((await client.request('tasks/result', { taskId: broken })).error).toEqual(error);
  const view = await client.stateless('tasks/get', { taskId: broken }, extension);
  expect(view.result).toMatchObject({ status: 'failed', error, statusMessage: 'no connection' });
  expect(view.result.result).toBeUndefined();
});

test('cancel on 2025-11-25: the task is cancelled at once and stays so', async () => {
  const server = serverWith();
  const slow = gate();
  let reason: unknown;
  server.tool('work', {
    task: 'required',
    run: (_args, ctx) => {
      ctx.signal.addEventListener('abort', () => (reason = ctx.signal.reason.message));
      return slow.passed;
    },
  });
  const client = await TestClient.open(server);
  const { taskId } = (await client.request('tools/call', { name: 'work', task: {} })).result.task;
  const waiting = client.request('tasks/result', { taskId });
  expect((await client.request('tasks/cancel', { taskId })).result.status).toBe('cancelled');
  expect(reason).toBe('cancelled');
  expect((await waiting).error).toMatchObject({ code: -32603, data: { status: 'cancelled' } });
  slow.open('too late');
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect((await client.request('tasks/get', { taskId })).result.status).toBe('cancelled');
  expect((await client.request('tasks/cancel', { taskId })).error?.code).toBe(-32602);
});

test('cancel on the stateless revision is a request: the handler may still succeed, and has limited time', async () => {
  const server = serverWith({ tasks: { limits: { cancelGraceMs: 20 } } });
  const slow = gate();
  const stubborn = gate();
  server.tool('polite', { task: 'required', run: () => slow.passed });
  server.tool('stubborn', { task: 'required', run: () => stubborn.passed });
  server.tool('obedient', {
    task: 'required',
    run: (_args, ctx) =>
      new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
  });
  const client = new TestClient(server);
  const start = async (tool: string): Promise<string> =>
    (await client.stateless('tools/call', { name: tool }, extension)).result.taskId;
  const cancel = (taskId: string) => client.stateless('tasks/cancel', { taskId }, extension);
  const get = (taskId: string) => () => client.stateless('tasks/get', { taskId }, extension);
  const polite = await start('polite');
  expect((await cancel(polite)).result.resultType).toBe('complete');
  slow.open('finished anyway');
  await until('completed', get(polite));
  expect((await cancel(polite)).error).toBeUndefined();
  const obedient = await start('obedient');
  await cancel(obedient);
  await until('cancelled', get(obedient));
  const forced = await start('stubborn');
  await cancel(forced);
  await until('cancelled', get(forced));
});

test('unknown, malformed and foreign ids get the same error', async () => {
  const server = serverWith();
  server.tool('work', { task: 'required', run: () => 'done' });
  const ada = { transport: 'http', principal: { id: 'ada' } } as const;
  const bob = { transport: 'http', principal: { id: 'bob' } } as const;
  const mine = await TestClient.open(server, '2025-11-25', {}, ada);
  const { taskId } = (await mine.request('tools/call', { name: 'work', task: {} })).result.task;
  const other = await TestClient.open(server, '2025-11-25', {}, bob);
  const errors = [];
  for (const id of [taskId, 'a'.repeat(32), 'short', '../../etc']) {
    for (const method of ['tasks/get', 'tasks/result', 'tasks/cancel']) {
      errors.push((await other.request(method, { taskId: id })).error);
    }
    errors.push((await other.stateless('tasks/get', { taskId: id }, extension)).error);
    errors.push((await other.stateless('tasks/update', { taskId: id, inputResponses: {} }, extension)).error);
  }
  expect(new Set(errors.map((each) => JSON.stringify(each)))).toEqual(
    new Set(['{"code":-32602,"message":"Task not found"}']),
  );
  expect((await other.request('tasks/list')).result.tasks).toEqual([]);
  // Another session of the same principal.
  const again = await TestClient.open(server, '2025-11-25', {}, ada);
  expect((await again.request('tasks/result', { taskId })).result.content[0].text).toBe('done');
  expect((await again.request('tasks/list')).result.tasks).toHaveLength(1);
});

test('a request of the extension needs the extension, and methods of the other dialect do not exist', async () => {
  const server = serverWith();
  server.tool('work', { task: 'optional', run: () => 'done' });
  const client = await TestClient.open(server);
  const taskId = 'a'.repeat(32);
  for (const [method, params] of [
    ['tasks/get', { taskId }],
    ['tasks/update', { taskId, inputResponses: {} }],
    ['tasks/cancel', { taskId }],
    ['subscriptions/listen', { notifications: { taskIds: [taskId] } }],
  ] as const) {
    const { error } = await client.stateless(method, params, { tasks: { list: {} } });
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: extension } });
  }
  for (const method of ['tasks/result', 'tasks/list']) {
    expect((await client.stateless(method, { taskId }, extension)).error?.code).toBe(-32601);
  }
  expect((await client.request('tasks/update', { taskId, inputResponses: {} })).error?.code).toBe(-32601);
  expect((await client.request('tasks/list', { cursor: 'made-up' })).error?.code).toBe(-32602);
  const bad = await client.request('tools/call', { name: 'work', task: { ttl: 'long' } });
  expect(bad.error?.code).toBe(-32602);
});

test('progress is the status message, and a notification on 2025-11-25 only', async () => {
  const server = serverWith();
  const slow = gate();
  server.tool('work', {
    task: { start: 'immediately' },
    run: async (_args, ctx) => {
      await ctx.progress(1, 3, 'heating');
      ctx.log('warning', 'hot');
      return slow.passed;
    },
  });
  const client = await TestClient.open(server);
  const { taskId } = (await client.request('tools/call', { name: 'work', task: {}, _meta: { progressToken: 'p' } }))
    .result.task;
  const progress = await client.next((each) => each.method === 'notifications/progress');
  const related = { 'io.modelcontextprotocol/related-task': { taskId } };
  expect(progress.params).toEqual({ progressToken: 'p', progress: 1, total: 3, message: 'heating', _meta: related });
  const log = await client.next((each) => each.method === 'notifications/message');
  expect(log.params).toEqual({ level: 'warning', data: 'hot', _meta: related });
  const changed = await client.next((each) => each.method === 'notifications/tasks/status');
  expect(changed.params).toMatchObject({ taskId, status: 'working', statusMessage: 'heating' });
  expect(changed.params._meta).toBeUndefined();
  slow.open('done');
  await client.next((each) => each.params?.status === 'completed');

  const stateless = new TestClient(server);
  await stateless.stateless('tools/call', { name: 'work', _meta: { progressToken: 'q' } }, extension);
  await until('completed', () => client.stateless('tasks/get', { taskId }, extension));
  expect(stateless.received.filter((each) => each.method !== undefined)).toEqual([]);
});

test('a subscription to tasks is told of the current state and of each change', async () => {
  const server = serverWith();
  const slow = gate();
  server.tool('work', { task: 'required', run: () => slow.passed });
  const client = new TestClient(server);
  const { taskId } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
  const notifications = { taskIds: [taskId, 'b'.repeat(32)] };
  void client.stateless('subscriptions/listen', { notifications }, extension);
  const acknowledged = await client.next((each) => each.method === 'notifications/subscriptions/acknowledged');
  expect(acknowledged.params.notifications).toEqual({ taskIds: [taskId] });
  slow.open('done');
  const changed = await client.next((each) => each.method === 'notifications/tasks');
  expect(changed.params).toMatchObject({ taskId, status: 'completed', result: { content: [{ text: 'done' }] } });
  expect(changed.params._meta['io.modelcontextprotocol/subscriptionId']).toBeDefined();
  const late = new TestClient(server);
  void late.stateless('subscriptions/listen', { notifications }, extension);
  expect((await late.next((each) => each.method === 'notifications/tasks')).params.status).toBe('completed');
});

test('a subscription to many tasks is told of all of them, without a warning of the platform', async () => {
  const server = serverWith();
  const slow = gate();
  server.tool('work', { task: 'required', run: () => slow.passed });
  const client = new TestClient(server);
  const start = async () => (await client.stateless('tools/call', { name: 'work' }, extension)).result.taskId as string;
  const taskIds = await Promise.all(Array.from({ length: 30 }, start));
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warned);
  try {
    void client.stateless('subscriptions/listen', { notifications: { taskIds } }, extension);
    const acknowledged = await client.next((each) => each.method === 'notifications/subscriptions/acknowledged');
    expect(acknowledged.params.notifications).toEqual({ taskIds });
    slow.open('done');
    const ended = () => client.received.filter((each) => each.params?.status === 'completed');
    await expect.poll(() => new Set(ended().map((each) => each.params.taskId))).toEqual(new Set(taskIds));
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', warned);
  }
});

test('a lost connection cancels no task, and the caller finds it again', async () => {
  const server = serverWith();
  const slow = gate();
  server.tool('work', { task: 'required', run: () => slow.passed });
  const client = await TestClient.open(server);
  const { taskId } = (await client.request('tools/call', { name: 'work', task: {} })).result.task;
  client.channel.close();
  const again = await TestClient.open(server);
  const waiting = again.request('tasks/result', { taskId });
  slow.open('done');
  expect((await waiting).result.content[0].text).toBe('done');
});

test('an input request that was lost with its connection is sent again on the next one', async () => {
  const server = serverWith();
  server.tool('greet', {
    task: 'required',
    run: async (_args, ctx) => (await ctx.elicit('Who are you?', name)).action,
  });
  const client = await TestClient.open(server, '2025-11-25', { elicitation: {} });
  const { taskId } = (await client.request('tools/call', { name: 'greet', task: {} })).result.task;
  const lost = await client.next((each) => each.method === 'elicitation/create');
  client.channel.close();
  const again = await TestClient.open(server, '2025-11-25', { elicitation: {} });
  const waiting = again.request('tasks/result', { taskId });
  const asked = await again.next((each) => each.method === 'elicitation/create');
  expect(asked.id).not.toBe(lost.id);
  again.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'decline' } });
  expect((await waiting).result.content[0].text).toBe('decline');
});

test('another caller cannot respond to an input request', async () => {
  const server = serverWith();
  server.tool('greet', {
    task: 'required',
    run: async (_args, ctx) => (await ctx.elicit('Who are you?', name)).action,
  });
  const ada = { transport: 'http', principal: { id: 'ada' } } as const;
  const bob = { transport: 'http', principal: { id: 'bob' } } as const;
  const client = await TestClient.open(server, '2025-11-25', { elicitation: {} }, ada);
  const { taskId } = (await client.request('tools/call', { name: 'greet', task: {} })).result.task;
  const asked = await client.next((each) => each.method === 'elicitation/create');
  const other = await TestClient.open(server, '2025-11-25', {}, bob);
  other.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'cancel' } });
  await other.request('ping');
  expect((await client.request('tasks/get', { taskId })).result.status).toBe('input_required');
  client.send({ jsonrpc: '2.0', id: asked.id, result: { action: 'decline' } });
  expect((await client.request('tasks/result', { taskId })).result.content[0].text).toBe('decline');
});

test('limits: optional tools run inline, required ones are rejected', async () => {
  const server = serverWith({ tasks: { limits: { maxActivePerCaller: 1 } } });
  const slow = gate();
  server.tool('work', { task: 'required', run: () => slow.passed });
  server.tool('quick', { task: { start: 'immediately' }, run: () => 'done' });
  const client = new TestClient(server);
  expect(kindOf(await client.stateless('tools/call', { name: 'work' }, extension))).toBe('task');
  expect((await client.stateless('tools/call', { name: 'work' }, extension)).error?.message).toContain(
    'Too many tasks',
  );
  expect(kindOf(await client.stateless('tools/call', { name: 'quick' }, extension))).toBe('result');
  slow.open('done');
});

test('tasks beyond a limit are one log line, not one each', async () => {
  const warn = vi.fn();
  const server = serverWith({ tasks: { limits: { maxActivePerCaller: 1 } }, logger: { ...silentLogger, warn } });
  const slow = gate();
  server.tool('work', { task: { start: 'immediately' }, run: () => slow.passed });
  server.tool('quick', { task: { start: 'immediately' }, run: () => 'done' });
  const client = new TestClient(server);
  await client.stateless('tools/call', { name: 'work' }, extension);
  for (let n = 0; n < 3; n++) await client.stateless('tools/call', { name: 'quick' }, extension);
  const lines = warn.mock.calls.filter(([text]) => text === 'a task could not be created; the client waits instead');
  expect(lines).toEqual([[expect.any(String), expect.objectContaining({ tool: 'quick' })]]);
  slow.open('done');
});

test('an outcome that is too large fails the task', async () => {
  const server = serverWith({ tasks: { limits: { maxOutcomeBytes: 100 } } });
  server.tool('work', { task: 'required', run: () => 'x'.repeat(200) });
  const client = new TestClient(server);
  const { taskId } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
  const { result } = await until('failed', () => client.stateless('tasks/get', { taskId }, extension));
  expect(result.error.message).toContain('exceeds 100 bytes');
});

test('a second call with the same key gets the task of the first', async () => {
  const server = serverWith();
  const slow = gate();
  let starts = 0;
  server.tool('work', {
    input: { type: 'object', properties: { order: { type: 'string' } } },
    task: { dedupe: ({ order }: { order: string }) => order },
    run: () => {
      starts++;
      return slow.passed;
    },
  });
  const client = new TestClient(server);
  const call = async (order: string): Promise<string> =>
    (await client.stateless('tools/call', { name: 'work', arguments: { order } }, extension)).result.taskId;
  const first = await call('1');
  expect(await call('1')).toBe(first);
  expect(await call('2')).not.toBe(first);
  // Its handler may start in a later turn.
  await expect.poll(() => starts).toBe(2);
  slow.open('done');
});

test('middleware sees the result of a task, and observers each of its changes', async () => {
  const server = serverWith();
  server.around(async (request, next) => {
    const result = await next();
    return request.method === 'tools/call' ? { content: [{ type: 'text', text: 'replaced' }] } : result;
  });
  const events: string[] = [];
  const outcomes: string[] = [];
  server.observe({
    taskChanged: ({ type }) => void events.push(type),
    ended: ({ request, outcome }) => void (request.method === 'tools/call' && outcomes.push(outcome)),
  });
  server.tool('work', { task: 'required', run: () => 'done' });
  const client = new TestClient(server);
  const { taskId } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
  const { result } = await until('completed', () => client.stateless('tasks/get', { taskId }, extension));
  expect(result.result.content[0].text).toBe('replaced');
  expect(events).toEqual(['created', 'ended']);
  expect(outcomes).toEqual(['detached']);
});

test('work of another system ends when it is settled, or polled', async () => {
  const server = serverWith();
  server.tool('hand_over', { task: { start: 'external' }, run: (_args, ctx) => ctx.external('job-1') });
  let polls = 0;
  server.tool('polled', {
    task: {
      start: 'external',
      pollMs: [20, 20],
      poll: (ticket) =>
        ++polls < 2 ? { status: 'working', message: 'half' } : { status: 'completed', result: `${ticket} done` },
    },
    run: (_args, ctx) => ctx.external('job-2'),
  });
  const client = new TestClient(server);
  const start = async (tool: string): Promise<string> =>
    (await client.stateless('tools/call', { name: tool }, extension)).result.taskId;
  const get = (taskId: string) => () => client.stateless('tasks/get', { taskId }, extension);
  const [settled, polled] = [await start('hand_over'), await start('polled')];
  await server.tasks.touch(settled, { message: 'queued elsewhere' });
  expect((await get(settled)()).result).toMatchObject({ status: 'working', statusMessage: 'queued elsewhere' });
  expect((await server.tasks.get(settled))?.phase).toBe('external');
  expect(await server.tasks.settle(settled, { status: 'completed', result: 'shipped' })).toBe(true);
  expect(await server.tasks.settle(settled, { status: 'failed', message: 'late' })).toBe(false);
  expect((await get(settled)()).result.result.content[0].text).toBe('shipped');
  expect((await until('completed', get(polled))).result.result.content[0].text).toBe('job-2 done');
});
