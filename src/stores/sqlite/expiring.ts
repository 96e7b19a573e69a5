// `ExpiringStore` in the data folder: revoked sessions stay revoked and single-use marks stay used when the server
// starts again, and processes that share the folder share them.

import { CautiousClock } from '../../common/clock.ts';
import type { Json } from '../../protocol/model.ts';
import type { ExpiringStore } from '../../protocol/ports.ts';
import { checksumOf } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './driver.ts';

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
    return this.#db.read(() => this.#find(key));
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
      if (this.#find(key) !== undefined) return false;
      this.#put(key, value, ttlMs);
      return true;
    });
  }

  replace(key: string, expected: Json | undefined, value: Json, ttlMs: number): Promise<boolean> {
    return this.#db.write(() => {
      this.#sweep();
      if (JSON.stringify(this.#find(key)) !== JSON.stringify(expected)) return false;
      this.#put(key, value, ttlMs);
      return true;
    });
  }

  async delete(key: string): Promise<void> {
    await this.#db.write(() => this.#db.statement('delete from expiring where key = ?').run(JSON.stringify(key)));
  }

  #put(key: string, value: Json, ttlMs: number): void {
    const row = [JSON.stringify(key), JSON.stringify(value), Math.ceil(this.#now() + ttlMs)] as const;
    this.#db
      .statement('insert or replace into expiring (key, value, expires, checksum) values (?, ?, ?, ?)')
      .run(...row, checksumOf(...row));
  }

  #find(key: string): Json | undefined {
    const row = this.#db
      .statement('select key, value, expires, checksum from expiring where key = ?')
      .get(JSON.stringify(key));
    if (row === undefined) return undefined;
    // Before its expiry is checked: a revocation must not be over too soon because of a flipped bit.
    if (!isWhole(row)) throw this.#db.damagedRecord('an entry about a session or call');
    return Number(row['expires']) > this.#clock.now() ? (JSON.parse(row['value'] as string) as Json) : undefined;
  }

  /**
   * Each write deletes expired entries, so the table has little more than the valid ones. A damaged entry stays,
   * since its time may be wrong, and is reported when it is read.
   */
  #sweep(): void {
    const over = this.#db
      .statement(`select key, value, expires, checksum from expiring where expires <= ? limit ${maxSwept}`)
      .all(this.#clock.now());
    const remove = over.length === 0 ? undefined : this.#db.statement('delete from expiring where key = ?');
    for (const row of over) if (isWhole(row)) remove?.run(row['key'] as string);
  }
}

/** Expired entries that one write deletes: bounds the cost after a long pause. */
const maxSwept = 1_000;

function isWhole({ key, value, expires, checksum }: SqlRow): boolean {
  return checksumOf(key as string, value as string, Number(expires)) === checksum;
}
