// `TaskStore` in Redis: tasks outlive processes, and all processes of a deployment share them. What a change does is in
// engine/tasks/task-record.ts: it is computed here, and stored if nothing else has changed the task meanwhile. How
// durable a task is depends on how Redis saves its data.

import { UserError } from '../../common/user-error.ts';
import { changeRecord } from '../../engine/tasks/store/task-record.ts';
import type {
  TaskChange,
  TaskGuard,
  TaskPage,
  TaskQuery,
  TaskRecord,
  TaskStore,
} from '../../engine/tasks/store/task-store.ts';
import type { Bus } from '../../protocol/ports.ts';
import type { RedisConnection } from './connection.ts';
import type { Reply } from './driver.ts';
import { changedFields, decodeListed, decodeTask, dedupeField, encodeTask, numberOf } from './task-fields.ts';
import {
  changeTask,
  claimTasks,
  createTask,
  deleteTasks,
  expiredTasks,
  listTasks,
  readTask,
  renewTasks,
} from './task-scripts.ts';

export interface RedisTasksOptions {
  /** Tasks that are kept, ended ones included; stops clients from filling Redis with small tasks. Default 100,000. */
  readonly maxTasks?: number;
  /** Characters of arguments, results and inputs of all tasks; stops clients from filling it with large ones. Default 256 Mi. */
  readonly maxBytesTotal?: number;
}

/** Records that one list or claim reads: bounds its memory. */
const maxBytesAtOnce = 8 * 1024 * 1024;
/** Tasks that one script deletes or renews: Redis serves nothing else meanwhile. */
const portion = 200;
/** Tasks of a list that are read together. */
const listed = 100;
/** Stops an endless retry of a change to a task that other processes keep changing. */
const maxAttempts = 100;

/** Bytes, and the fields of each task. */
type ListedTasks = readonly [string, readonly (readonly string[])[]];

const topic = 'tasks';

export class RedisTasks implements TaskStore {
  readonly durable = true;
  readonly #redis: RedisConnection;
  readonly #prefix: string;
  readonly #bus: Bus | undefined;
  readonly #replicated: () => Promise<void> | undefined;
  readonly #now: () => number;
  readonly #maxTasks: number;
  readonly #maxBytesTotal: number;
  readonly #listeners = new Set<(id: string) => void>();
  /** Tasks changed in this turn of the event loop. */
  readonly #changed = new Set<string>();

  /** `replicated`: called after a task was created or has ended. `now`: the clock of a test; -1: that of Redis. */
  constructor(
    redis: RedisConnection,
    prefix: string,
    bus: Bus | undefined,
    options: RedisTasksOptions = {},
    replicated: () => Promise<void> | undefined = () => undefined,
    now: () => number = () => -1,
  ) {
    this.#redis = redis;
    this.#prefix = `${prefix}tasks:`;
    this.#bus = bus;
    this.#replicated = replicated;
    this.#now = now;
    this.#maxTasks = options.maxTasks ?? 100_000;
    this.#maxBytesTotal = options.maxBytesTotal ?? 256 * 1024 * 1024;
    bus?.listen(topic, (ids, from) => {
      if (from === bus.process || !Array.isArray(ids)) return;
      for (const id of ids) for (const listener of this.#listeners) listener(id as string);
    });
  }

  async create(record: TaskRecord): Promise<{ readonly created: true } | { readonly existing: TaskRecord }> {
    const { id, owner, service, expiresAtMs, dueAtMs, phase, lease } = record;
    const { fields, bytes } = encodeTask(record);
    const keys = [
      ...[this.#task(id), this.#key('all'), this.#ofOwner(owner), this.#due(service)],
      ...['open', 'ended', 'counts', 'dedupe', 'number'].map((name) => this.#key(name)),
    ];
    const args = [
      ...[this.#now(), id, this.#task(''), this.#maxTasks, this.#maxBytesTotal, bytes],
      ...[JSON.stringify(owner), dedupeField(record), numberOf(expiresAtMs ?? undefined), numberOf(dueAtMs), phase],
      // The time of this process, to compare it with that of Redis.
      ...[Date.now(), numberOf(lease?.untilMs)],
    ];
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const [outcome, what] = (await this.#redis.run(createTask, keys, [...args, ...fields])) as readonly string[];
      if (outcome === 'created') {
        this.#tell(id);
        await this.#replicated();
        return { created: true };
      }
      if (outcome === 'full') {
        throw new UserError(`The store of tasks is full: it has ${what}. Try again when some have expired`);
      }
      if (outcome !== 'existing') throw new Error(`Task ${id} already exists`);
      const existing = await this.read(what as string);
      if (existing !== undefined) return { existing };
    }
    throw new Error('Tasks with the same key are created and end too fast to return one');
  }

  async read(id: string): Promise<TaskRecord | undefined> {
    return (await this.#read(id, true)).record;
  }

  async #read(id: string, unexpired: boolean): Promise<{ readonly nowMs: number; readonly record?: TaskRecord }> {
    // Clients choose what is looked up.
    if (!/^[\w-]{1,256}$/.test(id)) return { nowMs: 0 };
    const reply = await this.#redis.run(readTask, [this.#task(id)], [this.#now(), unexpired ? 1 : 0]);
    const [nowMs, fields] = reply as unknown as [string, readonly string[]];
    const record = decodeTask(fields);
    return { nowMs: Number(nowMs), ...(record && { record }) };
  }

  async change(
    id: string,
    guard: TaskGuard,
    changes: readonly TaskChange[],
  ): Promise<TaskRecord | 'conflict' | 'gone'> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      // An expired task that has not ended can still be ended.
      const { nowMs, record: before } = await this.#read(id, false);
      if (before === undefined) return 'gone';
      const after = changeRecord(before, guard, changes, nowMs);
      if (after === 'conflict') return after;
      const outcome = await this.#replace(before, after);
      if (outcome === 'gone') return outcome;
      if (outcome === 'changed') continue;
      this.#tell(id);
      if (after.phase === 'ended') await this.#replicated();
      return after;
    }
    throw new Error(`Other processes keep changing task ${id}`);
  }

  async #replace(before: TaskRecord, after: TaskRecord): Promise<Reply> {
    const { id, owner, service, expiresAtMs, dueAtMs, lease } = after;
    const { fields, bytes } = changedFields(before, after);
    // The lease may have been renewed meanwhile, so it is written only if the change concerns it.
    const isMoved = lease !== before.lease || dueAtMs !== before.dueAtMs;
    const isEnd = after.phase === 'ended';
    const keys = [
      ...[this.#task(id), this.#due(service)],
      ...['open', 'ended', 'counts', 'dedupe'].map((name) => this.#key(name)),
    ];
    const args = [
      ...[-1, id, before.version, JSON.stringify(owner), dedupeField(after), numberOf(expiresAtMs ?? undefined)],
      ...[bytes, isEnd ? 1 : 0, isMoved ? 1 : 0, numberOf(dueAtMs), lease?.holder ?? '', numberOf(lease?.untilMs)],
    ];
    return this.#redis.run(changeTask, keys, [...args, ...fields]);
  }

  async claim(
    holder: string,
    services: readonly string[],
    leaseMs: number,
    max: number,
  ): Promise<readonly TaskRecord[]> {
    if (services.length === 0) return [];
    const keys = services.map((service) => this.#due(service));
    const args = [this.#now(), holder, leaseMs, max, this.#task(''), maxBytesAtOnce];
    const claimed = (await this.#redis.run(claimTasks, keys, args)) as unknown as readonly (readonly string[])[];
    // A damaged one cannot run, and must not keep others from running.
    const records = claimed.flatMap((fields) => decodeListed(fields) ?? []);
    for (const { id } of records) this.#tell(id);
    return records;
  }

  async renew(holder: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const held: string[] = [];
    for (let from = 0; from < ids.length; from += portion) {
      const some = ids.slice(from, from + portion);
      const args = [this.#now(), holder, leaseMs, this.#task(''), this.#key('due:'), ...some];
      held.push(...((await this.#redis.run(renewTasks, [this.#key('all')], args)) as readonly string[]));
    }
    return held;
  }

  async list({ owner, tool, phase, after, limit, outline = false }: TaskQuery): Promise<TaskPage> {
    const key = owner === undefined ? this.#key('all') : this.#ofOwner(owner);
    // An invalid cursor starts after the last task.
    let before = after === undefined ? '+inf' : `(${/^\d{1,15}$/.test(after) ? after : 0}`;
    const tasks: TaskRecord[] = [];
    let last = '';
    let bytes = 0;
    for (;;) {
      const page = (await this.#redis.send(
        ...['ZREVRANGEBYSCORE', key, before, '-inf', 'WITHSCORES', 'LIMIT', '0', String(listed)],
      )) as readonly string[];
      const ids = page.filter((_each, at) => at % 2 === 0);
      const args = [this.#now(), this.#task(''), maxBytesAtOnce, outline ? 1 : 0, ...ids];
      const [read, found] = (await this.#redis.run(listTasks, [key], args)) as unknown as ListedTasks;
      bytes += Number(read);
      for (const [at, fields] of found.entries()) {
        const record = decodeListed(fields, outline);
        if (record === undefined) continue;
        if ((tool !== undefined && record.tool !== tool) || (phase !== undefined && record.phase !== phase)) continue;
        if (tasks.length === limit) return { tasks, next: last };
        tasks.push(record);
        last = page[at * 2 + 1] as string;
      }
      const isWhole = found.length === ids.length;
      if (isWhole && ids.length < listed) return { tasks };
      const reached = page[found.length * 2 - 1] as string;
      if (tasks.length > 0 && (!isWhole || bytes > maxBytesAtOnce)) return { tasks, next: reached };
      before = `(${reached}`;
    }
  }

  async count(owner?: string): Promise<{ readonly active: number; readonly kept: number }> {
    const field = owner === undefined ? 'active' : `active ${JSON.stringify(owner)}`;
    const [active, kept] = await Promise.all([
      this.#redis.send('HGET', this.#key('counts'), field),
      this.#redis.send('ZCARD', owner === undefined ? this.#key('all') : this.#ofOwner(owner)),
    ]);
    return { active: Number(active ?? 0), kept: Number(kept) };
  }

  async sweep(max: number): Promise<{ readonly deleted: number; readonly expired: readonly TaskRecord[] }> {
    let deleted = 0;
    const keys = ['ended', 'all', 'counts'].map((name) => this.#key(name));
    for (;;) {
      const args = [this.#now(), Math.min(portion, max - deleted), this.#task(''), this.#key('owner:')];
      const some = Number(await this.#redis.run(deleteTasks, keys, args));
      deleted += some;
      if (some < portion || deleted >= max) break;
    }
    if (deleted >= max) return { deleted, expired: [] };
    const ids = await this.#redis.run(expiredTasks, [this.#key('open')], [this.#now(), max - deleted]);
    // At the time 0 none has expired.
    const args = [0, this.#task(''), maxBytesAtOnce, 0, ...(ids as readonly string[])];
    const [, found] = (await this.#redis.run(listTasks, [this.#key('open')], args)) as unknown as ListedTasks;
    const expired = found.flatMap((fields) => decodeListed(fields) ?? []);
    return { deleted, expired };
  }

  watch(listener: (id: string) => void): () => void {
    const notify = (id: string): void => listener(id);
    this.#listeners.add(notify);
    return () => {
      this.#listeners.delete(notify);
    };
  }

  /** Tells the other processes, once for all changes of this turn. If none listens here, none does there: they run the same program. */
  #tell(id: string): void {
    const bus = this.#bus;
    if (bus === undefined || this.#listeners.size === 0) return;
    if (this.#changed.size === 0) {
      queueMicrotask(() => {
        const ids = [...this.#changed];
        this.#changed.clear();
        void bus.publish(topic, ids);
      });
    }
    this.#changed.add(id);
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  #task(id: string): string {
    return `${this.#prefix}task:${id}`;
  }

  #due(service: string): string {
    return `${this.#prefix}due:${JSON.stringify(service)}`;
  }

  #ofOwner(owner: string): string {
    return `${this.#prefix}owner:${JSON.stringify(owner)}`;
  }
}
