// Tasks of upstreams that outlive the process of the gateway: another process goes on with them, and the upstream sees one call.

import { afterEach, describe, expect, test } from 'vitest';
import type { ConnectOptions } from '../../src/client/index.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import type { TaskStore } from '../../src/engine/tasks/store/task-store.ts';
import type { CatalogCache, Gateway, UpstreamConfig, UpstreamLists } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { useClosers } from '../support/closers.ts';
import { isFullRun } from '../support/full.ts';
import { clientOf, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const key = `${'k'.repeat(8)}0123456789abcdefghijklmnopqrstuvwxyz`;

/** A server whose tasks end when the test says so. */
function worker() {
  const seen = { calls: 0, cancelled: 0, finish: [] as (() => void)[] };
  const server = createServer({ name: 'worker', version: '1.0.0', logger: false });
  const pollMs = [20, 100] as const;
  for (const [name, support] of [
    ['work', 'optional'],
    ['must', 'required'],
  ] as const) {
    server.tool(name, {
      task: { support, start: 'immediately', pollMs },
      run: async (_args, ctx) => {
        seen.calls++;
        await new Promise<void>((resolve, reject) => {
          seen.finish.push(resolve);
          ctx.signal.addEventListener('abort', () => {
            seen.cancelled++;
            reject(ctx.signal.reason);
          });
        });
        return 'done';
      },
    });
  }
  server.tool('greet', {
    task: { support: 'required', pollMs },
    run: async (_args, ctx) => {
      seen.calls++;
      const names: unknown[] = [];
      for (let n = 1; n <= 2; n++) {
        const answer = await ctx.elicit(`Name ${n}?`, form);
        names.push(answer.action === 'accept' ? answer.content.name : answer.action);
      }
      return `Hello ${names.join(' and ')}`;
    },
  });
  return { server, seen };
}

/** A store that outlives processes. `lose`: what one process still writes has no effect, as if it were killed. */
function storeOf(store: TaskStore): { readonly store: TaskStore; lose(): void } {
  let isLost = false;
  const reached = new Proxy(store, {
    get(target, name) {
      if (name === 'durable') return true;
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        isLost ? Promise.reject(new Error('the process was killed')) : Reflect.apply(value, target, args);
    },
  });
  return { store: reached, lose: () => (isLost = true) };
}

const text = ({ content }: { readonly content: readonly unknown[] }): string => (content[0] as { text: string }).text;

/** Gateways one after the other, in front of one server, with one store. */
function deployment(up: string, given: Partial<UpstreamConfig> = {}) {
  const { server, seen } = worker();
  const stored = new Map<string, UpstreamLists>();
  const cache: CatalogCache = {
    read: (digest) => {
      const lists = stored.get(digest);
      return lists && { lists, atMs: Date.now() };
    },
    write: (digest, lists) => void stored.set(digest, lists),
  };
  const shared = createMemoryTaskStore();
  const start = (): { readonly gateway: Gateway; kill(): void } => {
    const { store, lose } = storeOf(shared);
    // The lease of a process that was killed is over after this time.
    const tasks = { store, limits: { leaseMs: 1_000 } };
    const options = { server: { key, tasks }, ...(given.isolation && { cache }) };
    const gateway = gatewayOf(closers, { one: server }, { revision: up, ...given }, options);
    return { gateway, kill: lose };
  };
  return { start, seen };
}

const revisions = ['2025-11-25', '2026-07-28'] as const;
// The same dialect on both sides is the simpler case.
const pairs = revisions
  .flatMap((up) => revisions.map((down) => [up, down] as const))
  .filter(([up, down]) => isFullRun || up !== down);

describe.each(pairs)('an upstream at %s with a client at %s', (up, down) => {
  const known = async (served: Server): Promise<Server> => {
    await (await clientOf(closers, served)).listTools();
    return served;
  };

  test.each(['work', 'must'])('a task of %s goes on in the next process', { timeout: 30_000 }, async (tool) => {
    const { start, seen } = deployment(up);
    const first = start();
    const before = await clientOf(closers, await known(first.gateway.server), { revision: down });
    const started = await before.tasks.start(`one__${tool}`);
    await expect.poll(() => seen.calls, { timeout: 10_000 }).toBe(1);
    await first.gateway.close();
    const second = start();
    const after = await clientOf(closers, await known(second.gateway.server), { revision: down });
    const task = await after.tasks.attach(started.id as string);
    expect(task.status).toBe('working');
    for (const finish of seen.finish) finish();
    expect(text(await task.wait())).toBe('done');
    expect(seen).toMatchObject({ calls: 1, cancelled: 0 });
  });

  test('a task goes on after its process was killed, and can be cancelled', { timeout: 30_000 }, async () => {
    const { start, seen } = deployment(up);
    const first = start();
    const before = await clientOf(closers, await known(first.gateway.server), { revision: down });
    const started = await before.tasks.start('one__work');
    await expect.poll(() => seen.calls, { timeout: 10_000 }).toBe(1);
    first.kill();
    const second = start();
    const after = await clientOf(closers, await known(second.gateway.server), { revision: down });
    const task = await after.tasks.attach(started.id as string);
    await task.cancel();
    await expect(task.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
    await expect.poll(() => seen.cancelled, { timeout: 20_000 }).toBe(1);
    expect(seen.calls).toBe(1);
  });

  test('what the user has answered is not asked again', { timeout: 30_000 }, async () => {
    const { start, seen } = deployment(up);
    const asked: string[] = [];
    const options = (answers: number): ConnectOptions => ({
      revision: down,
      handlers: {
        elicit: ({ message }) => {
          asked.push(message);
          if (asked.length > answers) return new Promise<never>(() => {});
          return { action: 'accept', content: { name: message.slice(-2, -1) } };
        },
      },
    });
    const first = start();
    const before = await clientOf(closers, await known(first.gateway.server), options(1));
    const started = await before.tasks.start('one__greet');
    void started.wait().catch(() => {});
    await expect.poll(() => asked.length, { timeout: 10_000 }).toBe(2);
    await first.gateway.close();
    const second = start();
    const after = await clientOf(closers, await known(second.gateway.server), options(9));
    const task = await after.tasks.attach(started.id as string);
    expect(text(await task.wait())).toBe('Hello 1 and 2');
    expect(asked).toEqual(['[one] Name 1?', '[one] Name 2?', '[one] Name 2?']);
    expect(seen.calls).toBe(1);
  });
});

test('a task goes on after its process was killed, and its result is there', { timeout: 60_000 }, async () => {
  const { start, seen } = deployment('2026-07-28');
  const first = start();
  const before = await clientOf(closers, first.gateway.server);
  await before.listTools();
  const started = await before.tasks.start('one__work');
  await expect.poll(() => seen.calls, { timeout: 10_000 }).toBe(1);
  first.kill();
  const second = start();
  const after = await clientOf(closers, second.gateway.server);
  await after.listTools();
  const task = await after.tasks.attach(started.id as string);
  for (const finish of seen.finish) finish();
  expect(text(await task.wait())).toBe('done');
  expect(seen).toMatchObject({ calls: 1, cancelled: 0 });
});

test('the server of one upstream does not go on with tasks of a view', async () => {
  const { start, seen } = deployment('2026-07-28');
  const first = start();
  const single = first.gateway.single('one') as Server;
  await (await clientOf(closers, single)).listTools();
  const started = await (await clientOf(closers, single)).tasks.start('work');
  await expect.poll(() => seen.calls, { timeout: 10_000 }).toBe(1);
  await first.gateway.close();
  const second = start();
  // The default view has no tool of that name.
  const view = await clientOf(closers, second.gateway.server);
  await view.listTools();
  await expect(view.tasks.attach(started.id as string)).rejects.toMatchObject({ code: 'task-gone' });
  const again = second.gateway.single('one') as Server;
  const task = await (await clientOf(closers, again)).tasks.attach(started.id as string);
  for (const finish of seen.finish) finish();
  expect(text(await task.wait())).toBe('done');
  expect(seen).toMatchObject({ calls: 1, cancelled: 0 });
});

describe.each([
  ['principal', '2026-07-28'],
  ['session', '2025-11-25'],
] as const)(
  'a server whose lists differ between callers, with isolation %s and a client at %s',
  (isolation, revision) => {
    test('a task goes on, or is cancelled, before its caller has listed anything', { timeout: 60_000 }, async () => {
      const { start, seen } = deployment('2026-07-28', { isolation });
      const first = start();
      const before = await clientOf(closers, first.gateway.server, { revision });
      await before.listTools();
      const started = await before.tasks.start('one__work');
      const other = await before.tasks.start('one__work');
      await expect.poll(() => seen.calls, { timeout: 10_000 }).toBe(2);
      first.kill();
      const second = start();
      const after = await clientOf(closers, second.gateway.server, { revision });
      const cancelled = await after.tasks.attach(other.id as string);
      await cancelled.cancel();
      await expect(cancelled.wait()).rejects.toMatchObject({ code: 'task-cancelled' });
      await expect.poll(() => seen.cancelled, { timeout: 20_000 }).toBe(1);
      const task = await after.tasks.attach(started.id as string);
      expect(task.status).toBe('working');
      for (const finish of seen.finish) finish();
      expect(text(await task.wait())).toBe('done');
      expect(seen.calls).toBe(2);
      expect(second.gateway.status()[0]?.callerLists).toBeGreaterThan(0);
    });
  },
);
