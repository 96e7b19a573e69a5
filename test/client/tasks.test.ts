// Our client drives the tasks of our server: both dialects, on every transport that has them.

import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Client, type ConnectOptions, connect, type TaskHandle } from '../../src/client/index.ts';
import { isFullRun } from '../support/full.ts';
import { awaitedLater } from '../support/rejection.ts';
import { type Listening, startListening } from './third-party.ts';

const program = fileURLToPath(new URL('../support/task-program.mjs', import.meta.url));
let http: Listening;
beforeAll(async () => {
  http = await startListening([program, 'http']);
});
afterAll(() => http.close());

const targets = {
  stdio: () => ['node', program, 'stdio'],
  HTTP: () => http.url,
  WebSocket: () => http.url.replace('http', 'ws'),
};
/** By default both revisions over HTTP, and one over each of the others. */
const revisions: Record<keyof typeof targets, readonly string[]> = {
  stdio: isFullRun ? ['2025-11-25', '2026-07-28'] : ['2025-11-25'],
  HTTP: ['2025-11-25', '2026-07-28'],
  WebSocket: isFullRun ? ['2025-11-25', '2026-07-28'] : ['2026-07-28'],
};
const combinations = (Object.keys(targets) as (keyof typeof targets)[]).flatMap((transport) =>
  revisions[transport].map((revision) => [transport, revision, targets[transport]] as const),
);

describe.each(combinations)('over %s with %s', (transport, revision, target) => {
  const names = ['Ada', 'Grace', 'Lin'];
  const open = (options: ConnectOptions = {}): Promise<Client> => {
    let asked = 0;
    return connect(target(), {
      revision,
      inheritEnv: ['MOORING_TEST_DIST'],
      handlers: { elicit: () => ({ action: 'accept', content: { name: names[asked++] as string } }) },
      ...options,
    });
  };
  const using = async <T>(work: (client: Client) => Promise<T>, options?: ConnectOptions): Promise<T> => {
    const client = await open(options);
    try {
      return await work(client);
    } finally {
      await client.close();
    }
  };
  const textOf = async (result: Promise<{ content: readonly unknown[] }>): Promise<unknown> =>
    ((await result).content[0] as { text: string }).text;

  test('a call becomes a task, and its status is shown', () =>
    using(async (client) => {
      let task: TaskHandle | undefined;
      const onTask = (created: TaskHandle): void => {
        task = created;
      };
      const called = awaitedLater(textOf(client.callTool('count', {}, { task: 'prefer', onTask })));
      await expect.poll(() => task?.info?.statusMessage).toBe('step 1 of 2');
      expect(await textOf(client.callTool('continue'))).toBe('1');
      expect(await called).toBe('counted');
      expect(task?.status).toBe('completed');
      expect(await textOf(client.callTool('quick'))).toBe('quick');
    }));

  test('without tasks the same call waits for its result', () =>
    using(async (client) => {
      const onTask = () => expect.unreachable('there is no task');
      const called = awaitedLater(textOf(client.callTool('count', {}, { task: 'never', onTask })));
      await expect.poll(() => textOf(client.callTool('continue'))).toBe('1');
      expect(await called).toBe('counted');
    }));

  test('input requests inside a task are answered', () =>
    using(async (client) => {
      expect(await textOf(client.callTool('greet'))).toBe('Hello, Ada');
      expect(await textOf(client.callTool('introduce'))).toMatch(/^(Grace meets Lin|Lin meets Grace)$/);
    }));

  test('structured results, tool errors and protocol errors end a task as they end a call', () =>
    using(async (client) => {
      await client.listTools();
      expect((await client.callTool('structured')).structuredContent).toEqual({ total: 3 });
      expect(await client.callTool('rejected')).toMatchObject({
        isError: true,
        content: [{ text: 'There is no wind' }],
      });
      await expect(client.callTool('broken')).rejects.toMatchObject({
        code: 'server-error',
        serverError: { code: -32050 },
      });
    }));

  test('an aborted call cancels its task', () =>
    using(async (client) => {
      const stop = new AbortController();
      let task: TaskHandle | undefined;
      const call = client.callTool(
        'endless',
        {},
        {
          signal: stop.signal,
          onTask: (created) => {
            task = created;
            stop.abort();
          },
        },
      );
      await expect(call).rejects.toMatchObject({ code: 'cancelled' });
      await expect.poll(() => task?.poll()).toBe('cancelled');
    }));

  test('a started task is attached, answered, waited for and cancelled', () =>
    using(async (client) => {
      const started = await client.tasks.start('greet');
      const task = await client.tasks.attach(started.id as string);
      // With 2025-11-25 the server sends its request on the open connection, and it may be answered by now.
      if (revision === '2026-07-28') {
        await expect.poll(() => task.poll()).toBe('input_required');
        await task.answerInput();
      }
      expect(await textOf(task.wait())).toBe('Hello, Ada');
      expect(await textOf(started.wait())).toBe('Hello, Ada');
      const endless = await client.tasks.start('endless');
      await endless.cancel();
      await expect(endless.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
      await expect(client.tasks.attach('no-such-task')).rejects.toMatchObject({ code: 'task-gone' });
    }));

  test('a client that is closed rejects what waits for tasks to its callers only', async () => {
    const rejected: unknown[] = [];
    const note = (error: unknown): void => void rejected.push(error);
    process.on('unhandledRejection', note);
    try {
      const client = await open();
      const started = await client.tasks.start('endless');
      const attached = await client.tasks.attach(started.id as string);
      const called = new Promise<TaskHandle>((resolve, reject) => {
        client.callTool('endless', {}, { onTask: resolve }).then(() => reject(new Error('it ended')), note);
      });
      const waits = [started.wait(), started.wait(), attached.wait()].map((wait) => wait.catch(note));
      const task = await called;
      await client.close();
      await Promise.all(waits);
      await expect(task.wait()).rejects.toMatchObject({ code: 'closed' });
      for (let n = 0; n < 5; n++) await new Promise((resolve) => setTimeout(resolve, 5));
      // One for each caller, and none that no caller has handled.
      expect(rejected).toHaveLength(4);
      for (const error of rejected) expect(error).toMatchObject({ code: 'closed' });
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  test.runIf(revision === '2026-07-28')('the end of a task that is polled rarely is announced', async () => {
    const messages: string[] = [];
    const onMessage = (_direction: string, text: string) => void messages.push(text);
    await using(
      async (client) => {
        const called = awaitedLater(textOf(client.callTool('rare')));
        const acknowledged = () => messages.some((text) => /subscriptions\/acknowledged.*taskIds/.test(text));
        await expect.poll(acknowledged).toBe(true);
        await client.callTool('continue');
        expect(await called).toBe('at last');
        expect(messages.filter((text) => text.includes('tasks/get'))).toEqual([]);
      },
      { onMessage },
    );
  });

  test.runIf(transport !== 'stdio')('a task outlives the client that started it', async () => {
    const id = await using(async (client) => (await client.tasks.start('greet')).id as string);
    expect(await using(async (client) => textOf((await client.tasks.attach(id)).wait()))).toBe('Hello, Ada');
  });

  test.runIf(revision === '2025-11-25')('tasks are listed', () =>
    using(
      async (client) => {
        const { id } = await client.tasks.start('endless');
        expect((await client.tasks.list()).map(({ taskId, status }) => [taskId, status])).toEqual([[id, 'working']]);
      },
      { headers: { Authorization: `Bearer lister over ${transport}` } },
    ),
  );

  test.runIf(transport !== 'stdio')('a task of another user does not exist', async () => {
    const id = await using(async (client) => (await client.tasks.start('endless')).id as string);
    await using(
      async (client) => {
        await expect(client.tasks.attach(id)).rejects.toMatchObject({ code: 'task-gone' });
      },
      { headers: { Authorization: 'Bearer other' } },
    );
  });

  test.runIf(revision === '2025-11-25')('progress goes on for the life of the task', () =>
    using(async (client) => {
      const seen: number[] = [];
      const onProgress = ({ progress }: { progress: number }) => void seen.push(progress);
      const called = client.callTool('count', {}, { task: 'prefer', onProgress });
      await expect.poll(() => seen).toEqual([1]);
      await client.callTool('continue');
      await called;
    }),
  );
});
