// Every store of tasks keeps the same promises. Durable stores have tests of their own beside their sources.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { silentLogger } from '../../src/common/logger.ts';
import { createSealer } from '../../src/engine/sealer.ts';
import { viewOf } from '../../src/engine/tasks/clients/task-view.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import { sealTasks } from '../../src/engine/tasks/store/sealed-store.ts';
import { changeRecord, claimRecord } from '../../src/engine/tasks/store/task-record.ts';
import type {
  TaskChange,
  TaskGuard,
  TaskInput,
  TaskOutcome,
  TaskRecord,
  TaskStore,
} from '../../src/engine/tasks/store/task-store.ts';
import { parseRedisAddress } from '../../src/stores/redis/address.ts';
import { RedisConnection } from '../../src/stores/redis/connection.ts';
import { RedisTasks } from '../../src/stores/redis/tasks.ts';
import { openDataFolder } from '../../src/stores/sqlite/index.ts';
import { propertyRuns } from '../support/full.ts';
import { hasRedis, type RedisServer, startRedis } from '../support/redis.ts';
import { taskRecord } from '../support/task-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const cleaning: (() => void | Promise<void>)[] = [];
beforeEach(() => {
  // The clocks stand still unless a test moves them.
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});
afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
  vi.useRealTimers();
});

interface Limits {
  readonly maxTasks?: number;
}

async function openSqlite(limits?: Limits): Promise<TaskStore> {
  const folder = temporaryFolder();
  const data = await openDataFolder(folder, limits);
  cleaning.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => data.close(),
  );
  return data.tasks;
}

let redis: Promise<RedisServer> | undefined;
afterAll(async () => (await redis)?.close());

async function openRedisStore(limits?: Limits): Promise<TaskStore> {
  const { url } = await (redis ??= startRedis());
  const prefix = `{test:${randomBytes(6).toString('hex')}}:`;
  const connection = await RedisConnection.open({ address: parseRedisAddress(url), logger: silentLogger, key: prefix });
  cleaning.push(() => connection.close());
  // On the clock of the test; otherwise it is that of Redis.
  return new RedisTasks(connection, prefix, undefined, limits, undefined, () => Date.now());
}

const stores: Record<string, (limits?: Limits) => Promise<TaskStore>> = {
  memory: async (limits) => createMemoryTaskStore(limits),
  sqlite: openSqlite,
  'sqlite, encrypted': async (limits) => sealTasks(await openSqlite(limits), createSealer(randomBytes(32))),
  ...(hasRedis() && {
    redis: openRedisStore,
    'redis, encrypted': async (limits) => sealTasks(await openRedisStore(limits), createSealer(randomBytes(32))),
  }),
};

const leaseMs = 30_000;
const done: TaskOutcome = { type: 'result', result: { content: [] }, isError: false };
const end = (outcome: TaskOutcome = done): TaskChange => ({
  type: 'end',
  outcome,
  expiresAtMs: Date.now() + 900_000,
});
const input = (key: string): TaskInput => ({
  key,
  kind: 'elicitation.form',
  method: 'elicitation/create',
  params: { message: `${key}?` },
  requestedAtMs: Date.now(),
});

describe.each(Object.entries(stores))('%s', (_name, open) => {
  async function added(store: TaskStore, given: Partial<TaskRecord> = {}): Promise<TaskRecord> {
    const record = taskRecord(given);
    expect(await store.create(record)).toEqual({ created: true });
    return record;
  }

  async function changed(store: TaskStore, id: string, ...changes: TaskChange[]): Promise<TaskRecord> {
    const after = await store.change(id, {}, changes);
    if (typeof after === 'string') throw new Error(after);
    return after;
  }

  test('a record comes back as it was given', async () => {
    const store = await open();
    const strange = 'NUL \u0000, half a pair \ud800, 🌍, "quotes", \r\n';
    for (const given of [
      {},
      { arguments: null, ticket: null, message: strange, expiresAtMs: null },
      { arguments: { [strange]: [strange, 1.5, false, null] }, owner: strange, tool: strange, dedupeKey: strange },
      {
        phase: 'running',
        lease: { holder: 'process', untilMs: Date.now() + leaseMs },
        dueAtMs: Date.now() + leaseMs,
        context: { principal: { id: strange }, capabilities: { roots: {} }, revision: '2026-07-28', progressToken: 0 },
        inputs: [input('a'), { ...input('b'), response: { action: 'accept' }, answeredAtMs: 5 }],
        steps: [
          { key: strange, state: 'done', value: null },
          { key: 'x', state: 'started' },
        ],
        cancelRequestedAtMs: 7,
      },
    ] satisfies Partial<TaskRecord>[]) {
      const record = await added(store, given);
      expect(await store.read(record.id)).toEqual(record);
    }
  });

  test('an id that does not exist is undefined to read and gone to change, whatever its form', async () => {
    const store = await open();
    const { id } = await added(store);
    for (const other of ['', 'x', `${id}x`, id.slice(1), `${id}\u0000`, '\ud800', "' or 1=1 --", 'a'.repeat(100_000)]) {
      expect(await store.read(other)).toBeUndefined();
      expect(await store.change(other, {}, [{ type: 'request-cancel' }])).toBe('gone');
    }
  });

  test('an expired task cannot be read, but it can be ended until it is deleted', async () => {
    const store = await open();
    const { id } = await added(store, { expiresAtMs: Date.now() + 1_000 });
    vi.advanceTimersByTime(999);
    expect(await store.read(id)).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(await store.read(id)).toBeUndefined();
    expect(await changed(store, id, { ...end({ type: 'cancelled' }), expiresAtMs: Date.now() } as TaskChange)).toEqual(
      expect.objectContaining({ phase: 'ended', outcome: { type: 'cancelled' } }),
    );
    expect(await store.sweep(10)).toEqual({ deleted: 1, expired: [] });
    expect(await store.change(id, {}, [{ type: 'request-cancel' }])).toBe('gone');
  });

  test('a duplicate of an unfinished task is answered with that task', async () => {
    const store = await open();
    const first = await added(store, { dedupeKey: 'k', expiresAtMs: Date.now() + 60_000 });
    expect(await store.create(taskRecord({ dedupeKey: 'k' }))).toEqual({ existing: first });
    expect((await store.count()).kept).toBe(1);
    await added(store, { dedupeKey: 'k', owner: 'eve' });
    await added(store, { dedupeKey: 'k', tool: 'other' });
    await added(store, { dedupeKey: 'k', service: 'other' });
    await added(store, { dedupeKey: 'K' });
    await added(store);
    await added(store);
    await changed(store, first.id, end());
    const second = await added(store, { dedupeKey: 'k', expiresAtMs: Date.now() + 60_000 });
    vi.advanceTimersByTime(60_000);
    const third = await added(store, { dedupeKey: 'k' });
    expect(third.id).not.toBe(second.id);
  });

  test('of duplicates that arrive together one is created', async () => {
    const store = await open();
    const results = await Promise.all(Array.from({ length: 20 }, () => store.create(taskRecord({ dedupeKey: 'k' }))));
    expect(results.filter((result) => 'created' in result)).toHaveLength(1);
    const ids = new Set(results.flatMap((result) => ('existing' in result ? [result.existing.id] : [])));
    expect(ids.size).toBe(1);
  });

  test('a full store says so and takes new tasks once ended ones are deleted', async () => {
    const store = await open({ maxTasks: 3 });
    const records = [await added(store), await added(store), await added(store)];
    await expect(store.create(taskRecord())).rejects.toThrow(/full/);
    await changed(store, (records[0] as TaskRecord).id, end());
    await expect(store.create(taskRecord())).rejects.toThrow(/full/);
    vi.advanceTimersByTime(900_000);
    expect((await store.sweep(10)).deleted).toBe(1);
    await added(store);
  });

  const guards: [TaskGuard, boolean][] = [
    [{}, true],
    [{ version: 1 }, true],
    [{ version: 2 }, false],
    [{ fence: 0 }, true],
    [{ fence: 1 }, false],
    [{ version: 1, fence: 0 }, true],
    [{ version: 1, fence: 9 }, false],
  ];
  test.each(guards)('a change with the guard %j: %j', async (guard, holds) => {
    const store = await open();
    const record = await added(store);
    const after = await store.change(record.id, guard, [
      { type: 'set-message', message: 'half' },
      { type: 'start-step', key: 's' },
    ]);
    if (!holds) expect(after).toBe('conflict');
    expect(await store.read(record.id)).toEqual(holds ? after : record);
    if (holds) expect(after).toMatchObject({ message: 'half', steps: [{ key: 's', state: 'started' }], version: 2 });
  });

  test('an ended task never changes', async () => {
    const store = await open();
    const { id } = await added(store);
    const ended = await changed(store, id, end());
    const late: TaskChange[] = [
      end({ type: 'cancelled' }),
      { type: 'request-cancel' },
      { type: 'set-message', message: 'late' },
      { type: 'extend', expiresAtMs: null },
      { type: 'request-input', inputs: [input('late')] },
      { type: 'release', dueAtMs: 0 },
    ];
    for (const change of late) expect(await store.change(id, {}, [change])).toBe('conflict');
    expect(await store.claim('p', ['server'], leaseMs, 10)).toEqual([]);
    expect(await store.read(id)).toEqual(ended);
  });

  test('of many ends at the same time one counts', async () => {
    const store = await open();
    const { id } = await added(store);
    const ends = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        store.change(id, {}, [end({ type: 'error', code: -32603, message: String(n) })]),
      ),
    );
    const won = ends.filter((each) => typeof each !== 'string');
    expect(won).toHaveLength(1);
    expect(await store.read(id)).toEqual(won[0]);
  });

  test('due tasks are claimed by one process, for the services it runs', async () => {
    const store = await open();
    const now = Date.now();
    const first = await added(store, { dueAtMs: now - 5 });
    const later = await added(store, { dueAtMs: now });
    await added(store, { dueAtMs: now + 1 });
    const other = await added(store, { service: 'other' });
    expect(await store.claim('p', [], leaseMs, 10)).toEqual([]);
    expect(await store.claim('p', ['server'], leaseMs, 1)).toEqual([claimRecord(first, 'p', leaseMs, now)]);
    expect(await store.claim('q', ['server', 'more'], leaseMs, 10)).toEqual([claimRecord(later, 'q', leaseMs, now)]);
    expect(await store.claim('q', ['server'], leaseMs, 10)).toEqual([]);
    expect((await store.claim('q', ['server', 'other'], leaseMs, 10)).map(({ id }) => id)).toEqual([other.id]);
    expect(await store.read(first.id)).toEqual(claimRecord(first, 'p', leaseMs, now));
  });

  test('a task is claimed once, however many try', async () => {
    const store = await open();
    for (let n = 0; n < 40; n++) await added(store);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.claim(`p${n}`, ['server'], leaseMs, 5)),
    );
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(40);
    expect(new Set(ids).size).toBe(40);
  });

  test('a task whose lease ended is claimed again, and its earlier holder can write no more', async () => {
    const store = await open();
    const { id } = await added(store);
    const [mine] = await store.claim('p', ['server'], leaseMs, 1);
    vi.advanceTimersByTime(leaseMs - 1);
    expect(await store.claim('q', ['server'], leaseMs, 1)).toEqual([]);
    vi.advanceTimersByTime(1);
    const [theirs] = await store.claim('q', ['server'], leaseMs, 1);
    expect(theirs).toMatchObject({ id, attempt: 2, lease: { holder: 'q' } });
    expect(await store.change(id, { fence: mine?.fence as number }, [end()])).toBe('conflict');
    expect(await store.renew('p', [id], leaseMs)).toEqual([]);
    expect(await store.change(id, { fence: theirs?.fence as number }, [end()])).toMatchObject({ phase: 'ended' });
  });

  test('a renewed lease lasts longer, and only those that are still held are renewed', async () => {
    const store = await open();
    for (let n = 0; n < 3; n++) await added(store);
    const held = await store.claim('p', ['server'], leaseMs, 3);
    const [kept, ended, released] = held.map(({ id }) => id) as [string, string, string];
    await changed(store, ended, end());
    await changed(store, released, { type: 'release', dueAtMs: Date.now() + 3 * leaseMs });
    const before = await store.read(kept);
    vi.advanceTimersByTime(20_000);
    expect(await store.renew('p', [kept, ended, released, 'unknown'], leaseMs)).toEqual([kept]);
    expect(await store.renew('q', [kept], leaseMs)).toEqual([]);
    expect(await store.renew('p', [], leaseMs)).toEqual([]);
    const untilMs = Date.now() + leaseMs;
    expect(await store.read(kept)).toEqual({ ...before, dueAtMs: untilMs, lease: { holder: 'p', untilMs } });
    vi.advanceTimersByTime(20_000);
    expect(await store.claim('q', ['server'], leaseMs, 10)).toEqual([]);
  });

  test('a suspended task is due once everything it asked for is answered or cancelled', async () => {
    const store = await open();
    const { id } = await added(store);
    await store.claim('p', ['server'], leaseMs, 1);
    await changed(store, id, { type: 'request-input', inputs: [input('a'), input('b')] }, { type: 'suspend' });
    vi.advanceTimersByTime(10 * leaseMs);
    expect(await store.claim('p', ['server'], leaseMs, 1)).toEqual([]);
    await changed(store, id, { type: 'answer-input', key: 'a', response: { action: 'accept' } });
    await changed(store, id, { type: 'answer-input', key: 'a', response: 'too late' });
    expect(await store.claim('p', ['server'], leaseMs, 1)).toEqual([]);
    await changed(store, id, { type: 'cancel-inputs', keys: ['b'] });
    const [claimed] = await store.claim('q', ['server'], leaseMs, 1);
    expect(claimed).toMatchObject({ id, phase: 'running', lease: { holder: 'q' } });
    expect(claimed?.inputs).toMatchObject([{ key: 'a', response: { action: 'accept' } }, { cancelled: true }]);
  });

  test('an external task is claimed for polling without another attempt', async () => {
    const store = await open();
    const { id } = await added(store);
    await store.claim('p', ['server'], leaseMs, 1);
    await changed(store, id, { type: 'hand-over', ticket: { job: 7 }, dueAtMs: Date.now() + 5_000 });
    expect(await store.claim('p', ['server'], leaseMs, 1)).toEqual([]);
    vi.advanceTimersByTime(5_000);
    const [claimed] = await store.claim('q', ['server'], leaseMs, 1);
    expect(claimed).toMatchObject({ phase: 'external', attempt: 1, ticket: { job: 7 } });
  });

  test('pages go from the newest to the oldest, and a task that is added meanwhile is on none of the later ones', async () => {
    const store = await open();
    const records: TaskRecord[] = [];
    for (let n = 0; n < 25; n++) {
      records.push(await added(store, { owner: n % 5 === 0 ? 'eve' : 'ada' }));
      vi.advanceTimersByTime(1);
    }
    const ids: string[] = [];
    let after: string | undefined;
    do {
      const page = await store.list({ owner: 'ada', limit: 7, ...(after === undefined ? {} : { after }) });
      expect(page.tasks.length).toBeLessThanOrEqual(7);
      ids.push(...page.tasks.map(({ id }) => id));
      after = page.next;
      await added(store, { owner: 'ada' });
    } while (after !== undefined);
    const expected = records.filter(({ owner }) => owner === 'ada').map(({ id }) => id);
    expect(ids).toEqual(expected.reverse());
  });

  test('the next page exists even if the task that the last one ended with was deleted', async () => {
    const store = await open();
    const records: TaskRecord[] = [];
    for (let n = 0; n < 4; n++) records.push(await added(store));
    const { tasks, next } = await store.list({ limit: 2 });
    await changed(store, (tasks[1] as TaskRecord).id, { ...end(), expiresAtMs: Date.now() } as TaskChange);
    expect((await store.sweep(10)).deleted).toBe(1);
    const rest = await store.list({ limit: 2, after: next as string });
    expect(rest.tasks.map(({ id }) => id)).toEqual([records[1]?.id, records[0]?.id]);
    expect(rest.next).toBeUndefined();
  });

  test('an outline shows the status of a task, and has neither its arguments nor its result', async () => {
    const store = await open();
    const text = 'some words '.repeat(5_000);
    const asking = await added(store, { arguments: { text } });
    await changed(store, asking.id, { type: 'request-input', inputs: [input('name')] });
    const outcomes: TaskOutcome[] = [
      { type: 'cancelled', reason: 'enough' },
      { type: 'error', code: -32603, message: 'broken', data: { text } },
      { type: 'result', result: { content: [{ type: 'text', text: `failed ${text}` }] }, isError: true },
    ];
    outcomes.push({ type: 'result', result: { content: [{ type: 'text', text }] }, isError: false });
    for (const outcome of outcomes) await changed(store, (await added(store)).id, end(outcome));
    const { tasks } = await store.list({ limit: 100, outline: true });
    const views = tasks.map((record) => viewOf(record, undefined, 1)).reverse();
    expect(views.map(({ outcome }) => outcome?.type)).toEqual([undefined, ...outcomes.map(({ type }) => type)]);
    expect(views.slice(0, 4).map(({ statusMessage }) => statusMessage?.slice(0, 13))).toEqual([
      ...[undefined, 'enough', 'broken', 'failed some w'],
    ]);
    expect(Object.keys(views[0]?.inputRequests ?? {})).toEqual(['name']);
    expect(JSON.stringify(tasks).length).toBeLessThan(20_000);
    // The records themselves are as before.
    const newest = await store.read(tasks[0]?.id as string);
    expect(newest?.outcome).toEqual(outcomes.at(-1));
  });

  test('a task that ended before there were summaries is in an outline', async () => {
    const store = await open();
    await added(store, { phase: 'ended', outcome: { type: 'cancelled', reason: 'earlier' } });
    const { tasks } = await store.list({ limit: 10, outline: true });
    expect(tasks.map(({ outcome }) => outcome)).toEqual([{ type: 'cancelled', reason: 'earlier' }]);
  });

  test('a list selects by owner, tool and phase, and leaves out what has expired', async () => {
    const store = await open();
    const one = await added(store, { tool: 'x', owner: 'ada' });
    const two = await added(store, { tool: 'y', owner: 'ada' });
    const three = await added(store, { tool: 'y', owner: '' });
    await added(store, { tool: 'y', owner: 'ada', expiresAtMs: Date.now() });
    await changed(store, two.id, end());
    const ids = async (query: object): Promise<string[]> =>
      (await store.list({ limit: 10, ...query })).tasks.map(({ id }) => id);
    expect(await ids({})).toEqual([three.id, two.id, one.id]);
    expect(await ids({ owner: 'ada' })).toEqual([two.id, one.id]);
    expect(await ids({ owner: '' })).toEqual([three.id]);
    expect(await ids({ owner: 'ad' })).toEqual([]);
    expect(await ids({ tool: 'y' })).toEqual([three.id, two.id]);
    expect(await ids({ phase: 'ended' })).toEqual([two.id]);
    expect(await ids({ owner: 'ada', tool: 'y', phase: 'queued' })).toEqual([]);
  });

  test('unfinished and kept tasks are counted, for an owner and in all', async () => {
    const store = await open();
    const { id } = await added(store, { owner: 'ada' });
    await added(store, { owner: 'ada' });
    await added(store, { owner: 'eve' });
    await changed(store, id, end());
    expect(await store.count()).toEqual({ active: 2, kept: 3 });
    expect(await store.count('ada')).toEqual({ active: 1, kept: 2 });
    expect(await store.count('nobody')).toEqual({ active: 0, kept: 0 });
  });

  test('a sweep deletes what ended and expired, at most so many, and names what expired before its end', async () => {
    const store = await open();
    for (let n = 0; n < 5; n++) await changed(store, (await added(store)).id, end());
    const running = await added(store, { expiresAtMs: Date.now() + 900_000 });
    const forever = await added(store, { expiresAtMs: null });
    await changed(store, (await added(store)).id, { ...end(), expiresAtMs: null } as TaskChange);
    expect(await store.sweep(10)).toEqual({ deleted: 0, expired: [] });
    vi.advanceTimersByTime(900_000);
    expect((await store.sweep(3)).deleted).toBe(3);
    expect(await store.sweep(10)).toEqual({ deleted: 2, expired: [running] });
    expect(await store.sweep(10)).toEqual({ deleted: 0, expired: [running] });
    expect(await store.count()).toEqual({ active: 2, kept: 3 });
    expect(await store.read(forever.id)).toEqual(forever);
  });

  test('whatever is done, in any order, the store holds what the changes say', { timeout: 60_000 }, async () => {
    const names = fc.constantFrom('a', 'b', 'c');
    const change: fc.Arbitrary<TaskChange> = fc.oneof(
      names.map((key): TaskChange => ({ type: 'request-input', inputs: [input(key)] })),
      fc.record({ type: fc.constant('answer-input' as const), key: names, response: json }),
      names.map((key): TaskChange => ({ type: 'cancel-inputs', keys: [key] })),
      names.map((key): TaskChange => ({ type: 'start-step', key })),
      fc.record({ type: fc.constant('finish-step' as const), key: names, value: json }),
      fc.string().map((message): TaskChange => ({ type: 'set-message', message })),
      fc.constant<TaskChange>({ type: 'suspend' }),
      fc.constant<TaskChange>({ type: 'request-cancel' }),
      fc.nat(50_000).map((ms): TaskChange => ({ type: 'release', dueAtMs: Date.now() + ms })),
      fc.record({ type: fc.constant('hand-over' as const), ticket: json }),
      json.map((result): TaskChange => {
        return { type: 'end', outcome: { type: 'result', result, isError: false }, expiresAtMs: null };
      }),
    );
    const action = fc.oneof(
      { weight: 6, arbitrary: fc.record({ at: fc.nat(2), changes: fc.array(change, { minLength: 1, maxLength: 3 }) }) },
      { weight: 2, arbitrary: fc.record({ claim: fc.constantFrom('p', 'q'), max: fc.integer({ min: 1, max: 3 }) }) },
      { weight: 1, arbitrary: fc.record({ passMs: fc.nat(40_000) }) },
    );
    const store = await open();
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
        const service = `run ${++runs}`;
        const model = new Map<string, TaskRecord>();
        for (let n = 0; n < 3; n++) {
          const record = await added(store, { service, dueAtMs: Date.now() + n, expiresAtMs: null });
          model.set(record.id, record);
        }
        for (const each of actions) {
          const now = Date.now();
          if ('passMs' in each) vi.advanceTimersByTime(each.passMs);
          else if ('claim' in each) {
            for (const claimed of await store.claim(each.claim, [service], leaseMs, each.max)) {
              const before = model.get(claimed.id) as TaskRecord;
              expect(before.dueAtMs).toBeLessThanOrEqual(now);
              expect(claimed).toEqual(claimRecord(before, each.claim, leaseMs, now));
              model.set(claimed.id, claimed);
            }
          } else {
            const before = [...model.values()][each.at] as TaskRecord;
            const expected = changeRecord(before, {}, each.changes, now);
            expect(await store.change(before.id, {}, each.changes)).toEqual(expected);
            if (expected !== 'conflict') model.set(before.id, expected);
          }
        }
        for (const record of model.values()) expect(await store.read(record.id)).toEqual(record);
      }),
      propertyRuns(20),
    );
  });
});

/** JSON that survives being written as text: without -0 and without absent values. */
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
