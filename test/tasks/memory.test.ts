// What many waiting tasks cost: heap for each, after garbage collection, and no long pause while they are swept.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import type { TaskStore } from '../../src/engine/tasks/store/task-store.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { isFullRun } from '../support/full.ts';
import { taskRecord } from '../support/task-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const many = isFullRun ? 10_000 : 2_000;
/** Tasks that are not counted. After 20 of them, 400 tasks in the data folder seem to need 1.1 KB each; after 1,000 it is 0.04 KB. */
const warmUp = 1_000;
const capabilities = { elicitation: { form: {} }, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function serve(store: TaskStore, suspendAfterMs: number): Server {
  const limits = { maxActivePerCaller: 20_000, maxActive: 20_000, suspendAfterMs };
  const server = createServer({ name: 'many', version: '1.0.0', logger: false, tasks: { store, limits } });
  closing.push(() => server.close());
  server.tool('wait', {
    description: 'Waits for a name',
    task: { support: 'required', recover: 'replay' },
    run: async (_args, ctx) => (await ctx.elicit('Name?', form, { key: 'name' })).action,
  });
  return server;
}

/** The heap after collections, when it has not become smaller three times: finalizers and timers may still hold something. */
async function heapBytes(): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  for (let unchanged = 0; unchanged < 3; unchanged++) {
    for (let n = 0; n < 3; n++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const { heapUsed } = process.memoryUsage();
    if (heapUsed <= lowest - 50_000) unchanged = -1;
    lowest = Math.min(lowest, heapUsed);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return lowest;
}

/** Creates tasks that wait for input, and returns the heap that each needs: the least of some rounds, since code takes some, too. */
async function bytesPerTask(
  server: Server,
  { count, rounds }: { readonly count: number; readonly rounds: number },
  areWaiting: (tasks: number) => Promise<boolean>,
): Promise<number> {
  const client = new TestClient(server, { transport: 'memory', principal: { id: 'ada' } });
  const create = async (): Promise<void> => {
    const { error } = await client.stateless('tools/call', { name: 'wait', arguments: {} }, capabilities);
    expect(error).toBeUndefined();
    client.received.length = 0;
  };
  // Code, schemas and statements are loaded, and caches are filled.
  for (let n = 0; n < warmUp; n++) await create();
  let least = Number.POSITIVE_INFINITY;
  let before = await heapBytes();
  for (let round = 1; round <= rounds; round++) {
    for (let n = 0; n < count; n += 100) {
      await Promise.all(Array.from({ length: 100 }, create));
      client.received.length = 0;
    }
    while (!(await areWaiting(warmUp + round * count))) await new Promise((resolve) => setTimeout(resolve, 20));
    const after = await heapBytes();
    least = Math.min(least, (after - before) / count);
    before = after;
  }
  return least;
}

async function isEachAsking(store: TaskStore, phase: 'running' | 'suspended', count: number): Promise<boolean> {
  let asking = 0;
  let after: string | undefined;
  do {
    const page = await store.list({ phase, limit: 500, ...(after === undefined ? {} : { after }) });
    asking += page.tasks.filter(({ inputs }) => inputs.length === 1).length;
    after = page.next;
  } while (after !== undefined);
  return asking >= count;
}

/** The heap that the same handler needs in a call whose client waits. */
async function bytesPerCall(count: number): Promise<number> {
  const server = createServer({ name: 'calls', version: '1.0.0', logger: false, limits: { maxInFlight: 2 * many } });
  closing.push(() => server.close());
  server.tool('wait', {
    timeoutMs: 0,
    run: async (_args, ctx) => (await ctx.elicit('Name?', form, { key: 'name' })).action,
  });
  const client = await TestClient.open(server, '2025-11-25', { elicitation: {} });
  let id = 0;
  const call = async (calls: number): Promise<void> => {
    client.received.length = 0;
    for (let n = 0; n < calls; n++) {
      client.send({
        jsonrpc: '2.0',
        id: `call ${++id}`,
        method: 'tools/call',
        params: { name: 'wait', arguments: {} },
      });
    }
    const isAsked = () => client.received.filter(({ method }) => method === 'elicitation/create').length === calls;
    await client.next(isAsked);
    client.received.length = 0;
  };
  await call(20);
  const before = await heapBytes();
  for (let n = 0; n < count; n += 500) await call(500);
  return ((await heapBytes()) - before) / count;
}

test('a task that waits in memory needs at most 4 KB more than its handler', { timeout: 120_000 }, async () => {
  const store = createMemoryTaskStore();
  const areWaiting = (tasks: number) => isEachAsking(store, 'running', tasks);
  const bytes = await bytesPerTask(serve(store, 3_600_000), { count: many, rounds: 1 }, areWaiting);
  const own = await bytesPerCall(2_000);
  expect(own).toBeGreaterThan(500);
  expect(bytes - own).toBeLessThan(4_096);
});

test('a task that waits in the data folder, suspended, needs no memory', { timeout: 300_000 }, async () => {
  const data = await openDataFolder(temporaryFolder());
  closing.push(() => data.close());
  const areWaiting = (tasks: number) => isEachAsking(data.tasks, 'suspended', tasks);
  const bytes = await bytesPerTask(serve(data.tasks, 1), { count: many / 5, rounds: 3 }, areWaiting);
  expect(bytes).toBeLessThan(500);
});

test.each(['memory', 'data folder'])(
  'sweeping many tasks in the %s lets other work run',
  { timeout: 120_000 },
  async (where) => {
    const data = where === 'memory' ? undefined : await openDataFolder(temporaryFolder());
    if (data !== undefined) closing.push(() => data.close());
    const store = data?.tasks ?? createMemoryTaskStore();
    const ended = { phase: 'ended', outcome: { type: 'cancelled' } } as const;
    for (let n = 0; n < many; n += 500) {
      await Promise.all(
        Array.from({ length: 500 }, (_, index) =>
          store.create(taskRecord({ ...ended, expiresAtMs: index < 250 ? 1 : null })),
        ),
      );
    }
    let turns = 0;
    let isSweeping = true;
    const turn = (): void => {
      turns++;
      if (isSweeping) setImmediate(turn);
    };
    turn();
    let sweeps = 0;
    for (; (await store.sweep(500)).deleted > 0; sweeps++) await new Promise((resolve) => setImmediate(resolve));
    isSweeping = false;
    expect(sweeps).toBe(many / 2 / 500);
    expect(turns).toBeGreaterThanOrEqual(sweeps);
    expect(await store.count()).toMatchObject({ kept: many / 2 });
  },
);
