// One row for each owner of notes: how many there are, how much they take, and the counter. Used by notes.ts.

import { type ListSum, ownerChecksum } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './driver.ts';

export interface Owner extends ListSum {
  readonly number: number;
  /** The owner's name as JSON. */
  readonly key: string;
  /** The id of the newest note there ever was; ids are not used again. */
  readonly lastNote: number;
  readonly notes: number;
  /** Length of all notes as one list. */
  readonly characters: number;
  /** What notes and their tags take in UTF-8. */
  readonly bytes: number;
  readonly counter: number;
}

const columns = 'number, key, last_note, notes, characters, bytes, list_bytes, list_checksum, counter, checksum';

export class Owners {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  find(name: string): Owner | undefined {
    const row = this.#db.statement(`select ${columns} from owners where key = ?`).get(JSON.stringify(name));
    return row === undefined ? undefined : this.#toOwner(row);
  }

  findOrAdd(name: string): Owner {
    const known = this.find(name);
    if (known !== undefined) return known;
    const key = JSON.stringify(name);
    const inserted = this.#db.statement('insert into owners (key) values (?) returning number').get(key);
    const nothing = { lastNote: 0, notes: 0, characters: 0, bytes: 0, listBytes: 0, listChecksum: 0, counter: 0 };
    const owner = { number: Number(inserted?.['number']), key, ...nothing };
    // Saved now, because the row needs its checksum even if the caller then finds the store full.
    this.save(owner);
    return owner;
  }

  /** Stores the row, with a number that marks it as the latest change. */
  save(owner: Owner): void {
    const { number, key, lastNote, notes, characters, bytes, listBytes, listChecksum = null, counter } = owner;
    const row = {
      ...{ number, key, last_note: lastNote, notes, characters, bytes },
      ...{ list_bytes: listBytes, list_checksum: listChecksum, counter },
    };
    this.#db
      .statement(
        `update owners set last_note = ?, notes = ?, characters = ?, bytes = ?, list_bytes = ?, list_checksum = ?,
           counter = ?, checksum = ?, changed = (select coalesce(max(changed), 0) + 1 from owners) where number = ?`,
      )
      .run(...[lastNote, notes, characters, bytes, listBytes, listChecksum, counter], ...[ownerChecksum(row), number]);
  }

  all(): Owner[] {
    return this.#db
      .statement(`select ${columns} from owners order by key`)
      .all()
      .map((row) => this.#toOwner(row));
  }

  /** Those whose row has changed since, oldest change first; a damaged row is skipped, so that others are reported. */
  changedSince(change: number): { readonly owner: Owner; readonly change: number }[] {
    return this.#db
      .statement(`select ${columns}, changed from owners where changed > ? order by changed`)
      .all(change)
      .filter(isWhole)
      .map((row) => ({ owner: this.#toOwner(row), change: Number(row['changed']) }));
  }

  #toOwner(row: SqlRow): Owner {
    if (!isWhole(row)) throw this.#db.damagedRecord('what is known about a caller');
    return {
      number: Number(row['number']),
      key: row['key'] as string,
      lastNote: Number(row['last_note']),
      notes: Number(row['notes']),
      characters: Number(row['characters']),
      bytes: Number(row['bytes']),
      listBytes: Number(row['list_bytes']),
      listChecksum: row['list_checksum'] === null ? undefined : Number(row['list_checksum']),
      counter: Number(row['counter']),
    };
  }
}

const isWhole = (row: SqlRow): boolean => ownerChecksum(row) === row['checksum'];
