// Small JSON values by kind and key, for packs that store a little state, such as the registry of workers.

import type { Awaitable } from '../../common/awaitable.ts';
import type { Json } from '../../protocol/model.ts';
import { checksumOf } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './driver.ts';

/** The records of one kind. Kinds do not see each other. */
export class SqliteRecords {
  readonly #db: Database;
  readonly #kind: string;

  constructor(db: Database, kind: string) {
    this.#db = db;
    this.#kind = kind;
  }

  get(key: string): Awaitable<Json | undefined> {
    return this.#db.read(() => {
      const row = this.#db
        .statement('select key, value, checksum from records where kind = ? and key = ?')
        .get(this.#kind, JSON.stringify(key));
      return row === undefined ? undefined : this.#valueOf(row);
    });
  }

  /** All of them, by key. */
  list(): Awaitable<ReadonlyMap<string, Json>> {
    return this.#db.read(() => {
      const rows = this.#db
        .statement('select key, value, checksum from records where kind = ? order by key')
        .all(this.#kind);
      return new Map(rows.map((row) => [JSON.parse(row['key'] as string), this.#valueOf(row)]));
    });
  }

  #valueOf(row: SqlRow): Json {
    const [key, value] = [row['key'] as string, row['value'] as string];
    if (checksumOf(this.#kind, key, value) === row['checksum']) return JSON.parse(value) as Json;
    throw this.#db.damagedRecord(`the ${this.#kind} record ${key}`);
  }

  /** Resolves when the value is durable. */
  async set(key: string, value: Json): Promise<void> {
    const [name, text] = [JSON.stringify(key), JSON.stringify(value)];
    await this.#db.write(() =>
      this.#db
        .statement('insert or replace into records (kind, key, value, checksum) values (?, ?, ?, ?)')
        .run(this.#kind, name, text, checksumOf(this.#kind, name, text)),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#db.write(() =>
      this.#db.statement('delete from records where kind = ? and key = ?').run(this.#kind, JSON.stringify(key)),
    );
  }
}
