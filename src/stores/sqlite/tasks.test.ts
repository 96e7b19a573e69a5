import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { taskRecord } from '../../../test/support/task-records.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import type { TaskRecord } from '../../engine/tasks/store/task-store.ts';
import { Database } from './database.ts';
import { connectSqlite, type SqliteConnection } from './driver.ts';
import { type DataFolder, type DataFolderOptions, openDataFolder } from './index.ts';
import { LeaseClock } from './lease-clock.ts';
import { SqliteTasks } from './tasks.ts';

let folder = '';
const opened: { close(): Promise<void> }[] = [];

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function open(options: DataFolderOptions = {}): Promise<DataFolder> {
  const data = await openDataFolder(folder, options);
  opened.push(data);
  return data;
}

const file = (): string => join(folder, 'mooring.db');
const leaseMs = 30_000;
const ended = (expiresAtMs: number | null = Date.now() + 60_000) =>
  ({ type: 'end', outcome: { type: 'cancelled' }, expiresAtMs }) as const;

async function added({ tasks }: DataFolder, given: Partial<TaskRecord> = {}): Promise<TaskRecord> {
  const record = taskRecord(given);
  await tasks.create(record);
  return record;
}

async function edit(work: (db: SqliteConnection) => void): Promise<void> {
  const db = await connectSqlite(file());
  work(db);
  db.close();
}

test('tasks survive a restart, with everything that was acknowledged', async () => {
  const data = await open();
  const { id } = await added(data, { arguments: { large: 'x'.repeat(200_000) } });
  await data.tasks.claim('p', ['server'], leaseMs, 1);
  const changed = await data.tasks.change(id, {}, [
    { type: 'finish-step', key: 'a', value: [1] },
    { type: 'set-message', message: 'half' },
  ]);
  await data.close();
  expect(await (await open()).tasks.read(id)).toEqual(changed);
});

test('two processes claim every task once, and write by turns without losing anything', async () => {
  const [one, other] = [await open({ busyTimeoutMs: 20_000 }), await open({ busyTimeoutMs: 20_000 })];
  const records = await Promise.all(Array.from({ length: 60 }, (_, n) => added(n % 2 === 0 ? one : other)));
  const claimed: string[] = [];
  await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      // Small groups, so that the two really meet.
      await new Promise((resolve) => setTimeout(resolve, n % 7));
      const [holder, { tasks }] = n % 2 === 0 ? ['p', one] : ['q', other];
      claimed.push(...(await tasks.claim(holder as string, ['server'], leaseMs, 3)).map(({ id }) => id));
    }),
  );
  expect(claimed.sort()).toEqual(records.map(({ id }) => id).sort());
  const { id } = records[0] as TaskRecord;
  const ends = await Promise.all(
    Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? one : other).tasks.change(id, {}, [ended()])),
  );
  expect(ends.filter((each) => each !== 'conflict')).toHaveLength(1);
});

test('changes of other processes are reported, own changes are not, and only listeners cause polling', async () => {
  const [one, other] = [await open({ pollMs: 5 }), await open({ pollMs: 5 })];
  const { id } = await added(one);
  const heard: string[] = [];
  let wake: () => void = () => {};
  const stop = other.tasks.watch((each) => {
    heard.push(each);
    wake();
  });
  const next = () => new Promise<void>((resolve) => (wake = resolve));
  let news = next();
  await one.tasks.change(id, {}, [{ type: 'request-cancel' }]);
  await news;
  const own = await added(other);
  news = next();
  await one.tasks.change(own.id, {}, [{ type: 'request-cancel' }]);
  await news;
  stop();
  await one.tasks.change(id, {}, [{ type: 'set-message', message: 'not heard' }]);
  expect(heard).toEqual([id, own.id]);
  // Listening again starts from now.
  const again: string[] = [];
  other.tasks.watch((each) => {
    again.push(each);
    wake();
  });
  news = next();
  const third = await added(one);
  await news;
  expect(again).toEqual([third.id]);
});

test('a task that was read before is read again after another process changed it', async () => {
  const [one, other] = [await open(), await open()];
  const { id } = await added(one);
  for (let n = 0; n < 5; n++) {
    const changed = await (n % 2 === 0 ? one : other).tasks.change(id, {}, [{ type: 'set-message', message: `${n}` }]);
    // Requests of one turn share one check of the file.
    await new Promise((resolve) => setImmediate(resolve));
    for (const { tasks } of [one, other, one, other]) expect(await tasks.read(id)).toEqual(changed);
  }
});

test('creating a task and ending it are one commit each', async () => {
  const database = await Database.open(folder);
  opened.push(database);
  const tasks = new SqliteTasks(database);
  let commits = 0;
  database.onChange(() => commits++);
  const lease = { holder: 'p', untilMs: Date.now() + leaseMs };
  const record = taskRecord({ phase: 'running', attempt: 1, fence: 1, lease, dueAtMs: lease.untilMs });
  await tasks.create(record);
  await tasks.change(record.id, { fence: 1 }, [ended()]);
  expect(commits).toBe(2);
});

test('changes of many tasks in one turn share a commit', async () => {
  const database = await Database.open(folder);
  opened.push(database);
  const tasks = new SqliteTasks(database);
  const records = Array.from({ length: 200 }, () => taskRecord());
  await Promise.all(records.map((record) => tasks.create(record)));
  let commits = 0;
  database.onChange(() => commits++);
  await Promise.all(records.map(({ id }) => tasks.change(id, {}, [{ type: 'set-message', message: 'more' }])));
  expect(commits).toBe(1);
});

test('an id is used once, and the writes beside it are not disturbed', async () => {
  const data = await open();
  const record = await added(data);
  const created = [data.tasks.create({ ...record, tool: 'other' }), data.tasks.create(taskRecord())];
  expect((await Promise.allSettled(created)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(await data.tasks.read(record.id)).toEqual(record);
});

test('the longest due task is claimed first', async () => {
  const data = await open();
  const now = Date.now();
  const records = [await added(data, { dueAtMs: now - 1 }), await added(data, { dueAtMs: now - 9 })];
  const claimed = [
    ...(await data.tasks.claim('p', ['server'], leaseMs, 1)),
    ...(await data.tasks.claim('p', ['server'], leaseMs, 1)),
  ];
  expect(claimed.map(({ id }) => id)).toEqual(records.reverse().map(({ id }) => id));
});

test('after the clock jumped forward, holders get the time of one lease to renew theirs', async () => {
  const database = await Database.open(folder);
  opened.push(database);
  let [wall, monotonic] = [1_000_000, 0];
  const tasks = new SqliteTasks(
    database,
    {},
    new LeaseClock(
      () => wall,
      () => monotonic,
    ),
  );
  const pass = (ms: number): void => {
    wall += ms;
    monotonic += ms;
  };
  const record = taskRecord({ dueAtMs: wall, expiresAtMs: null });
  await tasks.create(record);
  await tasks.claim('p', ['server'], leaseMs, 1);
  wall += 600_000;
  const queued = taskRecord({ dueAtMs: wall, expiresAtMs: null });
  await tasks.create(queued);
  const claimed = await tasks.claim('q', ['server'], leaseMs, 10);
  expect(claimed.map(({ id }) => id)).toEqual([queued.id]);
  pass(10_000);
  expect(await tasks.renew('p', [record.id], leaseMs)).toEqual([record.id]);
  pass(25_000);
  expect((await tasks.claim('r', ['server'], leaseMs, 10)).map(({ id }) => id)).toEqual([queued.id]);
  pass(leaseMs);
  expect(await tasks.claim('r', ['server'], leaseMs, 10)).toHaveLength(2);
});

test('pages and claims of large tasks are small', async () => {
  const data = await open();
  const large = { text: 'x'.repeat(3 * 1024 * 1024) };
  for (let n = 0; n < 5; n++) await added(data, { arguments: large });
  const sizes: number[] = [];
  let after: string | undefined;
  do {
    const page = await data.tasks.list({ limit: 50, ...(after === undefined ? {} : { after }) });
    sizes.push(page.tasks.length);
    after = page.next;
  } while (after !== undefined);
  expect(sizes).toEqual([2, 2, 1]);
  for (const { id } of (await data.tasks.list({ limit: 1 })).tasks) await data.tasks.change(id, {}, [ended(null)]);
  expect((await data.tasks.list({ limit: 50, outline: true })).tasks).toHaveLength(3);
  expect(await data.tasks.claim('p', ['server'], leaseMs, 50)).toHaveLength(2);
});

test('a sweep deletes in several transactions, parts included', async () => {
  const data = await open();
  const records = Array.from({ length: 1_200 }, () => taskRecord());
  await Promise.all(records.map((record) => data.tasks.create(record)));
  await Promise.all(records.map(({ id }) => data.tasks.change(id, {}, [ended(Date.now() - 1)])));
  let commits = 0;
  const database = await Database.open(folder, { pollMs: 0 });
  opened.push(database);
  const tasks = new SqliteTasks(database);
  database.onChange(() => commits++);
  expect((await tasks.sweep(2_000)).deleted).toBe(1_200);
  expect(commits).toBe(3);
  expect(database.statement('select count(*) as count from task_parts').get()).toEqual({ count: 0 });
});

/** A database whose syncs a test ends. */
async function openUnsynced(): Promise<{ database: Database; tasks: SqliteTasks; syncs: ((error?: Error) => void)[] }> {
  const syncs: ((error?: Error) => void)[] = [];
  const database = await Database.open(folder, { pollMs: 0 }, (_descriptor, done) => {
    syncs.push((error) => done(error ?? null));
  });
  opened.push({
    close: () => {
      const closed = database.close();
      for (const end of syncs.splice(0)) end();
      return closed;
    },
  });
  return { database, tasks: new SqliteTasks(database), syncs };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** What has become of a promise by now. */
async function stateOf(promise: unknown): Promise<unknown> {
  for (let n = 0; n < 3; n++) await turn();
  return Promise.race([promise, 'waiting']);
}

test('an outcome that is not on the disk yet is not shown: reading waits for its sync', async () => {
  const { id } = await added(await open());
  const { tasks, syncs } = await openUnsynced();
  // What the other process wrote is synced before it is first shown.
  const first = tasks.read(id);
  expect(await stateOf(first)).toBe('waiting');
  syncs.shift()?.();
  expect(await first).toMatchObject({ phase: 'queued' });
  // From then on it is answered at once.
  expect(tasks.read(id)).toMatchObject({ phase: 'queued' });
  expect(tasks.read(id)).toBe(tasks.read(id));
  const end = tasks.change(id, {}, [ended()]);
  while (syncs.length === 0) await turn();
  const [read, listed] = [tasks.read(id), tasks.list({ limit: 5 })];
  expect(await stateOf(read)).toBe('waiting');
  expect(await stateOf(listed)).toBe('waiting');
  while (syncs.length > 0) {
    syncs.shift()?.();
    await turn();
  }
  expect(await end).toMatchObject({ phase: 'ended' });
  expect(await read).toMatchObject({ phase: 'ended' });
  expect((await listed).tasks).toMatchObject([{ phase: 'ended' }]);
  expect(tasks.read(id)).toMatchObject({ phase: 'ended' });
});

test('an outcome of another process is synced before it is shown', async () => {
  const data = await open();
  const { id } = await added(data);
  const { tasks, syncs } = await openUnsynced();
  const first = tasks.read(id);
  syncs.shift()?.();
  await first;
  await data.tasks.change(id, {}, [ended()]);
  await turn();
  const read = tasks.read(id);
  expect(await stateOf(read)).toBe('waiting');
  syncs.shift()?.();
  expect(await read).toMatchObject({ phase: 'ended' });
  expect(syncs).toHaveLength(0);
});

test('an outcome whose sync failed is not shown before another sync succeeds', async () => {
  const { id } = await added(await open());
  const { tasks, syncs } = await openUnsynced();
  const end = tasks.change(id, {}, [ended()]);
  end.catch(() => {});
  while (syncs.length === 0) await turn();
  syncs.shift()?.(new Error('input/output error'));
  await expect(end).rejects.toThrow();
  const failed = tasks.read(id) as Promise<unknown>;
  failed.catch(() => {});
  syncs.shift()?.(new Error('input/output error'));
  await expect(failed).rejects.toThrow();
  const read = tasks.read(id);
  expect(await stateOf(read)).toBe('waiting');
  syncs.shift()?.();
  expect(await read).toMatchObject({ phase: 'ended' });
});

test('a task with a flipped byte is reported when it is read, and does not disturb others', async () => {
  const data = await open();
  const [broken, whole] = [await added(data), await added(data)];
  await edit((db) => {
    const where = `task = (select number from tasks where id = '${broken.id}') and kind = 'arguments'`;
    db.exec(`update task_parts set value = '{"scene":"harbouR"}' where ${where}`);
  });
  await expect(data.tasks.read(broken.id)).rejects.toThrow(/damaged.*task/);
  expect((await data.tasks.list({ limit: 10 })).tasks).toEqual([whole]);
  expect((await data.tasks.claim('p', ['server'], leaseMs, 10)).map(({ id }) => id)).toEqual([whole.id]);
  await data.close();
  // The server starts all the same.
  const again = await open();
  expect(await again.tasks.claim('p', ['server'], leaseMs, 10)).toEqual([]);
  await expect(again.tasks.read(broken.id)).rejects.toThrow(/damaged.*task/);
});

test('a task that lost its arguments does not run', async () => {
  const data = await open();
  const { id } = await added(data);
  await edit((db) => db.exec(`delete from task_parts where kind = 'arguments'`));
  expect(await data.tasks.claim('p', ['server'], leaseMs, 10)).toEqual([]);
  await expect(data.tasks.read(id)).rejects.toThrow('damaged');
});

test('a database that is too large takes no more tasks and says why', async () => {
  const data = await open({ maxBytesTotal: 200_000 });
  await added(data, { arguments: { text: 'x'.repeat(300_000) } });
  await expect(data.tasks.create(taskRecord())).rejects.toMatchObject({ code: 'limit', message: /store is full/ });
});

test('a file that cannot be written is reported, nothing hangs, and reading goes on', async () => {
  const data = await open();
  const record = await added(data);
  // Makes every write fail as on a disk that is mounted read-only, also for root.
  const database = await Database.open(folder);
  opened.push(database);
  const tasks = new SqliteTasks(database);
  database.statement('pragma query_only = 1').get();
  await expect(tasks.create(taskRecord())).rejects.toMatchObject({ code: 'denied', message: /Check its permissions/ });
  await expect(tasks.change(record.id, {}, [ended()])).rejects.toMatchObject({ code: 'denied' });
  await expect(tasks.claim('p', ['server'], leaseMs, 1)).rejects.toMatchObject({ code: 'denied' });
  expect(await tasks.read(record.id)).toEqual(record);
  expect((await tasks.list({ limit: 5 })).tasks).toEqual([record]);
});

test('a folder without permission is reported when it is opened', async () => {
  if (process.getuid?.() === 0) return; // Root may write everywhere.
  chmodSync(folder, 0o500);
  await expect(openDataFolder(folder)).rejects.toMatchObject({ code: 'denied' });
  chmodSync(folder, 0o700);
});
