// `ExpiringStore` in the data folder: revoked sessions stay revoked and single-use marks stay used when the server
// starts again, and processes that share the folder share them.

import { CautiousClock } from '../../protocol/clock.ts';
import type { Json } from '../../protocol/model.ts';
import type { ExpiringStore } from '../../protocol/ports.ts';
import type { Database } from './database.ts';

export class SqliteExpiringStore implements ExpiringStore {
  readonly #db: Database;
  readonly #now: () => number;
  /** Marks must not be lost to a clock that jumps forward for a while. */
  readonly #clock: CautiousClock;

  constructor(db: Database, now: () => number = Date.now) {
    this.#db = db;
    this.#now = now;
    this.#clock = new CautiousClock(now);
    this.#clock.now(); // From here on a jump is noticed.
  }

  get(key: string): Json | undefined | Promise<Json | undefined> {
    return this.#db.read(() => {
      const row = this.#db
        .statement('select value from expiring where key = ? and expires > ?')
        .get(JSON.stringify(key), this.#clock.now());
      return row === undefined ? undefined : (JSON.parse(row['value'] as string) as Json);
    });
  }

  async set(key: string, value: Json, ttlMs: number): Promise<void> {
    await this.#db.write(() => {
      this.#sweep();
      this.#put(key, value, ttlMs);
    });
  }

  add(key: string, value: Json, ttlMs: number): Promise<boolean> {
    return this.#db.write(() => {
      this.#sweep();
      const there = this.#db.statement('select 1 from expiring where key = ?').get(JSON.stringify(key));
      if (there !== undefined) return false;
      this.#put(key, value, ttlMs);
      return true;
    });
  }

  async delete(key: string): Promise<void> {
    await this.#db.write(() => this.#db.statement('delete from expiring where key = ?').run(JSON.stringify(key)));
  }

  #put(key: string, value: Json, ttlMs: number): void {
    this.#db
      .statement('insert or replace into expiring (key, value, expires) values (?, ?, ?)')
      .run(JSON.stringify(key), JSON.stringify(value), Math.ceil(this.#now() + ttlMs));
  }

  /** What has expired goes with the next write, so the table holds little more than what is alive. */
  #sweep(): void {
    this.#db.statement('delete from expiring where expires <= ?').run(this.#clock.now());
  }
}
