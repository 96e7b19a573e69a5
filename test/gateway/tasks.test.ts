// Tasks across dialects: upstreams with the tasks of 2025-11-25, with the extension of 2026-07-28 and without tasks; clients
// of both dialects and without tasks.

import { afterEach, describe, expect, test } from 'vitest';
import type { Client, TaskHandle, ToolCallOptions } from '../../src/client/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { TestClient } from '../support/test-client.ts';
import { clientOf, gatewayOf, view } from './fixture.ts';

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

/** Resolves when the task has this status message. */
async function hasMessage(task: TaskHandle, message: string): Promise<void> {
  const current = async (): Promise<string | undefined> => {
    await task.poll();
    return task.info?.statusMessage;
  };
  await expect.poll(current, { timeout: 5_000 }).toBe(message);
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
      await hasMessage(task, 'half');
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

describe('a server without tasks', () => {
  /** `ask`: asks at once, works for a while, and asks again. */
  function plain(): { readonly server: Server; calls: number; finish(): void } {
    const server = createServer({ name: 'plain', version: '1.0.0', logger: false });
    const seen = { server, calls: 0, finish: (): void => {} };
    const finished = new Promise<void>((resolve) => {
      seen.finish = resolve;
    });
    server.tool('work', {
      run: async (_args, ctx) => {
        seen.calls++;
        await ctx.progress(1, 2, 'half');
        await finished;
        return 'done';
      },
    });
    server.tool('ask', {
      run: async (_args, ctx) => {
        seen.calls++;
        const first = await ctx.elicit('First name?', form);
        await finished;
        const last = await ctx.elicit('Last name?', form);
        return [first, last].map((each) => (each.action === 'accept' ? each.content.name : each.action)).join(' ');
      },
    });
    server.tool('quick', { run: () => 'at once' });
    return seen;
  }

  const override = (taskSupport: 'optional' | 'required' | 'forbidden') => ({
    work: { hideArguments: [], defaults: {}, taskSupport },
  });

  const handlers = {
    elicit: ({ message }: { readonly message: string }) =>
      ({ action: 'accept', content: { name: message.includes('First') ? 'Ada' : 'Lovelace' } }) as const,
  };

  test.each(['2025-06-18', '2026-07-28'])(
    'at %s gets a task by override, which a client of 2025-11-25 requests',
    async (up) => {
      const seen = plain();
      const gateway = gatewayOf(closers, { one: seen.server }, { revision: up, override: override('optional') });
      await (await clientOf(closers, gateway.server)).listTools();
      const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
      const tools = Object.fromEntries((await client.listTools()).map(({ name, execution }) => [name, execution]));
      expect(tools).toMatchObject({ one__work: { taskSupport: 'optional' }, one__quick: undefined });
      const task = await client.tasks.start('one__work', {}, { ttlMs: 120_000 });
      expect(task.info).toMatchObject({ status: 'working', ttlMs: 120_000 });
      await hasMessage(task, 'half');
      seen.finish();
      expect(text(await task.wait())).toBe('done');
      expect(seen.calls).toBe(1);
      // The others stay as they are.
      await expect(client.tasks.start('one__quick')).rejects.toMatchObject({ code: 'not-offered' });
      // A client of 2026-07-28 waits, unless the view says otherwise.
      const newest = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
      expect((await newest.tasks.start('one__work')).id).toBeUndefined();
    },
  );

  test('a tool that requires tasks by override is not called without one', async () => {
    const seen = plain();
    seen.finish();
    const gateway = gatewayOf(closers, { one: seen.server }, { override: override('required') });
    await (await clientOf(closers, gateway.server)).listTools();
    const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
    await expect(client.callTool('one__work', {}, { task: 'never' })).rejects.toMatchObject({
      serverError: { code: -32601 },
    });
    expect(text(await client.callTool('one__work'))).toBe('done');
    const newest = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
    const task = await newest.tasks.start('one__work');
    expect(task.id).toBeDefined();
    expect(text(await task.wait())).toBe('done');
  });

  test('an override can forbid the tasks of a server that has them', async () => {
    const { server, seen } = worker();
    seen.finish();
    const gateway = gatewayOf(closers, { one: server }, { revision: '2025-11-25', override: override('forbidden') });
    await (await clientOf(closers, gateway.server)).listTools();
    const client = await clientOf(closers, gateway.server, { revision: '2025-11-25' });
    const tools = new Map((await client.listTools()).map((tool) => [tool.name, tool.execution?.taskSupport]));
    expect(tools.get('one__work')).toBeUndefined();
    expect(tools.get('one__greet')).toBe('required');
    expect(text(await client.callTool('one__work'))).toBe('done');
  });

  const slow = { config: { defaultView: view('', { tasks: 'when-slow' }) } } as const;

  test.each(['2025-06-18', '2026-07-28'])('at %s has slow calls that become tasks, if the view says so', async (up) => {
    const seen = plain();
    const gateway = gatewayOf(closers, { one: seen.server }, { revision: up }, slow);
    await (await clientOf(closers, gateway.server)).listTools();
    const client = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
    expect((await client.tasks.start('one__quick')).id).toBeUndefined();
    const task = await client.tasks.start('one__work');
    expect(task.id).toBeDefined();
    seen.finish();
    expect(text(await task.wait())).toBe('done');
    expect(seen.calls).toBe(1);
    // At the address of the server alone there is no view.
    const single = await clientOf(closers, gateway.single('one') as Server, { revision: '2026-07-28' });
    await expect(single.tasks.start('work')).rejects.toMatchObject({ code: 'not-offered' });
  });

  test.each(['2025-06-18', '2026-07-28'])('at %s asks before and after its call became a task', async (up) => {
    const seen = plain();
    const gateway = gatewayOf(closers, { one: seen.server }, { revision: up }, slow);
    await (await clientOf(closers, gateway.server)).listTools();
    const client = await clientOf(closers, gateway.server, { revision: '2026-07-28', handlers });
    const task = await client.tasks.start('one__ask');
    expect(task.id).toBeDefined();
    seen.finish();
    expect(text(await task.wait())).toBe('Ada Lovelace');
    // A server with a session is called once; one without is called again with each response.
    if (up === '2025-06-18') expect(seen.calls).toBe(1);
  });

  test('a slow call that is cancelled as a task is cancelled at the server', async () => {
    const { server, seen } = worker();
    const gateway = gatewayOf(closers, { one: server }, { revision: '2025-06-18' }, slow);
    await (await clientOf(closers, gateway.server)).listTools();
    const client = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
    const task = await client.tasks.start('one__endless');
    await task.cancel();
    await expect(task.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
    await expect.poll(() => seen.cancelled).toBe(1);
  });
});

test('a task says about time what the upstream says', async () => {
  const server = createServer({ name: 'timed', version: '1.0.0', logger: false });
  const times: unknown[] = [];
  const task = { start: 'immediately', pollMs: [70, 70], ttlMs: 90_000 } as const;
  server.tool('work', { task, run: () => new Promise(() => {}) });
  server.observe({
    taskChanged: ({ type, task: { createdAtMs, expiresAtMs } }) => {
      if (type === 'created') times.push((expiresAtMs as number) - createdAtMs);
    },
  });
  const gateway = gatewayOf(closers, { one: server });
  const client = await clientOf(closers, gateway.server, { revision: '2026-07-28' });
  await client.listTools();
  expect((await client.tasks.start('one__work')).info).toMatchObject({ ttlMs: 90_000, pollIntervalMs: 70 });
  // Where the client decides, the upstream is asked for as much time as the client wants.
  const older = gatewayOf(closers, { one: server }, { revision: '2025-11-25' });
  const old = await clientOf(closers, older.server, { revision: '2025-11-25' });
  await old.listTools();
  await old.tasks.start('one__work', {}, { ttlMs: 7_200_000 });
  await expect.poll(() => times).toEqual([90_000, 7_200_000]);
});
