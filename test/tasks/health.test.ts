// A store of tasks that fails or hangs: probes report it, and the log is not filled.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Logger, silentLogger } from '../../src/common/logger.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import type { TaskStore } from '../../src/engine/tasks/store/task-store.ts';
import { createServer, type Server, toFetch } from '../../src/index.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
});

const servers: Server[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) await server.close();
});

/** A durable store whose work a test can replace. */
function storeWith(claim: () => ReturnType<TaskStore['claim']>): TaskStore {
  const store = createMemoryTaskStore();
  return {
    durable: true,
    create: (record) => store.create(record),
    read: (id) => store.read(id),
    change: (...given) => store.change(...given),
    claim,
    renew: (...given) => store.renew(...given),
    list: (query) => store.list(query),
    count: (owner) => store.count(owner),
    sweep: (max) => store.sweep(max),
  };
}

async function serve(claim: () => ReturnType<TaskStore['claim']>) {
  const lines: string[] = [];
  const line =
    (level: string) =>
    (text: string): void =>
      void lines.push(`${level}: ${text}`);
  const logger: Logger = { ...silentLogger, info: line('info'), warn: line('warn'), error: line('error') };
  const server = createServer({ name: 'probed', version: '1.0.0', logger, tasks: { store: storeWith(claim) } });
  servers.push(server);
  server.tool('work', { task: 'optional', run: () => 'done' });
  await server.prepare();
  const fetch = toFetch(server, { allowedHosts: ['probed.example'] });
  const probe = async (path: string): Promise<[number, string]> => {
    const response = await fetch(new Request(`http://probed.example${path}`));
    return [response.status, ((await response.json()) as { status: string }).status];
  };
  return { server, probe, lines };
}

test('a store that fails: /readyz says so after 15 seconds, and not any more when it works again', async () => {
  let isBroken = false;
  const { server, probe } = await serve(async () => {
    if (isBroken) throw new Error('the disk is gone');
    return [];
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await probe('/readyz')).toEqual([200, 'healthy']);
  isBroken = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await probe('/readyz')).toEqual([200, 'healthy']);
  await vi.advanceTimersByTimeAsync(6_000);
  for (const path of ['/readyz', '/health', '/health/ready']) expect(await probe(path)).toEqual([503, 'unavailable']);
  expect(await server.tasks.isHealthy()).toBe(false);
  // The process itself responds: restarting it does not help.
  expect(await probe('/livez')).toEqual([200, 'alive']);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await probe('/readyz')).toEqual([200, 'healthy']);
  expect(await server.tasks.isHealthy()).toBe(true);
});

test('a store that hangs is reported by /readyz', async () => {
  const { probe } = await serve(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(16_000);
  expect(await probe('/readyz')).toEqual([503, 'unavailable']);
});

test('a store that fails for long is logged at first, once a minute, and when it works again', async () => {
  let isBroken = true;
  const { lines } = await serve(async () => {
    if (isBroken) throw new Error('the disk is gone');
    return [];
  });
  const failed = 'error: the tasks of this process could not be checked';
  await vi.advanceTimersByTimeAsync(30_000);
  expect(lines).toEqual([failed]);
  await vi.advanceTimersByTimeAsync(155_000);
  expect(lines).toEqual([failed, failed, failed, failed]);
  isBroken = false;
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toEqual([failed, failed, failed, failed, 'info: the tasks of this process are checked again']);
  // The next failure is a new one.
  isBroken = true;
  await vi.advanceTimersByTimeAsync(1_500);
  expect(lines.at(-1)).toBe(failed);
});
