// Tasks in the memory of this process: the default store. They end with the process.

import { assertKnownOptions } from '../../../common/known-options.ts';
import { UserError } from '../../../common/user-error.ts';
import { outlineOf } from './outcome-summary.ts';
import { changeRecord, claimRecord } from './task-record.ts';
import type { TaskChange, TaskGuard, TaskPage, TaskQuery, TaskRecord, TaskStore } from './task-store.ts';

/** The limits of the store. */
export interface MemoryTaskStoreOptions {
  /** Tasks that are stored, ended ones included; stops callers from filling the memory with tasks. Default 100,000. */
  readonly maxTasks?: number;
  /**
   * Characters of arguments, results, responses, steps and what the request said about its client, of all tasks together, as
   * JSON; stops large ones from filling it. Beyond it no task is created, and no large result is stored, until others expire. Default 128 Mi.
   */
  readonly maxLength?: number;
}

const defaultMaxTasks = 100_000;
const defaultMaxLength = 128 * 1024 * 1024;
/** Outcomes up to this length are stored even if the store is full: errors, and the end of a task that was cancelled. */
const smallLength = 10_000;

const known: Record<keyof MemoryTaskStoreOptions, true> = { maxTasks: true, maxLength: true };

/** Creates a store in memory. Servers that share it, share their tasks. */
export function createMemoryTaskStore(options: MemoryTaskStoreOptions = {}): TaskStore {
  assertKnownOptions('createMemoryTaskStore', options, known);
  return new MemoryTaskStore(options.maxTasks ?? defaultMaxTasks, options.maxLength ?? defaultMaxLength);
}

class MemoryTaskStore implements TaskStore {
  readonly durable = false;
  readonly #maxTasks: number;
  readonly #maxLength: number;
  /** In the order of creation. */
  readonly #records = new Map<string, TaskRecord>();
  readonly #idsByOwner = new Map<string, Set<string>>();
  /** Tasks that have not ended. */
  readonly #active = new Set<string>();
  readonly #activeByOwner = new Map<string, number>();
  readonly #byDedupeKey = new Map<string, string>();
  readonly #lengths = new Map<string, number>();
  /** The number of each task, in the order of creation: a page starts after it even if the task was deleted. */
  readonly #numbers = new Map<string, number>();
  #lastNumber = 0;
  #totalLength = 0;
  /** Servers that share this store. Each knows its own changes. */
  readonly #listeners = new Set<(id: string) => void>();

  constructor(maxTasks: number, maxLength: number) {
    this.#maxTasks = maxTasks;
    this.#maxLength = maxLength;
  }

  async create(record: TaskRecord): Promise<{ readonly created: true } | { readonly existing: TaskRecord }> {
    const dedupe = dedupeOf(record);
    const existing = dedupe === undefined ? undefined : this.#live(this.#byDedupeKey.get(dedupe));
    if (existing !== undefined) return { existing };
    if (this.#records.size >= this.#maxTasks) throw full();
    this.#requireNotFull();
    this.#records.set(record.id, record);
    this.#numbers.set(record.id, ++this.#lastNumber);
    this.#count(record.id, lengthOf(record));
    let ids = this.#idsByOwner.get(record.owner);
    if (ids === undefined) this.#idsByOwner.set(record.owner, (ids = new Set()));
    ids.add(record.id);
    if (dedupe !== undefined) this.#byDedupeKey.set(dedupe, record.id);
    this.#active.add(record.id);
    this.#activeByOwner.set(record.owner, (this.#activeByOwner.get(record.owner) ?? 0) + 1);
    return { created: true };
  }

  read(id: string): TaskRecord | undefined {
    return this.#live(id);
  }

  /** Undefined for a task that is unknown, or has expired and waits to be deleted. */
  #live(id: string | undefined): TaskRecord | undefined {
    const record = id === undefined ? undefined : this.#records.get(id);
    return record === undefined || isExpired(record) ? undefined : record;
  }

  async change(
    id: string,
    guard: TaskGuard,
    changes: readonly TaskChange[],
  ): Promise<TaskRecord | 'conflict' | 'gone'> {
    // An expired task that has not ended can still be ended.
    const record = this.#records.get(id);
    if (record === undefined) return 'gone';
    const changed = changeRecord(record, guard, changes, Date.now());
    if (changed === 'conflict') return changed;
    const isMeasured = changes.some(({ type }) => type !== 'set-message' && type !== 'extend');
    const length = isMeasured ? lengthOf(changed) : this.#lengthOf(id);
    // Tasks that were created before the store was full may all have large results.
    if (changed.phase === 'ended' && length - this.#lengthOf(id) > smallLength) this.#requireNotFull();
    this.#replace(changed);
    this.#count(id, length);
    if (this.#listeners.size > 1) for (const listener of this.#listeners) listener(id);
    return changed;
  }

  #replace(record: TaskRecord): void {
    this.#records.set(record.id, record);
    if (record.phase === 'ended' && this.#active.delete(record.id)) this.#countEnded(record);
  }

  #countEnded(record: TaskRecord): void {
    const active = (this.#activeByOwner.get(record.owner) ?? 1) - 1;
    if (active > 0) this.#activeByOwner.set(record.owner, active);
    else this.#activeByOwner.delete(record.owner);
    const dedupe = dedupeOf(record);
    if (dedupe !== undefined && this.#byDedupeKey.get(dedupe) === record.id) this.#byDedupeKey.delete(dedupe);
  }

  #requireNotFull(): void {
    if (this.#totalLength >= this.#maxLength) throw full();
  }

  #lengthOf(id: string): number {
    return this.#lengths.get(id) ?? 0;
  }

  #count(id: string, length: number): void {
    this.#totalLength += length - this.#lengthOf(id);
    this.#lengths.set(id, length);
  }

  async claim(
    holder: string,
    services: readonly string[],
    leaseMs: number,
    max: number,
  ): Promise<readonly TaskRecord[]> {
    const nowMs = Date.now();
    const claimed: TaskRecord[] = [];
    for (const id of this.#active) {
      if (claimed.length >= max) break;
      const record = this.#records.get(id) as TaskRecord;
      const isDue = record.dueAtMs !== undefined && record.dueAtMs <= nowMs;
      if (!isDue || !services.includes(record.service)) continue;
      const changed = claimRecord(record, holder, leaseMs, nowMs);
      this.#records.set(id, changed);
      claimed.push(changed);
    }
    return claimed;
  }

  async renew(holder: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]> {
    const untilMs = Date.now() + leaseMs;
    return ids.filter((id) => {
      const record = this.#records.get(id);
      if (record?.lease?.holder !== holder) return false;
      this.#records.set(id, { ...record, lease: { holder, untilMs }, dueAtMs: untilMs });
      return true;
    });
  }

  async list({ owner, tool, phase, after, limit, outline }: TaskQuery): Promise<TaskPage> {
    const ids = owner === undefined ? [...this.#records.keys()] : [...(this.#idsByOwner.get(owner) ?? [])];
    const before = after === undefined ? Number.POSITIVE_INFINITY : Number(after);
    const tasks: TaskRecord[] = [];
    for (let index = ids.length - 1; index >= 0; index--) {
      if (this.#numberOf(ids[index]) >= before) continue;
      const record = this.#live(ids[index]);
      if (record === undefined) continue;
      if (tool !== undefined && record.tool !== tool) continue;
      if (phase !== undefined && record.phase !== phase) continue;
      if (tasks.length === limit) return { tasks, next: String(this.#numberOf(tasks.at(-1)?.id)) };
      tasks.push(outline === true ? outlineOf(record) : record);
    }
    return { tasks };
  }

  #numberOf(id: string | undefined): number {
    return this.#numbers.get(id as string) as number;
  }

  async count(owner?: string): Promise<{ readonly active: number; readonly kept: number }> {
    if (owner === undefined) return { active: this.#active.size, kept: this.#records.size };
    return { active: this.#activeByOwner.get(owner) ?? 0, kept: this.#idsByOwner.get(owner)?.size ?? 0 };
  }

  watch(listener: (id: string) => void): () => void {
    const notify = (id: string): void => listener(id);
    this.#listeners.add(notify);
    return () => this.#listeners.delete(notify);
  }

  async sweep(max: number): Promise<{ readonly deleted: number; readonly expired: readonly TaskRecord[] }> {
    const expired: TaskRecord[] = [];
    let deleted = 0;
    for (const record of this.#records.values()) {
      if (deleted + expired.length >= max) break;
      if (!isExpired(record)) continue;
      if (record.phase !== 'ended') expired.push(record);
      else {
        this.#delete(record);
        deleted++;
      }
    }
    return { deleted, expired };
  }

  #delete({ id, owner }: TaskRecord): void {
    this.#records.delete(id);
    this.#totalLength -= this.#lengthOf(id);
    this.#lengths.delete(id);
    this.#numbers.delete(id);
    const ids = this.#idsByOwner.get(owner);
    ids?.delete(id);
    if (ids?.size === 0) this.#idsByOwner.delete(owner);
  }
}

const full = (): UserError => new UserError('The store of tasks is full; try again when some have expired');

function lengthOf({ arguments: args, outcome, inputs, steps, context }: TaskRecord): number {
  return JSON.stringify([args, outcome ?? null, inputs, steps, context]).length;
}

function isExpired({ expiresAtMs }: TaskRecord): boolean {
  return expiresAtMs !== null && expiresAtMs <= Date.now();
}

function dedupeOf({ service, owner, tool, dedupeKey }: TaskRecord): string | undefined {
  return dedupeKey === undefined ? undefined : [service, owner, tool, dedupeKey].join('\u0000');
}
