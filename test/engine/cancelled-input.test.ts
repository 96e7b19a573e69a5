// A handler that does not need the response to an input request any more: pushed, returned for a retry, and of a task.

import { getEventListeners } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import { createServer, elicit, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';

const closers = useClosers(afterEach);
const canElicit = { elicitation: { form: {} } };
const form = { type: 'object', properties: { name: { type: 'string' } } } as const;

const outcomeOf = (asked: Promise<unknown>): Promise<string> =>
  asked.then(
    () => 'answered',
    (error: { code: string }) => error.code,
  );

/** A tool that cancels its input request when the test says so, or at once. */
function cancelling(task?: { readonly support: 'required' }) {
  const stop = new AbortController();
  const server = createServer({ name: 'cancelling', version: '1.0.0', logger: false });
  closers.push(() => server.close());
  server.tool('ask', {
    ...(task && { task }),
    run: async (_args, ctx) => outcomeOf(ctx.elicit('Name?', form, { signal: stop.signal })),
  });
  server.tool('early', {
    run: async (_args, ctx) => {
      const own = new AbortController();
      const asked = outcomeOf(ctx.elicit('Name?', form, { signal: own.signal }));
      // A run with a step in progress does not end.
      await ctx.step('work', async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        own.abort();
      });
      return asked;
    },
  });
  return { server: server as Server, stop };
}

test('a pushed input request is cancelled at the client', async () => {
  const { server, stop } = cancelling();
  const client = await TestClient.open(server, '2025-11-25', canElicit);
  const call = client.call('ask');
  const { id } = await client.next(({ method }) => method === 'elicitation/create');
  stop.abort();
  expect((await client.next(({ method }) => method === 'notifications/cancelled')).params.requestId).toBe(id);
  expect((await call).result.content[0].text).toBe('cancelled');
});

test('one that is cancelled before it is sent does not reach the client', async () => {
  const { server, stop } = cancelling();
  stop.abort();
  const client = await TestClient.open(server, '2025-11-25', canElicit);
  expect((await client.call('ask')).result.content[0].text).toBe('cancelled');
  expect(client.received.some(({ method }) => method === 'elicitation/create')).toBe(false);
  const stateless = await new TestClient(server).stateless('tools/call', { name: 'ask' }, canElicit);
  expect(stateless.result.content[0].text).toBe('cancelled');
});

test('one that is cancelled before the run ends with it is not returned', async () => {
  const { server } = cancelling();
  const { result } = await new TestClient(server).stateless('tools/call', { name: 'early' }, canElicit);
  expect(result).toMatchObject({ resultType: 'complete', content: [{ text: 'cancelled' }] });
});

test('a run that ended with its input request does not listen to the signal any more', async () => {
  const { server, stop } = cancelling();
  const { result } = await new TestClient(server).stateless('tools/call', { name: 'ask' }, canElicit);
  expect(result.resultType).toBe('input_required');
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('an input request of a task is cancelled at the client, and the task goes on', async () => {
  const { server, stop } = cancelling({ support: 'required' });
  const client = await TestClient.open(server, '2025-11-25', canElicit);
  const { result } = await client.request('tools/call', { name: 'ask', task: {} });
  const outcome = client.request('tasks/result', { taskId: result.task.taskId });
  const { id } = await client.next(({ method }) => method === 'elicitation/create');
  stop.abort();
  expect((await client.next(({ method }) => method === 'notifications/cancelled')).params.requestId).toBe(id);
  expect((await outcome).result.content[0].text).toBe('cancelled');
});

test('an input request of a task of 2026-07-28 is not shown any more', async () => {
  const { server, stop } = cancelling({ support: 'required' });
  const client = new TestClient(server);
  const can = { ...canElicit, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const { result } = await client.stateless('tools/call', { name: 'ask' }, can);
  const get = () => client.stateless('tasks/get', { taskId: result.taskId }, can);
  await expect.poll(async () => (await get()).result.status).toBe('input_required');
  stop.abort();
  await expect.poll(async () => (await get()).result.status).toBe('completed');
  const ended = await get();
  expect(ended.result.inputRequests).toBeUndefined();
  expect(ended.result.result.content[0].text).toBe('cancelled');
});

test('a handler of a task that runs again sees that its input request was cancelled, not that it had no response in time', async () => {
  const store = createMemoryTaskStore();
  const tasks = { store, limits: { suspendAfterMs: 10 } };
  const server = createServer({ name: 'replayed', version: '1.0.0', logger: false, tasks });
  closers.push(() => server.close());
  const seen: string[] = [];
  server.tool('ask', {
    task: { support: 'required', recover: 'replay' },
    run: async (_args, ctx) => {
      const stop = new AbortController();
      const asked = ctx.requestInput('first', elicit('First?', form), { signal: stop.signal });
      setTimeout(() => stop.abort(), 1);
      seen.push(await outcomeOf(asked));
      // The handler is dropped while it waits for this one.
      const { action } = await ctx.requestInput('second', elicit('Second?', form));
      return action;
    },
  });
  const client = new TestClient(server);
  const can = { ...canElicit, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const { result } = await client.stateless('tools/call', { name: 'ask' }, can);
  const { taskId } = result;
  const get = async () => (await client.stateless('tasks/get', { taskId }, can)).result;
  await expect.poll(async () => (await store.read(taskId))?.phase).toBe('suspended');
  expect(Object.keys((await get()).inputRequests)).toEqual(['second']);
  const inputResponses = { second: { action: 'decline' } };
  await client.stateless('tasks/update', { taskId, inputResponses }, can);
  await expect.poll(async () => (await get()).status).toBe('completed');
  expect(seen).toEqual(['cancelled', 'cancelled']);
});
