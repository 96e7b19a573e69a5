// How many tasks there are, for each owner and in all: counting the rows would take milliseconds for every new task.

import type { Database } from './database.ts';

export interface TaskCount {
  /** Tasks that have not ended. */
  readonly active: number;
  readonly kept: number;
}

/** The row of all owners together; the key of an owner is JSON. */
const allOwners = 'all';

export class TaskCounts {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  of(owner?: string): TaskCount {
    const row = this.#db.statement('select active, kept from task_counts where owner = ?').get(keyOf(owner));
    return { active: Number(row?.['active'] ?? 0), kept: Number(row?.['kept'] ?? 0) };
  }

  /** Adds to the counts of an owner and of all, within the transaction of the change. */
  add(owner: string, { active, kept }: TaskCount): void {
    for (const key of [keyOf(owner), keyOf(undefined)]) {
      this.#db
        .statement(
          `insert into task_counts (owner, active, kept) values (?, ?, ?)
           on conflict (owner) do update set active = active + excluded.active, kept = kept + excluded.kept`,
        )
        .run(key, active, kept);
      if (kept < 0) this.#db.statement('delete from task_counts where owner = ? and kept <= 0').run(key);
    }
  }
}

const keyOf = (owner: string | undefined): string => (owner === undefined ? allOwners : JSON.stringify(owner));
