// Tasks of 2025-11-25: the client requests them, and their input requests and results come by tasks/result.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from '../connect.ts';
import type { ClientError } from '../errors.ts';
import { type ScriptedAnswer, ScriptedServer, type Sent, scriptError } from '../testing/scripted-server.ts';
import './task-tracker.ts';

const relatedTask = 'io.modelcontextprotocol/related-task';
const done = { content: [{ type: 'text', text: 'done' }], _meta: { [relatedTask]: { taskId: 't1' } } };
const task = (status: string, more: object = {}) => ({
  taskId: 't1',
  status,
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
  pollInterval: 1_000,
  ...more,
});
const tool = (name: string, taskSupport?: string) => ({
  name,
  inputSchema: { type: 'object' },
  ...(taskSupport === undefined ? {} : { execution: { taskSupport } }),
});

function taskServer(states: readonly object[], answers: Record<string, ScriptedAnswer> = {}) {
  let next = 0;
  return new ScriptedServer('handshake', {
    initialize: () => ({
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } },
    }),
    'tools/list': () => ({
      tools: [tool('must', 'required'), tool('may', 'optional'), tool('not', 'forbidden'), tool('plain')],
    }),
    'tools/call': ({ params }) => (params?.['task'] === undefined ? { content: [] } : { task: task('working') }),
    'tasks/get': () => states[Math.min(next++, states.length - 1)] as Record<string, unknown>,
    'tasks/result': () => done,
    'tasks/cancel': () => task('cancelled'),
    ...answers,
  });
}

const failure = (promise: Promise<unknown>): Promise<ClientError> =>
  promise.then(
    () => expect.unreachable('should have failed'),
    (error: unknown) => error as ClientError,
  );

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

test('a task is requested where the tool requires it, or where it is optional and preferred', async () => {
  const server = taskServer([task('completed')]);
  const client = await connect(server.target);
  const calls: [string, 'never' | 'prefer' | undefined, boolean][] = [
    ['must', undefined, true],
    ['must', 'never', false],
    ['may', undefined, false],
    ['may', 'prefer', true],
    ['not', 'prefer', false],
    ['plain', 'prefer', false],
    ['unknown', 'prefer', false],
  ];
  for (const [name, choice, expected] of calls) {
    const result = client.callTool(name, {}, { task: choice });
    await pass(1_200);
    expect(await result).toEqual(expected ? done : { content: [] });
    expect('task' in (server.of('tools/call').at(-1)?.params ?? {})).toBe(expected);
  }
  expect(server.of('tools/list')).toHaveLength(1);
});

test('without the capability of the server there is no task, and no list is fetched', async () => {
  const server = taskServer([], {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {}, tasks: { list: {} } } }),
  });
  const client = await connect(server.target);
  await client.callTool('must', {}, { task: 'prefer' });
  expect(server.of('tools/call')[0]?.params).toEqual({ name: 'must', arguments: {} });
  expect(server.of('tools/list')).toEqual([]);
});

test('a started task has the lifetime that was asked for; a tool without tasks is not started as one', async () => {
  const server = taskServer([task('working')]);
  const client = await connect(server.target);
  const started = await client.tasks.start('may', { n: 1 }, { ttlMs: 5_000 });
  expect(server.of('tools/call')[0]?.params).toEqual({ name: 'may', arguments: { n: 1 }, task: { ttl: 5_000 } });
  expect(started.info).toMatchObject({ taskId: 't1', ttlMs: 60_000, pollIntervalMs: 1_000 });
  await started.cancel();
  expect(started.status).toBe('cancelled');
  expect((await failure(started.wait())).code).toBe('task-cancelled');
  expect((await failure(client.tasks.start('plain'))).message).toContain('does not offer tool "plain" as a task');
});

test('a server that ignores the wish for a task returns its result', async () => {
  const server = taskServer([], { 'tools/call': () => done });
  expect(await (await connect(server.target)).callTool('must')).toEqual(done);
  expect((await (await connect(server.target)).tasks.start('must')).id).toBeUndefined();
});

test('input requests of a task arrive while its result is awaited, and the responses name the task', async () => {
  let answered: Sent | undefined;
  let finish = (): void => {};
  const server = taskServer([], {
    'tasks/get': () => (answered === undefined ? task('input_required') : task('working')),
    'tasks/result': ({ id }, self) => {
      self.say({
        id: 'ask-1',
        method: 'elicitation/create',
        params: {
          message: 'name?',
          requestedSchema: { type: 'object', properties: {} },
          _meta: { [relatedTask]: { taskId: 't1' } },
        },
      });
      finish = () => self.say({ id, result: done });
      return undefined;
    },
  });
  const client = await connect(server.target, {
    handlers: { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) },
  });
  const result = client.callTool('must');
  await pass(1_200);
  // The validator of forms is loaded when it is first used.
  await vi.waitFor(() => expect(server.sent.some(({ id }) => id === 'ask-1')).toBe(true));
  answered = server.sent.find(({ id }) => id === 'ask-1');
  expect(answered?.result).toEqual({
    action: 'accept',
    content: { name: 'Ada' },
    _meta: { [relatedTask]: { taskId: 't1' } },
  });
  // As long as a person may need: the request for the result has no time limit.
  await pass(900_000);
  expect(server.of('tasks/result')).toHaveLength(1);
  finish();
  await pass(0);
  expect(await result).toEqual(done);
});

test('a request for the result that fails is made again after the next poll', async () => {
  let requests = 0;
  const states = [task('input_required'), task('input_required'), task('input_required'), task('completed')];
  const server = taskServer(states, {
    'tasks/result': () => (++requests <= 2 ? scriptError(-32603, 'Not now') : done),
  });
  const result = (await connect(server.target)).callTool('must');
  await pass(1_200);
  expect(requests).toBe(1);
  await pass(1_100);
  expect(requests).toBe(2);
  await pass(2_200);
  expect(await result).toEqual(done);
});

test('progress is reported under the token of the call for the life of the task', async () => {
  const server = taskServer([task('working'), task('completed')]);
  const client = await connect(server.target);
  const seen: number[] = [];
  const result = client.callTool('must', {}, { onProgress: ({ progress }) => seen.push(progress) });
  await pass(500);
  const token = server.of('tools/call')[0]?.params?._meta?.['progressToken'];
  const say = (progress: number) =>
    server.say({ method: 'notifications/progress', params: { progressToken: token, progress } });
  say(1);
  say(1);
  say(2);
  await pass(2_300);
  await result;
  say(3);
  expect(seen).toEqual([1, 2]);
});

test('how a task ends is how the call ends', async () => {
  const ends = async (state: object, result: ScriptedAnswer) => {
    const client = await connect(taskServer([state], { 'tasks/result': result }).target);
    const ended = client.callTool('must').catch((error: unknown) => error);
    await pass(1_200);
    return ended;
  };
  const tool = { ...done, isError: true };
  expect(await ends(task('failed'), () => tool)).toEqual(tool);
  expect(
    await ends(task('failed', { statusMessage: 'the disk is full' }), () => scriptError(-32603, 'Internal error')),
  ).toMatchObject({
    code: 'server-error',
    message: 'Task "t1" failed: Internal error (-32603); the disk is full',
    serverError: { code: -32603 },
  });
  expect(await ends(task('cancelled'), () => scriptError(-32603, 'x'))).toMatchObject({ code: 'task-cancelled' });
  expect(await ends(task('completed'), () => scriptError(-32602, 'x'))).toMatchObject({ code: 'task-gone' });
});

test('a notification of the end saves a poll', async () => {
  const server = taskServer([task('working', { pollInterval: 30_000 })], {
    'tools/call': () => ({ task: task('working', { pollInterval: 30_000 }) }),
  });
  const result = (await connect(server.target)).callTool('must');
  await pass(1_000);
  server.say({ method: 'notifications/tasks/status', params: task('completed') });
  await pass(0);
  expect(await result).toEqual(done);
  expect(server.of('tasks/get')).toEqual([]);
});

test('a notification about a task without a handle reaches the application', async () => {
  const seen: string[] = [];
  const server = taskServer([]);
  await connect(server.target, { onNotification: (method) => seen.push(method) });
  server.say({ method: 'notifications/tasks/status', params: task('completed') });
  expect(seen).toEqual(['notifications/tasks/status']);
});

test('an abort cancels the task', async () => {
  const server = taskServer([task('working')]);
  const stop = new AbortController();
  const error = failure((await connect(server.target)).callTool('must', {}, { signal: stop.signal }));
  await pass(1_200);
  stop.abort();
  expect((await error).code).toBe('cancelled');
  await pass(0);
  expect(server.of('tasks/cancel')).toHaveLength(1);
  expect(server.of('notifications/cancelled')).toEqual([]);
});

test('all tasks of the user are listed', async () => {
  const pages: Record<string, object> = {
    start: { tasks: [task('working')], nextCursor: 'b' },
    b: { tasks: [task('completed', { taskId: 't2', ttl: null })] },
  };
  const server = taskServer([], {
    'tasks/list': ({ params }) => pages[(params?.['cursor'] as string) ?? 'start'] as Record<string, unknown>,
  });
  const client = await connect(server.target);
  expect((await client.tasks.list()).map(({ taskId, ttlMs }) => [taskId, ttlMs])).toEqual([
    ['t1', 60_000],
    ['t2', null],
  ]);
  pages['b'] = { tasks: [], nextCursor: 'b' };
  expect((await failure(client.tasks.list())).message).toContain('its cursors repeat');
  pages['start'] = { tasks: [{ taskId: 5 }] };
  expect((await failure(client.tasks.list())).code).toBe('invalid-result');
  const unlisted = taskServer([], {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {}, tasks: {} } }),
  });
  expect((await failure((await connect(unlisted.target)).tasks.list())).message).toContain('tasks/list');
});

test('the handlers can answer what a task waits for without waiting for its end', async () => {
  let answered = false;
  const server = taskServer([], {
    'tasks/get': () => task(answered ? 'working' : 'input_required'),
    'tasks/result': (_message, self) => {
      self.say({ id: 'r', method: 'roots/list', params: { _meta: { [relatedTask]: { taskId: 't1' } } } });
      return undefined;
    },
  });
  const client = await connect(server.target, {
    handlers: {
      roots: () => {
        answered = true;
        return [];
      },
    },
  });
  const attached = await client.tasks.attach('t1');
  const status = attached.answerInput();
  await pass(1_200);
  expect(await status).toBe('working');
});
