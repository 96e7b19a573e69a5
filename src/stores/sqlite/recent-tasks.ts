// Recently read tasks, as they are on disk: clients poll, and most polls find what the last one found.

import type { TaskRecord } from '../../engine/tasks/store/task-store.ts';
import type { Database } from './database.ts';

/** Tasks that are remembered; stops many small tasks from filling the memory. */
const maxTasks = 1_000;
/** Bytes of a task that is remembered; stops large results from filling the memory. */
const maxBytes = 16 * 1024;

export class RecentTasks {
  readonly #db: Database;
  readonly #records = new Map<string, TaskRecord>();
  #dataVersion: unknown;
  /** Requests of one turn share one check of the file. */
  #isChecked = false;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The record, unless another process may have changed it. To be called before the task is read and `set`. */
  get(id: string): TaskRecord | undefined {
    this.#check();
    return this.#records.get(id);
  }

  set(record: TaskRecord, bytes: number): void {
    if (bytes > maxBytes) return;
    this.#records.delete(record.id);
    this.#records.set(record.id, record);
    if (this.#records.size > maxTasks) this.#records.delete(this.#records.keys().next().value as string);
  }

  /** This process changes it. */
  delete(id: string): void {
    this.#records.delete(id);
  }

  #check(): void {
    if (this.#isChecked) return;
    this.#isChecked = true;
    setImmediate(() => (this.#isChecked = false));
    const version = this.#db.dataVersion;
    if (version !== this.#dataVersion) this.#records.clear();
    this.#dataVersion = version;
  }
}
