// Tasks in Redis: what several processes do with them. What all stores promise is in task-stores.test.ts.
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TaskRecord } from '../../src/engine/tasks/store/task-store.ts';
import { createServer, type Server } from '../../src/index.ts';
import { openRedis, type RedisOptions, type RedisStores } from '../../src/stores/redis/index.ts';
import { useClosers } from '../support/closers.ts';
import { hasRedis, patient, type RedisServer, startRedis } from '../support/redis.ts';
import { taskRecord } from '../support/task-records.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const closers = useClosers();
afterEach(() => {
  vi.useRealTimers();
});

const extension = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };

describe.skipIf(!hasRedis())('tasks in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.close());

  async function open(name: string, options: Partial<RedisOptions> = {}): Promise<RedisStores> {
    const stores = await openRedis({ url: redis.url, name, ...patient, ...options });
    closers.push(() => stores.close());
    return stores;
  }

  const added = async ({ tasks }: RedisStores, given: Partial<TaskRecord> = {}): Promise<TaskRecord> => {
    const record = taskRecord(given);
    await tasks.create(record);
    return record;
  };

  test('changes of other processes are reported, own changes are not', async () => {
    const [one, other] = [await open('watch'), await open('watch')];
    const heard: string[] = [];
    const stop = other.tasks.watch((id) => heard.push(id));
    one.tasks.watch(() => {});
    const { id } = await added(one);
    await expect.poll(() => heard).toEqual([id]);
    await added(other);
    await one.tasks.change(id, {}, [{ type: 'request-cancel' }]);
    await expect.poll(() => heard).toEqual([id, id]);
    stop();
    const position = await one.bus.publish('test', null);
    await one.tasks.change(id, {}, [{ type: 'set-message', message: 'not heard' }]);
    await expect.poll(() => other.bus.position).toBeGreaterThan(position);
    expect(heard).toEqual([id, id]);
  });

  test('a page has no more large tasks than fit into memory, and all of them if their results are not read', async () => {
    const { tasks } = await open('large', { maxBytesTotal: 100_000_000 });
    const result = { content: [{ type: 'text', text: 'x'.repeat(1_000_000) }] };
    const ids: string[] = [];
    for (let n = 0; n < 12; n++) {
      const { id } = taskRecord();
      await tasks.create(taskRecord({ id }));
      await tasks.change(id, {}, [
        { type: 'end', outcome: { type: 'result', result, isError: false }, expiresAtMs: null },
      ]);
      ids.unshift(id);
    }
    const first = await tasks.list({ limit: 100 });
    expect(first.tasks).toHaveLength(8);
    const second = await tasks.list({ limit: 100, after: first.next as string });
    expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(ids);
    expect(second.next).toBeUndefined();
    const outline = await tasks.list({ limit: 100, outline: true });
    expect(outline.tasks.map(({ id }) => id)).toEqual(ids);
    expect(outline.next).toBeUndefined();
  });

  test.for([
    ['JSON', ['HSET', 'TASK', 'state', '{"id":']],
    ['number', ['HSET', 'TASK', 'version', 'one', 'fence', 'two', 'bytes', 'three']],
    ['missing part', ['HDEL', 'TASK', 'inputs', 'context', 'bytes']],
    ['null', ['HSET', 'TASK', 'inputs', 'null', 'context', 'null', 'state', 'null']],
    ['prototype', ['HSET', 'TASK', 'state', '{"__proto__":{"id":"x"}}']],
    ['other type', ['SET', 'TASK', 'text']],
  ] as const)('a task that another program has damaged does not affect others: %s', async ([name, command]) => {
    const { tasks, prefix } = await open(`damaged-${name.replaceAll(' ', '-')}`);
    const [broken, whole] = [taskRecord(), taskRecord()];
    const expired = { dueAtMs: Date.now() + 3_600_000, expiresAtMs: 1 };
    const [brokenAndExpired, wholeAndExpired] = [taskRecord(expired), taskRecord(expired)];
    for (const record of [broken, whole, brokenAndExpired, wholeAndExpired]) await tasks.create(record);
    for (const { id } of [broken, brokenAndExpired]) {
      const reply = await redis.command(
        ...command.map((part) => (part === 'TASK' ? `${prefix}tasks:task:${id}` : part)),
      );
      expect(reply).toMatch(/^[:+]/);
    }
    const ids = (records: readonly TaskRecord[]): string[] => records.map(({ id }) => id);
    expect(ids((await tasks.list({ limit: 10 })).tasks)).toEqual([whole.id]);
    expect(ids((await tasks.list({ limit: 10, outline: true })).tasks)).toContain(whole.id);
    expect(ids(await tasks.claim('p', ['server'], 1, 10))).toEqual([whole.id]);
    expect(ids((await tasks.sweep(10)).expired)).toEqual([wholeAndExpired.id]);
    await expect(tasks.read(broken.id)).rejects.toThrow();
  });

  test('two processes claim every task once, and write by turns without losing anything', async () => {
    const both = [await open('claims'), await open('claims')] as const;
    const records = await Promise.all(Array.from({ length: 60 }, (_, n) => added(both[n % 2] as RedisStores)));
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (both[n % 2] as RedisStores).tasks.claim(`p${n}`, ['server'], 30_000, 3)),
    );
    expect(
      claims
        .flat()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(records.map(({ id }) => id).sort());
    const { id } = records[0] as TaskRecord;
    const steps = Array.from({ length: 30 }, (_, n) => `step ${n}`);
    await Promise.all(
      steps.map((key, n) =>
        (both[n % 2] as RedisStores).tasks.change(id, {}, [{ type: 'finish-step', key, value: n }]),
      ),
    );
    const after = await both[0].tasks.read(id);
    expect(after?.steps.map(({ key }) => key).sort()).toEqual([...steps].sort());
  });

  test('leases are on the clock of Redis, whatever the clocks of processes show', async () => {
    const stores = await open('clocks');
    const { tasks } = stores;
    const record = await added(stores);
    const [claimed] = await tasks.claim('p', ['server'], 30_000, 1);
    expect(claimed?.id).toBe(record.id);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    expect(await tasks.claim('q', ['server'], 30_000, 1)).toEqual([]);
    // Created by a process whose clock is an hour ahead, or behind.
    for (const aheadMs of [3_600_000, -3_600_000]) {
      vi.useFakeTimers({ toFake: ['Date'], now: performance.timeOrigin + performance.now() + aheadMs });
      const untilMs = Date.now() + 4_000;
      const phase = 'running';
      const { id } = await added(stores, {
        ...{ phase, lease: { holder: 'x', untilMs }, dueAtMs: untilMs, service: `${aheadMs}`, expiresAtMs: null },
      });
      expect(await tasks.claim('q', [`${aheadMs}`], 30_000, 1)).toEqual([]);
      await expect
        .poll(async () => (await tasks.claim('q', [`${aheadMs}`], 30_000, 1)).map((each) => each.id))
        .toEqual([id]);
    }
  });

  test('a change while a lease is renewed does not shorten the lease', async () => {
    const stores = await open('renewed');
    const { id } = await added(stores);
    await stores.tasks.claim('p', ['server'], 1_000, 1);
    await Promise.all([
      stores.tasks.renew('p', [id], 600_000),
      ...Array.from({ length: 10 }, (_, n) => stores.tasks.change(id, {}, [{ type: 'set-message', message: `${n}` }])),
    ]);
    const record = await stores.tasks.read(id);
    expect((record?.lease?.untilMs ?? 0) - (record?.updatedAtMs ?? 0)).toBeGreaterThan(500_000);
  });

  async function startServer(proxied: boolean, define: (server: Server) => void) {
    const proxy: TcpProxy | undefined = proxied ? await startTcpProxy(redis.port) : undefined;
    const stores = await open('runs', proxy && { url: `redis://127.0.0.1:${proxy.port}` });
    const limits = { leaseMs: 5_000, closeGraceMs: 30 };
    const tasks = { store: stores.tasks, limits };
    const server = createServer({ name: 'runs', version: '1', logger: false, bus: stores.bus, tasks });
    define(server);
    closers.push(
      () => proxy?.close(),
      () => server.close(),
    );
    return { server, stores, proxy };
  }

  test('a task goes on in another process when the first one is gone', { timeout: 60_000 }, async () => {
    const runs: string[] = [];
    const define = (name: string) => (server: Server) => {
      server.tool('work', {
        task: { support: 'required', recover: 'replay' },
        run: async (_args: unknown, ctx) => {
          runs.push(name);
          await ctx.step('prepare', () => name);
          if (name === 'first') await new Promise(() => {});
          return `done by ${name}`;
        },
      });
    };
    const first = await startServer(true, define('first'));
    const client = new TestClient(first.server);
    const { taskId } = (await client.stateless('tools/call', { name: 'work' }, extension)).result;
    await expect.poll(() => runs).toEqual(['first']);
    const second = await startServer(false, define('second'));
    const asked = new TestClient(second.server);
    const get = (): Promise<Message> => asked.stateless('tasks/get', { taskId }, extension);
    expect((await get()).result.status).toBe('working');
    first.proxy?.cut();
    await expect.poll(async () => (await get()).result.status, { timeout: 30_000 }).toBe('completed');
    expect(runs).toEqual(['first', 'second']);
  });
});
