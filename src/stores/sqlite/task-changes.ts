// Which tasks other processes have changed. Every change of a task gets the next number of one sequence; while there is
// a listener, the numbers after the last one seen are looked up whenever the file has changed.

import type { Database } from './database.ts';

type TaskChangeListener = (id: string) => void;

export class TaskChanges {
  readonly #db: Database;
  readonly #listeners = new Set<TaskChangeListener>();
  /** Numbers of this process, which knows its own changes. Filled only while there is a listener. */
  readonly #own = new Set<number>();
  #seen = 0;
  #unlisten: (() => void) | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The number of a change, within its transaction. */
  next(): number {
    const row = this.#db.statement('update task_changes set last = last + 1 returning last').get();
    const number = Number(row?.['last']);
    if (this.#listeners.size > 0) this.#own.add(number);
    return number;
  }

  /** Reports the tasks that other processes change from now on. */
  watch(listener: TaskChangeListener): () => void {
    // A function of its own, so that the same listener can be added twice.
    const notify: TaskChangeListener = (id) => listener(id);
    if (this.#unlisten === undefined) {
      this.#unlisten = this.#db.onChange(() => this.#report());
      this.#seen = this.#last();
    }
    this.#listeners.add(notify);
    return () => {
      this.#listeners.delete(notify);
      if (this.#listeners.size > 0) return;
      this.#unlisten?.();
      this.#unlisten = undefined;
      this.#own.clear();
    };
  }

  #last(): number {
    return Number(this.#db.statement('select last from task_changes').get()?.['last'] ?? 0);
  }

  #report(): void {
    for (const id of this.#changed()) for (const listener of this.#listeners) listener(id);
  }

  /** While the file cannot be read, the next change reports this one, too. */
  #changed(): string[] {
    try {
      const rows = this.#db
        .statement('select id, changed from tasks where changed > ? order by changed')
        .all(this.#seen);
      this.#seen = Number(rows.at(-1)?.['changed'] ?? this.#seen);
      const others = rows.filter((row) => !this.#own.has(Number(row['changed'])));
      for (const number of this.#own) if (number <= this.#seen) this.#own.delete(number);
      return others.map((row) => row['id'] as string);
    } catch {
      return [];
    }
  }
}
