// Small JSON values by kind and key, for packs that must remember a few things: the registry of workers and its like.

import type { Json } from '../../protocol/model.ts';
import type { Database } from './database.ts';

type Awaitable<T> = T | Promise<T>;

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
        .statement('select value from records where kind = ? and key = ?')
        .get(this.#kind, JSON.stringify(key));
      return row === undefined ? undefined : (JSON.parse(row['value'] as string) as Json);
    });
  }

  /** All of them, by key. */
  list(): Awaitable<ReadonlyMap<string, Json>> {
    return this.#db.read(() => {
      const rows = this.#db.statement('select key, value from records where kind = ? order by key').all(this.#kind);
      return new Map(rows.map((row) => [JSON.parse(row['key'] as string), JSON.parse(row['value'] as string) as Json]));
    });
  }

  /** Resolves when the value is durable. */
  async set(key: string, value: Json): Promise<void> {
    await this.#db.write(() =>
      this.#db
        .statement(
          'insert into records (kind, key, value) values (?, ?, ?) on conflict do update set value = excluded.value',
        )
        .run(this.#kind, JSON.stringify(key), JSON.stringify(value)),
    );
  }

  async delete(key: string): Promise<void> {
    await this.#db.write(() =>
      this.#db.statement('delete from records where kind = ? and key = ?').run(this.#kind, JSON.stringify(key)),
    );
  }
}
