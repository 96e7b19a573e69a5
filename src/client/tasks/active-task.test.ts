import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../connect.ts';
import { ClientError } from '../errors.ts';
import type { ConnectOptions } from '../options.ts';
import { type ScriptedAnswer, ScriptedServer, type Sent, scriptError } from '../testing/scripted-server.ts';
import { pollPauseMs } from './poll-interval.ts';
// Loaded by the client with its first task; here before the clock is stopped.
import './task-tracker.ts';

const extension = 'io.modelcontextprotocol/tasks';
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';
const subscriptionKey = 'io.modelcontextprotocol/subscriptionId';
const done = { content: [{ type: 'text', text: 'done' }] };
const form = (message: string) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: { type: 'object', properties: {} } },
});

/** A task of the extension, as `tasks/get` returns it. */
const task = (status: string, more: object = {}) => ({
  resultType: 'complete',
  taskId: 't1',
  status,
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: 60_000,
  pollIntervalMs: 1_000,
  ...more,
});
const created = (more: object = {}) => ({ ...task('working'), resultType: 'task', ...more });

/** A server with the extension. `states` are what `tasks/get` returns, one after the other; the last one stays. */
function taskServer(states: readonly object[], answers: Record<string, ScriptedAnswer> = {}, mirrors = false) {
  let next = 0;
  return new ScriptedServer(
    'stateless',
    {
      'server/discover': () => ({
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: {}, resources: {}, extensions: { [extension]: {} } },
      }),
      'tools/call': () => created(),
      'tasks/get': () => states[Math.min(next++, states.length - 1)] as Record<string, unknown>,
      'tasks/update': () => ({ resultType: 'complete' }),
      'tasks/cancel': () => ({ resultType: 'complete' }),
      ...answers,
    },
    mirrors,
  );
}

const clientOf = (server: ScriptedServer, options: ConnectOptions = {}) => connect(server.target, options);

/** What a promise rejects with. It is watched at once: the clock moves before the test looks. */
function failure(promise: Promise<unknown>): Promise<ClientError> {
  return promise.then(
    () => expect.unreachable('should have failed'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(ClientError);
      return error as ClientError;
    },
  );
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('a call that becomes a task is polled at the interval of the server and returns the final result', async () => {
  const server = taskServer(
    [task('working'), task('completed', { result: { ...done, resultType: 'complete' } })],
    {},
    true,
  );
  const client = await clientOf(server);
  const seen: string[] = [];
  const result = client.callTool('slow', {}, { onTask: (handle) => seen.push(handle.id as string) });
  await pass(990);
  expect(server.of('tasks/get')).toHaveLength(0);
  await pass(120);
  expect(server.of('tasks/get')).toHaveLength(1);
  await pass(1_100);
  expect(await result).toMatchObject(done);
  expect(seen).toEqual(['t1']);
  const [call, get] = [server.of('tools/call')[0], server.of('tasks/get')[0]] as [Sent, Sent];
  expect(call.params?._meta?.[capabilitiesKey]).toEqual({ extensions: { [extension]: {} } });
  expect(get.params?._meta?.[capabilitiesKey]).toEqual({ extensions: { [extension]: {} } });
  expect(server.headers[server.sent.indexOf(get)]).toEqual(['Mcp-Method', 'tasks/get', 'Mcp-Name', 't1']);
});

test('an interval has a minimum, a maximum, a default, and a random part that never makes it shorter', () => {
  const table: [number | undefined, number][] = [
    [0, 100],
    [-5, 100],
    [Number.NaN, 1_000],
    [undefined, 1_000],
    [5_000, 5_000],
    [3_600_000, 30_000],
    [Number.POSITIVE_INFINITY, 30_000],
  ];
  for (const [wanted, ms] of table) {
    expect(pollPauseMs(wanted, () => 0)).toBe(ms);
    expect(pollPauseMs(wanted, () => 1)).toBeCloseTo(ms * 1.1);
  }
});

test('with task: never the extension is not declared, and a task is not a valid response', async () => {
  const server = taskServer([]);
  const client = await clientOf(server, { capabilities: { extensions: { 'com.example/x': {} } } });
  expect(await failure(client.callTool('slow', {}, { task: 'never' }))).toMatchObject({
    code: 'invalid-result',
    message: 'The result of tools/call is not valid: it is a task, which was not requested',
  });
  const [call] = server.of('tools/call') as [Sent];
  expect(call.params?._meta?.[capabilitiesKey]).toEqual({ extensions: { 'com.example/x': {} } });
});

test('a task is not a valid response to another method', async () => {
  const server = taskServer([], { 'resources/read': () => created(), 'tasks/get': () => created() });
  const client = await clientOf(server);
  expect((await failure(client.readResource('demo://x'))).code).toBe('invalid-result');
  expect((await failure(client.tasks.attach('t1'))).message).toContain('which was not requested');
});

const { ttlMs: _ttl, ...withoutTtl } = task('working');
const invalid: [string, object, RegExp][] = [
  ['no ttl', withoutTtl, /"ttlMs" is neither a number nor null/],
  ['a ttl that is a text', task('working', { ttlMs: '1h' }), /"ttlMs"/],
  ['an unknown status', task('sleeping'), /the status "sleeping" is not known/],
  ['no id', task('working', { taskId: undefined }), /"taskId" is not a string/],
  ['no times', task('working', { createdAt: 5 }), /"createdAt" and "lastUpdatedAt"/],
  ['an interval that is a text', task('working', { pollIntervalMs: 'often' }), /"pollIntervalMs" is not a number/],
];

test.each(invalid)('a created task with %s is rejected', async (_name, fields, why) => {
  const server = taskServer([], { 'tools/call': () => ({ ...fields, resultType: 'task' }) });
  const client = await clientOf(server);
  const error = await failure(client.callTool('slow'));
  expect(error).toMatchObject({ code: 'invalid-result', message: expect.stringMatching(why) });
});

test.each([
  ...invalid,
  ['the status completed without a result', task('completed'), /completed, but "result"/],
  ['the status failed without an error', task('failed', { error: {} }), /failed, but "error"/],
  ['no input requests', task('input_required'), /inputRequests is not an object/],
  ['an input request without a method', task('input_required', { inputRequests: { a: {} } }), /inputRequests.a/],
  ['the id of another task', task('working', { taskId: 't2' }), /another task/],
] as typeof invalid)('the state of a task with %s is rejected', async (_name, fields, why) => {
  const client = await clientOf(taskServer([fields]));
  const error = failure(client.callTool('slow'));
  await pass(2_000);
  expect(await error).toMatchObject({ code: 'invalid-result', message: expect.stringMatching(why) });
});

test('a task that was created in another status than working is read first', async () => {
  const server = taskServer([task('completed', { result: done })], {
    'tools/call': () => created({ status: 'completed' }),
  });
  const result = (await clientOf(server)).callTool('slow');
  await pass(0);
  expect(await result).toEqual(done);
});

test('how a task ends is how the call ends', async () => {
  const ends = async (state: object) => {
    const client = await clientOf(taskServer([state]));
    const ended = client.callTool('slow').catch((error: unknown) => error as ClientError);
    await pass(1_200);
    return ended;
  };
  const tool = { ...done, isError: true };
  expect(await ends(task('completed', { result: tool }))).toEqual(tool);
  expect(await ends(task('failed', { error: { code: -32050, message: 'No space', data: 7 } }))).toMatchObject({
    code: 'server-error',
    message: 'Task "t1" failed: No space (-32050)',
    serverError: { code: -32050, data: 7 },
  });
  expect(await ends(task('cancelled', { statusMessage: 'by an operator' }))).toMatchObject({
    code: 'task-cancelled',
    message: 'Task "t1" was cancelled: by an operator',
  });
  expect(await ends(task('completed', { result: { content: 'x' } }))).toMatchObject({ code: 'invalid-result' });
});

test('the result of a task is checked against the output schema of the tool', async () => {
  const server = taskServer([task('completed', { result: { ...done, structuredContent: { n: 'x' } } })], {
    'tools/list': () => ({
      resultType: 'complete',
      tools: [
        { name: 'slow', inputSchema: {}, outputSchema: { type: 'object', properties: { n: { type: 'number' } } } },
      ],
    }),
  });
  const client = await clientOf(server);
  await client.listTools();
  const error = failure(client.callTool('slow'));
  await pass(1_200);
  expect((await error).code).toBe('invalid-structured-content');
});

test('a task that the server does not have any more ends the wait', async () => {
  const states = [task('working')];
  const server = taskServer(states, {
    'tasks/get': () => (states.length === 0 ? scriptError(-32602, 'Task not found') : states.pop()),
  });
  const client = await clientOf(server);
  const error = failure(client.callTool('slow'));
  await pass(2_300);
  expect(await error).toMatchObject({ code: 'task-gone', serverError: { code: -32602 } });
  expect((await failure(client.tasks.attach('t1'))).code).toBe('task-gone');
});

test('input requests are answered as the answers come, each once', async () => {
  const inputRequests = { name: form('name?'), age: form('age?') };
  const asked: string[] = [];
  let answerAge = (): void => {};
  const late = new Promise<void>((resolve) => {
    answerAge = resolve;
  });
  const states = [
    task('input_required', { inputRequests }),
    task('input_required', { inputRequests }),
    task('input_required', { inputRequests: { age: inputRequests.age } }),
    task('working'),
    task('completed', { result: done }),
  ];
  const server = taskServer(states);
  const client = await clientOf(server, {
    handlers: {
      elicit: async ({ message }) => {
        asked.push(message);
        if (message === 'age?') await late;
        return { action: 'accept', content: { value: message } };
      },
    },
  });
  const result = client.callTool('slow');
  await pass(3_400);
  const updates = () => server.of('tasks/update').map(({ params }) => params?.['inputResponses']);
  expect(updates()).toEqual([{ name: { action: 'accept', content: { value: 'name?' } } }]);
  answerAge();
  await pass(2_300);
  expect(await result).toEqual(done);
  expect(updates()).toHaveLength(2);
  expect(updates()[1]).toEqual({ age: { action: 'accept', content: { value: 'age?' } } });
  expect(asked).toEqual(['name?', 'age?']);
});

test('a handler is told when the task does not need its answer any more', async () => {
  const server = taskServer([
    task('input_required', { inputRequests: { name: form('name?') } }),
    task('completed', { result: done }),
  ]);
  let aborted = false;
  const client = await clientOf(server, {
    handlers: {
      elicit: (_request, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted = true;
            resolve({ action: 'cancel' });
          });
        }),
    },
  });
  const result = client.callTool('slow');
  await pass(2_300);
  expect(await result).toEqual(done);
  expect(aborted).toBe(true);
  expect(server.of('tasks/update')).toEqual([]);
});

test('a key that is used for two input requests is not a valid response', async () => {
  const server = taskServer([
    task('input_required', { inputRequests: { a: form('first?') } }),
    task('input_required', { inputRequests: { a: form('second?') } }),
  ]);
  const client = await clientOf(server, { handlers: { elicit: () => ({ action: 'decline' }) } });
  const error = failure(client.callTool('slow'));
  await pass(2_300);
  expect(await error).toMatchObject({
    code: 'invalid-result',
    message: expect.stringContaining('"a" is used for two'),
  });
});

test('a task that asks without end is not answered without end', async () => {
  let n = 0;
  const server = taskServer([], {
    'tasks/get': () =>
      task('input_required', {
        pollIntervalMs: 100,
        inputRequests: Object.fromEntries(Array.from({ length: 50 }, () => [`k${n++}`, form('more?')])),
      }),
  });
  const client = await clientOf(server, { handlers: { elicit: () => ({ action: 'decline' }) } });
  const error = failure(client.callTool('slow'));
  await pass(2_000);
  expect((await error).message).toContain('more than 256 input requests');
});

test('input that this client cannot give ends the call and cancels the task', async () => {
  const server = taskServer([task('input_required', { inputRequests: { a: form('first?') } })]);
  const error = failure((await clientOf(server)).callTool('slow'));
  await pass(1_200);
  expect((await error).code).toBe('input-unavailable');
  await pass(0);
  expect(server.of('tasks/cancel')).toHaveLength(1);
});

test('an abort cancels the task, and not the request that created it', async () => {
  const server = taskServer([task('working')]);
  const stop = new AbortController();
  const error = failure((await clientOf(server)).callTool('slow', {}, { signal: stop.signal }));
  await pass(1_200);
  stop.abort(new Error('enough'));
  expect(await error).toMatchObject({ code: 'cancelled', message: 'tools/call was cancelled by the caller' });
  await pass(0);
  expect(server.of('tasks/cancel').map(({ params }) => params?.['taskId'])).toEqual(['t1']);
  expect(server.of('notifications/cancelled')).toEqual([]);
  await pass(60_000);
  expect(server.of('tasks/get')).toHaveLength(1);
});

test('an abort before the task is known to the caller cancels it too', async () => {
  const stop = new AbortController();
  const server = taskServer([task('working')], {
    'tools/call': () => {
      queueMicrotask(() => queueMicrotask(() => stop.abort()));
      return created();
    },
  });
  expect((await failure((await clientOf(server)).callTool('slow', {}, { signal: stop.signal }))).code).toBe(
    'cancelled',
  );
  await pass(0);
  expect(server.of('tasks/cancel')).toHaveLength(1);
});

test('only a limit of the call itself limits the time of a task', async () => {
  const server = taskServer([task('working', { ttlMs: null })]);
  const client = await clientOf(server, { timeoutMs: 1_000, maxTimeoutMs: 5_000 });
  const patient = client.callTool('slow').catch((error: unknown) => error);
  const error = failure(client.callTool('slow', {}, { maxTimeoutMs: 20_000 }));
  await pass(19_000);
  expect(server.of('tasks/cancel')).toEqual([]);
  await pass(2_000);
  expect((await error).code).toBe('timeout');
  expect(server.of('tasks/cancel')).toHaveLength(1);
  await client.close();
  expect(await patient).toMatchObject({ code: 'closed' });
  expect(server.of('tasks/cancel')).toHaveLength(1);
});

test('a lost connection does not end the wait', async () => {
  let breaks = 4;
  const server = taskServer([], {
    'tasks/get': (_message, self) => {
      if (breaks-- <= 0) return task('completed', { result: done });
      self.break();
      return undefined;
    },
  });
  const client = await clientOf(server);
  const result = client.callTool('slow');
  await pass(10_000);
  expect(await result).toEqual(done);
  expect(server.connections).toBe(5);
});

test('a server that asks for patience is asked again later', async () => {
  let times = 0;
  const server = taskServer([], {
    'tasks/get': () =>
      ++times === 1
        ? scriptError(-32603, 'The store is away', { retryAfterMs: 3_000 })
        : task('completed', { result: done }),
  });
  const result = (await clientOf(server)).callTool('slow');
  await pass(3_500);
  expect(times).toBe(1);
  await pass(1_500);
  expect(await result).toEqual(done);
});

test('an unreachable server ends the wait a minute after the task may be gone', async () => {
  let reachable = true;
  const server = taskServer([task('working', { ttlMs: 5_000 })]);
  const client = await connect(() => {
    const transport = server.target();
    return { ...transport, open: (listener) => (reachable ? transport.open(listener) : Promise.reject(lost)) };
  });
  const lost = new ClientError('connect-failed', 'no route');
  const error = failure(client.callTool('slow'));
  let ended = false;
  void error.then(() => {
    ended = true;
  });
  await pass(1_200);
  reachable = false;
  server.break();
  await pass(60_000);
  expect(ended).toBe(false);
  await pass(60_000);
  expect((await error).code).toBe('connect-failed');
});

test('a server that does not accept the credentials any more ends the wait, whatever its Retry-After', async () => {
  const rejected = new ClientError('unauthorized', 'no', { serverError: { status: 403, retryAfterMs: 1_000 } });
  let isAccepted = true;
  const server = taskServer([task('working')]);
  const client = await connect(() => {
    const transport = server.target();
    return { ...transport, open: (listener) => (isAccepted ? transport.open(listener) : Promise.reject(rejected)) };
  });
  const error = failure(client.callTool('slow'));
  await pass(500);
  isAccepted = false;
  server.break();
  await pass(30_000);
  expect(await Promise.race([error, Promise.resolve('still waiting')])).toMatchObject({ code: 'unauthorized' });
});

test('without a way to reconnect, a lost connection ends the wait', async () => {
  const server = taskServer([task('working')]);
  const client = await clientOf(server, { reconnect: false });
  const error = failure(client.callTool('slow'));
  await pass(500);
  server.break();
  await pass(2_000);
  expect((await error).code).toBe('connection-lost');
});

test('a long task is followed by notifications, and polled now and then', async () => {
  const server = taskServer([task('working')], {
    'subscriptions/listen': ({ id, params }, self) => {
      const { notifications } = params as { notifications: object };
      const meta = { [subscriptionKey]: id };
      self.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications, _meta: meta } });
      return undefined;
    },
  });
  const client = await clientOf(server);
  const changes: (string | undefined)[] = [];
  const result = client.callTool(
    'slow',
    {},
    {
      onTask: (handle) => handle.onChange(({ info }) => changes.push(info?.statusMessage ?? info?.status)),
    },
  );
  await pass(1_900);
  expect(server.of('subscriptions/listen')).toEqual([]);
  await pass(1_000);
  const [listen] = server.of('subscriptions/listen') as [Sent];
  expect(listen.params?.['notifications']).toEqual({ taskIds: ['t1'] });
  const polls = server.of('tasks/get').length;
  // Every 30 s, with up to a tenth more or less.
  await pass(24_000);
  expect(server.of('tasks/get')).toHaveLength(polls);
  await pass(10_000);
  expect(server.of('tasks/get')).toHaveLength(polls + 1);
  const say = (state: object) => server.say({ method: 'notifications/tasks', params: { ...state } });
  say(task('working', { statusMessage: 'half', lastUpdatedAt: '2026-01-01T00:00:05Z' }));
  say(task('sleeping'));
  await pass(100);
  say(task('completed', { result: done }));
  await pass(0);
  expect(await result).toEqual(done);
  expect(changes).toEqual(['half', 'completed']);
  expect(server.of('notifications/cancelled').map(({ params }) => params?.['requestId'])).toEqual([listen.id]);
});

test('a task that is polled rarely is listened to as early as others', async () => {
  const rare = { pollIntervalMs: 20_000 };
  const server = taskServer([task('working', rare)], { 'tools/call': () => created(rare) });
  const stop = new AbortController();
  const error = failure((await clientOf(server)).callTool('slow', {}, { signal: stop.signal }));
  await pass(1_900);
  expect(server.of('subscriptions/listen')).toEqual([]);
  await pass(200);
  expect(server.of('subscriptions/listen')).toHaveLength(1);
  await pass(17_000);
  expect(server.of('tasks/get')).toEqual([]);
  await pass(3_500);
  expect(server.of('tasks/get')).toHaveLength(1);
  stop.abort();
  await error;
});

test('without notifications a long task is polled as before', async () => {
  const server = taskServer([task('working')], {
    'subscriptions/listen': ({ id }, self) => {
      const meta = { [subscriptionKey]: id };
      self.say({ method: 'notifications/subscriptions/acknowledged', params: { notifications: {}, _meta: meta } });
      return undefined;
    },
  });
  const stop = new AbortController();
  const error = failure((await clientOf(server)).callTool('slow', {}, { signal: stop.signal }));
  await pass(22_200);
  expect(server.of('subscriptions/listen')).toHaveLength(1);
  expect(server.of('tasks/get').length).toBeGreaterThanOrEqual(20);
  stop.abort();
  await error;
});

test('a started task can be followed by its id from another client', async () => {
  const server = taskServer([
    task('working'),
    task('working', { statusMessage: 'half' }),
    task('completed', { result: done }),
  ]);
  const first = await clientOf(server);
  const started = await first.tasks.start('slow', { n: 1 });
  expect([started.id, started.status]).toEqual(['t1', 'working']);
  await first.close();
  const second = await clientOf(server);
  const attached = await second.tasks.attach('t1');
  const changes: (string | undefined)[] = [];
  const stop = attached.onChange(({ status, info }) => changes.push(info?.statusMessage ?? status));
  expect(await attached.poll()).toBe('working');
  expect(attached.info).toMatchObject({ taskId: 't1', statusMessage: 'half', ttlMs: 60_000 });
  const results = [attached.wait(), attached.wait()];
  await pass(1_200);
  expect(await Promise.all(results)).toEqual([done, done]);
  expect(await attached.wait()).toEqual(done);
  expect(changes).toEqual(['half', 'completed']);
  stop();
  expect(server.of('tasks/cancel')).toEqual([]);
});

test('a wait can be ended without cancelling the task, and begun again', async () => {
  const server = taskServer([task('working'), task('working'), task('completed', { result: done })]);
  const started = await (await clientOf(server)).tasks.start('slow');
  const stop = new AbortController();
  const error = failure(started.wait({ signal: stop.signal }));
  await pass(1_200);
  stop.abort();
  expect((await error).code).toBe('cancelled');
  await pass(10_000);
  expect(server.of('tasks/get')).toHaveLength(1);
  expect(server.of('tasks/cancel')).toEqual([]);
  const result = started.wait();
  await pass(2_300);
  expect(await result).toEqual(done);
});

test('a server may return the result at once instead of a task', async () => {
  const server = taskServer([], { 'tools/call': () => ({ resultType: 'complete', ...done }) });
  const started = await (await clientOf(server)).tasks.start('quick');
  expect([started.id, started.info, started.status]).toEqual([undefined, undefined, 'completed']);
  expect(await started.wait()).toMatchObject(done);
});

test('the handlers can answer what a task waits for without waiting for its end', async () => {
  const server = taskServer([
    task('input_required', { inputRequests: { a: form('a?') } }),
    task('input_required', { inputRequests: { a: form('a?') } }),
    task('working'),
  ]);
  const client = await clientOf(server, { handlers: { elicit: () => ({ action: 'accept', content: {} }) } });
  const attached = await client.tasks.attach('t1');
  expect(await attached.answerInput()).toBe('working');
  expect(server.of('tasks/update')).toHaveLength(1);
});

test('what the server does not offer is rejected with a clear error', async () => {
  const plain = await clientOf(new ScriptedServer('stateless'));
  expect(await failure(plain.tasks.attach('t1'))).toMatchObject({ code: 'not-offered' });
  expect(await failure(plain.tasks.start('x'))).toMatchObject({ code: 'not-offered' });
  const listed = failure((await clientOf(taskServer([]))).tasks.list());
  expect((await listed).message).toContain('tasks/list does not exist in 2026-07-28');
  const old = await connect(new ScriptedServer('handshake').target, { revision: '2025-06-18' });
  expect((await failure(old.tasks.attach('t1'))).message).toContain('does not exist in 2025-06-18');
});
