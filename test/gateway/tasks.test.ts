// Tasks across dialects: upstreams with the tasks of 2025-11-25, with the extension of 2026-07-28 and without tasks; clients
// of both dialects and without tasks.

import { afterEach, describe, expect, test } from 'vitest';
import type { Client, TaskHandle, ToolCallOptions } from '../../src/client/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { clientOf, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

interface Seen {
  calls: number;
  cancelled: number;
  /** Ends calls of `work`. */
  finish(): void;
}

function worker(): { readonly server: Server; readonly seen: Seen } {
  let finish = (): void => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const seen: Seen = { calls: 0, cancelled: 0, finish };
  const server = createServer({ name: 'worker', version: '1.0.0', logger: false });
  const pollMs = [20, 100] as const;
  server.tool('work', {
    task: { start: 'immediately', pollMs },
    run: async (_args, ctx) => {
      seen.calls++;
      await ctx.progress(1, 2, 'half');
      await finished;
      return { content: [{ type: 'text', text: 'done' }] };
    },
  });
  server.tool('greet', {
    task: { support: 'required', pollMs },
    run: async (_args, ctx) => {
      seen.calls++;
      const answer = await ctx.elicit('Name?', form);
      return `Hello ${answer.action === 'accept' ? answer.content.name : answer.action}`;
    },
  });
  server.tool('endless', {
    task: { start: 'immediately', pollMs },
    run: (_args, ctx) =>
      new Promise((_, reject) => {
        seen.calls++;
        ctx.signal.addEventListener('abort', () => {
          seen.cancelled++;
          reject(ctx.signal.reason);
        });
      }),
  });
  server.tool('fails', {
    task: { start: 'immediately', pollMs },
    run: () => ({ content: [{ type: 'text', text: 'no wind' }], isError: true }),
  });
  server.tool('plain', { run: () => 'at once' });
  return { server, seen };
}

const text = ({ content }: { readonly content: readonly unknown[] }): string => (content[0] as { text: string }).text;

const upstreams = ['2025-11-25', '2026-07-28'];
const clients = ['2025-06-18', '2025-11-25', '2026-07-28'];

describe.each(upstreams.flatMap((up) => clients.map((down) => [up, down] as const)))(
  'an upstream at %s with a client at %s',
  (up, down) => {
    const hasTasks = down !== '2025-06-18';

    async function open(): Promise<{ readonly client: Client; readonly seen: Seen }> {
      const { server, seen } = worker();
      const gateway = gatewayOf(closers, { one: server }, { revision: up });
      await (await clientOf(closers, gateway.server)).listTools();
      const handlers = { elicit: () => ({ action: 'accept', content: { name: 'Ada' } }) as const };
      return { client: await clientOf(closers, gateway.server, { revision: down, handlers }), seen };
    }

    const track = (onTask = () => {}): { options: ToolCallOptions; task: () => TaskHandle | undefined } => {
      let task: TaskHandle | undefined;
      const options: ToolCallOptions = {
        task: 'prefer',
        onTask(each) {
          task = each;
          onTask();
        },
      };
      return { options, task: () => task };
    };

    test('a call runs as a task where the client has tasks, and its result is the same', async () => {
      const { client, seen } = await open();
      // A call that ends before its client has a task may be answered without one.
      const { options, task } = track(seen.finish);
      if (!hasTasks) seen.finish();
      const result = await client.callTool('one__work', {}, options);
      expect(text(result)).toBe('done');
      expect(task()?.id !== undefined).toBe(hasTasks);
      expect(seen.calls).toBe(1);
      expect(text(await client.callTool('one__plain', {}, track().options))).toBe('at once');
    });

    test.runIf(hasTasks)('the task has the status message of the upstream', async () => {
      const { client, seen } = await open();
      const task = await client.tasks.start('one__work');
      const message = async (): Promise<string | undefined> => {
        await task.poll();
        return task.info?.statusMessage;
      };
      await expect.poll(message, { timeout: 5_000 }).toBe('half');
      seen.finish();
      expect(text(await task.wait())).toBe('done');
    });

    test('input requests of the task reach the client', async () => {
      const { client, seen } = await open();
      expect(text(await client.callTool('one__greet', {}, track().options))).toBe('Hello Ada');
      expect(seen.calls).toBe(1);
    });

    test('a failed task is a failed call', async () => {
      const { client } = await open();
      const result = await client.callTool('one__fails', {}, track().options);
      expect(result).toMatchObject({ isError: true, content: [{ text: 'no wind' }] });
    });

    test('cancelling reaches the upstream', async () => {
      const { client, seen } = await open();
      const stop = new AbortController();
      const call = client.callTool('one__endless', {}, { task: 'prefer', signal: stop.signal });
      await expect.poll(() => seen.calls).toBe(1);
      stop.abort();
      await expect(call).rejects.toMatchObject({ code: 'cancelled' });
      await expect.poll(() => seen.cancelled).toBe(1);
    });

    test.runIf(hasTasks)('a task that was started is found again, and cancelled', async () => {
      const { client, seen } = await open();
      const started = await client.tasks.start('one__endless');
      expect(started.id).toBeDefined();
      const task = await client.tasks.attach(started.id as string);
      await expect.poll(() => seen.calls).toBe(1);
      await task.cancel();
      await expect(started.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
      await expect.poll(() => seen.cancelled).toBe(1);
    });
  },
);

test('tools of an upstream without tasks never become tasks, and none are declared', async () => {
  const server = createServer({ name: 'plain', version: '1.0.0', logger: false });
  server.tool('plain', { run: () => 'at once' });
  const gateway = gatewayOf(closers, { one: server });
  await (await clientOf(closers, gateway.server)).listTools();
  const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
  expect(client.capabilities).not.toHaveProperty('tasks');
  expect((await client.listTools())[0]).not.toHaveProperty('execution');
});

test('tasks are declared before the upstream is known, so that a client may use them from the start', async () => {
  const { server, seen } = worker();
  const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
  const client = new TestClient(gateway.single('one') as Server);
  const clientInfo = { name: 'test', version: '1.0.0' };
  const { result } = await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo,
  });
  expect(result.capabilities.tasks).toEqual({ list: {}, cancel: {}, requests: { tools: { call: {} } } });
  client.notify('notifications/initialized');
  const created = await client.request('tools/call', { name: 'work', arguments: {}, task: {} });
  const { taskId } = created.result.task;
  seen.finish();
  expect((await client.request('tasks/result', { taskId })).result.content).toEqual([{ type: 'text', text: 'done' }]);
});
