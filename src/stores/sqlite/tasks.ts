// `TaskStore` in the data folder: tasks outlive the process, and several processes on one folder share them. What a
// change does is in engine/tasks/task-record.ts, the layout of the tables in task-rows.ts.

import { outlineOf } from '../../engine/tasks/store/outcome-summary.ts';
import { changeRecord, claimRecord } from '../../engine/tasks/store/task-record.ts';
import type {
  TaskChange,
  TaskGuard,
  TaskPage,
  TaskQuery,
  TaskRecord,
  TaskStore,
} from '../../engine/tasks/store/task-store.ts';
import { taskPartChecksum } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow, SqlValue } from './driver.ts';
import { StoreError } from './errors.ts';
import { LeaseClock } from './lease-clock.ts';
import { RecentTasks } from './recent-tasks.ts';
import { TaskChanges } from './task-changes.ts';
import { type TaskCount, TaskCounts } from './task-counts.ts';
import { changedParts, decodeTask, encodeTask, type TaskPart, taskColumns } from './task-rows.ts';

export interface SqliteTasksOptions {
  /** Tasks that are kept, ended ones included; stops clients from filling the disk with small tasks. Default 100,000. */
  readonly maxTasks?: number;
  /** Bytes of the whole database beyond which no task is added; stops clients from filling the disk. Default 1 GiB. */
  readonly maxBytesTotal?: number;
}

/** Records that one list, claim or sweep reads: bounds its memory and how long it keeps others waiting. */
const maxBytesAtOnce = 8 * 1024 * 1024;
/** Tasks that one transaction deletes or renews: some milliseconds. */
const portion = 500;

/** A task that was read from the file. */
interface ReadTask {
  readonly record: TaskRecord;
  readonly bytes: number;
}

const selected = `number, bytes, ${taskColumns.join(', ')}`;
const unended = `phase <> 'ended'`;

export class SqliteTasks implements TaskStore {
  readonly durable = true;
  readonly #db: Database;
  readonly #clock: LeaseClock;
  readonly #changes: TaskChanges;
  readonly #counts: TaskCounts;
  readonly #recent: RecentTasks;
  readonly #maxTasks: number;
  readonly #maxBytesTotal: number;

  constructor(db: Database, options: SqliteTasksOptions = {}, clock = new LeaseClock()) {
    this.#db = db;
    this.#clock = clock;
    this.#changes = new TaskChanges(db);
    this.#counts = new TaskCounts(db);
    this.#recent = new RecentTasks(db);
    this.#maxTasks = options.maxTasks ?? 100_000;
    this.#maxBytesTotal = options.maxBytesTotal ?? 1024 * 1024 * 1024;
  }

  create(record: TaskRecord): Promise<{ readonly created: true } | { readonly existing: TaskRecord }> {
    return this.#db.write(() => {
      const existing = record.dedupeKey === undefined ? undefined : this.#findDuplicate(record, record.dedupeKey);
      if (existing !== undefined) return { existing };
      this.#checkSpace();
      this.#insert(record);
      return { created: true };
    });
  }

  read(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined> {
    try {
      const read = this.#db.read(() => this.#recent.get(id) ?? this.#readRow(id));
      return read instanceof Promise ? read.then((found) => this.#whenSynced(found)) : this.#whenSynced(read);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #readRow(id: string): ReadTask | undefined {
    const row = this.#find(id);
    return row && { record: this.#load(row), bytes: Number(row['bytes']) };
  }

  /** A change is returned only when it is on disk: a power cut must not undo an outcome that a client has read. */
  #whenSynced(read: ReadTask | TaskRecord | undefined): TaskRecord | undefined | Promise<TaskRecord | undefined> {
    if (read === undefined) return undefined;
    if (!('bytes' in read)) return this.#unlessExpired(read);
    const { record, bytes } = read;
    const syncing = this.#db.synced();
    if (syncing !== undefined) return syncing.then(() => this.#unlessExpired(record));
    this.#recent.set(record, bytes);
    return this.#unlessExpired(record);
  }

  #unlessExpired(record: TaskRecord): TaskRecord | undefined {
    const { expiresAtMs } = record;
    return expiresAtMs !== null && expiresAtMs <= this.#clock.now() ? undefined : record;
  }

  change(id: string, guard: TaskGuard, changes: readonly TaskChange[]): Promise<TaskRecord | 'conflict' | 'gone'> {
    return this.#db.write(() => {
      const row = this.#find(id);
      if (row === undefined) return 'gone';
      const before = this.#load(row);
      const after = changeRecord(before, guard, changes, this.#clock.now());
      if (after !== 'conflict') this.#update(row, before, after);
      return after;
    });
  }

  async claim(
    holder: string,
    services: readonly string[],
    leaseMs: number,
    max: number,
  ): Promise<readonly TaskRecord[]> {
    const leased = this.#clock.leasesEnd(leaseMs) ? '' : 'and holder is null';
    const which = `from tasks where due <= ? and service in (select value from json_each(?)) ${leased}`;
    const names = JSON.stringify(services.map((service) => JSON.stringify(service)));
    const none = await this.#db.read(
      () => this.#db.statement(`select 1 ${which} limit 1`).get(this.#clock.now(), names) === undefined,
    );
    // Most of the time nothing is due, and this query needs no lock.
    if (none) return [];
    return this.#db.write(() => {
      const now = this.#clock.now();
      const due = this.#db.statement(`select ${selected} ${which} order by due limit ?`).all(now, names, max);
      return withinBytes(due).flatMap((row) => {
        const record = this.#decode(row);
        if (record === undefined) {
          // It cannot run, and must not keep others from running. Reading it reports the damage.
          this.#db.statement('update tasks set due = null where number = ?').run(row['number'] as number);
          return [];
        }
        const claimed = claimRecord(record, holder, leaseMs, now);
        this.#update(row, record, claimed);
        return [claimed];
      });
    });
  }

  async renew(holder: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const held: string[] = [];
    for (let from = 0; from < ids.length; from += portion) {
      const some = JSON.stringify(ids.slice(from, from + portion));
      const rows = await this.#db.write(() => {
        const untilMs = this.#clock.now() + leaseMs;
        return this.#db
          .statement(
            `update tasks set due = ?, lease_until = ? where holder = ? and id in (select value from json_each(?))
             returning id`,
          )
          .all(untilMs, untilMs, holder, some);
      });
      for (const row of rows) this.#recent.delete(row['id'] as string);
      held.push(...rows.map((row) => row['id'] as string));
    }
    return held;
  }

  async list({ owner, tool, phase, after, limit, outline = false }: TaskQuery): Promise<TaskPage> {
    const conditions = ['(expires is null or expires > ?)'];
    const values: SqlValue[] = [this.#clock.now()];
    const where = (condition: string, value: SqlValue | undefined): void => {
      if (value === undefined) return;
      conditions.push(condition);
      values.push(value);
    };
    where('owner = ?', owner === undefined ? undefined : JSON.stringify(owner));
    where('tool = ?', tool === undefined ? undefined : JSON.stringify(tool));
    where('phase = ?', phase);
    // An invalid cursor starts after the last task.
    where('number < ?', after === undefined ? undefined : /^\d{1,15}$/.test(after) ? Number(after) : 0);
    const listed = await this.#db.read(() =>
      this.#db.snapshot(() => {
        const rows = this.#db
          .statement(`select ${selected} from tasks where ${conditions.join(' and ')} order by number desc limit ?`)
          .all(...values, limit + 1);
        const page = withinBytes(rows.slice(0, limit), outline ? outlineBytes : bytesOf);
        // A damaged task is not in the list; reading it reports the damage.
        const tasks = page.flatMap((row) => (outline ? this.#decodeOutline(row) : this.#decode(row)) ?? []);
        return page.length === rows.length ? { tasks } : { tasks, next: String(page.at(-1)?.['number']) };
      }),
    );
    await this.#db.synced();
    return listed;
  }

  async count(owner?: string): Promise<TaskCount> {
    return this.#db.read(() => this.#counts.of(owner));
  }

  async sweep(max: number): Promise<{ readonly deleted: number; readonly expired: readonly TaskRecord[] }> {
    let deleted = 0;
    for (;;) {
      const some = await this.#deleteSome(Math.min(portion, max - deleted));
      deleted += some;
      if (some === 0 || deleted >= max) break;
    }
    const expired = await this.#db.read(() => {
      const rows = this.#db
        .statement(`select ${selected} from tasks where expires <= ? and ${unended} order by expires limit ?`)
        .all(this.#clock.now(), Math.max(0, max - deleted));
      return withinBytes(rows).flatMap((row) => this.#decode(row) ?? []);
    });
    return { deleted, expired };
  }

  /** Deletes some ended tasks; other work runs between two portions. */
  async #deleteSome(max: number): Promise<number> {
    const which = `from tasks where expires <= ? and phase = 'ended'`;
    const none = await this.#db.read(
      () => this.#db.statement(`select 1 ${which} limit 1`).get(this.#clock.now()) === undefined,
    );
    if (none || max <= 0) return 0;
    return this.#db.write(() => {
      const rows = withinBytes(
        this.#db
          .statement(`select number, id, owner, bytes ${which} order by expires limit ?`)
          .all(this.#clock.now(), max),
      );
      for (const { number, id, owner } of rows) {
        this.#recent.delete(id as string);
        // The parts of a task go with it (`on delete cascade`).
        this.#db.statement('delete from tasks where number = ?').run(number as number);
        this.#counts.add(JSON.parse(owner as string), { active: 0, kept: -1 });
      }
      return rows.length;
    });
  }

  watch(listener: (id: string) => void): () => void {
    return this.#changes.watch(listener);
  }

  #findDuplicate({ service, owner, tool }: TaskRecord, key: string): TaskRecord | undefined {
    const row = this.#db
      .statement(
        `select ${selected} from tasks where service = ? and owner = ? and tool = ? and dedupe = ? and ${unended}
         and (expires is null or expires > ?)`,
      )
      .get(...[service, owner, tool, key].map((text) => JSON.stringify(text)), this.#clock.now());
    return row === undefined ? undefined : this.#load(row);
  }

  #checkSpace(): void {
    const { kept } = this.#counts.of();
    if (kept >= this.#maxTasks) {
      throw new StoreError(
        'limit',
        `The task store is full: it keeps ${kept} tasks, and its limit is ${this.#maxTasks}. Ended tasks are deleted when they expire`,
      );
    }
    if (this.#db.usedBytes() > this.#maxBytesTotal) {
      throw new StoreError(
        'limit',
        `The task store is full: the limit of the database is ${this.#maxBytesTotal} bytes. Ended tasks are deleted when they expire`,
      );
    }
  }

  #find(id: string): SqlRow | undefined {
    const row = this.#db.statement(`select ${selected} from tasks where id = ?`).get(id);
    // SQLite compares up to a NUL, and clients choose what is looked up.
    return row?.['id'] === id ? row : undefined;
  }

  #decode(row: SqlRow): TaskRecord | undefined {
    return decodeTask(row, this.#partsOf(row));
  }

  #partsOf(row: SqlRow, kind?: TaskPart['kind']): readonly SqlRow[] {
    const which = `select task, kind, position, value, checksum from task_parts where task = ?`;
    const number = row['number'] as number;
    if (kind === undefined) return this.#db.statement(`${which} order by kind, position`).all(number);
    return this.#db.statement(`${which} and kind = ? order by position`).all(number, kind);
  }

  /** Reads the parts that `outlineOf` does not leave out. */
  #decodeOutline(row: SqlRow): TaskRecord | undefined {
    const isEnded = row['phase'] === 'ended';
    const parts = hasSummary(row) ? [] : this.#partsOf(row, isEnded ? 'outcome' : 'input');
    const record = decodeTask(row, parts, true);
    return record && outlineOf(record);
  }

  #load(row: SqlRow): TaskRecord {
    const record = this.#decode(row);
    if (record === undefined) throw this.#db.damagedRecord(`task ${row['id']}`);
    return record;
  }

  #insert(record: TaskRecord): void {
    const row = encodeTask(record);
    const parts = changedParts(undefined, record);
    const inserted = this.#db
      .statement(
        `insert into tasks (${taskColumns.join(', ')}, bytes, changed)
         values (${taskColumns.map(() => '?').join(', ')}, ?, ?) on conflict (id) do nothing returning number`,
      )
      .get(...taskColumns.map((column) => row[column]), lengthOf(parts), this.#changes.next());
    if (inserted === undefined) throw new StoreError('failed', `Task ${record.id} already exists`);
    this.#writeParts(Number(inserted['number']), parts);
    this.#counts.add(record.owner, { active: record.phase === 'ended' ? 0 : 1, kept: 1 });
  }

  #update(row: SqlRow, before: TaskRecord, after: TaskRecord): void {
    this.#recent.delete(after.id);
    const [number, changed] = [row['number'] as number, encodeTask(after)];
    const parts = changedParts(before, after);
    // A column that is set is written to its indexes, even with the same value.
    const columns = taskColumns.filter((column) => changed[column] !== row[column]);
    this.#db
      .statement(
        `update tasks set ${columns.map((column) => `${column} = ?`).join(', ')}, bytes = bytes + ?, changed = ?
         where number = ?`,
      )
      .run(...columns.map((column) => changed[column]), lengthOf(parts), this.#changes.next(), number);
    this.#writeParts(number, parts);
    if (after.phase === 'ended') this.#counts.add(after.owner, { active: -1, kept: 0 });
  }

  #writeParts(task: number, parts: readonly TaskPart[]): void {
    for (const { kind, position, value } of parts) {
      this.#db
        .statement('insert or replace into task_parts (task, kind, position, value, checksum) values (?, ?, ?, ?, ?)')
        .run(task, kind, position, value, taskPartChecksum({ task, kind, position, value }));
    }
  }
}

const lengthOf = (parts: readonly TaskPart[]): number => parts.reduce((sum, { value }) => sum + value.length, 0);

const bytesOf = (row: SqlRow): number => Number(row['bytes']);

/** At most what an outline reads. */
const outlineBytes = (row: SqlRow): number => (hasSummary(row) ? 0 : bytesOf(row));

/** False for a task that has not ended, or did so before there were summaries. */
const hasSummary = (row: SqlRow): boolean => (row['state'] as string).includes('"summary":{');

/** The first rows whose records together are not too large; at least one. */
function withinBytes(rows: readonly SqlRow[], measure = bytesOf): readonly SqlRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => (bytes += measure(row)) > maxBytesAtOnce && index > 0);
  return end === -1 ? rows : rows.slice(0, end);
}
