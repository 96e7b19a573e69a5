// Notes and counters, separate for each owner. A note is stored as the JSON that clients get, so that SQLite can
// assemble a long list, and no text is changed on the way.

import type { Awaitable } from '../../common/awaitable.ts';
import { checksumOf, noteChecksum, prependToList } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './driver.ts';
import { StoreError } from './errors.ts';
import type { NewNote, NoteList, NoteQuery, NotesChange, StoredNote } from './note-contract.ts';
import { countIds, type IdRange, idRanges } from './note-ids.ts';
import { idOf, NoteLists } from './note-lists.ts';
import { type Owner, Owners } from './owners.ts';

export interface SqliteNotesOptions {
  /** Notes of one owner; stops a client from making every list slow. Default 1,000,000. */
  readonly maxNotes?: number;
  /** Bytes of all notes and tags of one caller; stops one client from filling the storage of all. Default 64 MiB. */
  readonly maxBytesPerCaller?: number;
  /** Bytes of the whole database beyond which no note is added; stops many clients from filling the disk. Default 1 GiB. */
  readonly maxBytesTotal?: number;
}

const mebibyte = 1024 * 1024;

export class SqliteNotes {
  readonly #db: Database;
  readonly #owners: Owners;
  readonly #lists: NoteLists;
  readonly #limits: Required<SqliteNotesOptions>;
  readonly #listeners = new Set<(change: NotesChange) => void>();
  /** Owners as last reported, by name; filled only while there is a listener. */
  readonly #notified = new Map<string, Pick<Owner, 'lastNote' | 'notes' | 'counter'>>();
  #seen = 0;
  #unlisten: (() => void) | undefined;

  constructor(db: Database, options: SqliteNotesOptions = {}) {
    const { maxNotes = 1_000_000, maxBytesPerCaller = 64 * mebibyte, maxBytesTotal = 1024 * mebibyte } = options;
    this.#db = db;
    this.#owners = new Owners(db);
    this.#lists = new NoteLists(db, this.#owners);
    this.#limits = { maxNotes, maxBytesPerCaller, maxBytesTotal };
  }

  /** Adds a note; resolves when it is durable. */
  add(owner: string, { content, tags }: NewNote): Promise<StoredNote> {
    return this.#db.write(() => {
      const known = this.#owners.findOrAdd(owner);
      const { number } = known;
      const id = known.lastNote + 1;
      const note: StoredNote = { id: String(id), content, tags, created: new Date().toISOString() };
      const json = JSON.stringify(note);
      const tagTexts = [...new Set(tags)].map((tag) => JSON.stringify(tag));
      const bytes = bytesOf(json, tagTexts);
      this.#checkRoom(known, bytes);
      const db = this.#db;
      this.#owners.save({
        ...known,
        lastNote: id,
        notes: known.notes + 1,
        characters: known.characters + json.length + 1,
        bytes: known.bytes + bytes,
        ...prependToList(json, known),
      });
      db.statement('insert into notes (owner, id, note, checksum) values (?, ?, ?, ?)').run(
        ...[number, id, json, noteChecksum(known.key, json)],
      );
      for (const tag of tagTexts) {
        db.statement('insert into note_tags (owner, tag, note, checksum) values (?, ?, ?, ?)').run(
          ...[number, tag, id, checksumOf(number, tag, id)],
        );
      }
      return note;
    });
  }

  #checkRoom({ notes, bytes }: Owner, more: number): void {
    const { maxNotes, maxBytesPerCaller, maxBytesTotal } = this.#limits;
    if (notes >= maxNotes) {
      throw new StoreError('limit', `There are ${notes} notes already, which is the limit. Delete some first`);
    }
    if (bytes + more > maxBytesPerCaller) {
      throw new StoreError(
        'limit',
        `Your notes take ${bytes} bytes and this one ${more}; the limit is ${maxBytesPerCaller}. Delete some first`,
      );
    }
    if (this.#db.usedBytes() + more > maxBytesTotal) {
      throw new StoreError('limit', `The store is full: its limit is ${maxBytesTotal} bytes. Delete some notes first`);
    }
  }

  /** Deletes a note; resolves when that is durable, to whether it existed. Its id is not used again. */
  delete(owner: string, id: string): Promise<boolean> {
    return this.#db.write(() => {
      const known = this.#owners.find(owner);
      const number = noteNumber(id);
      if (known === undefined || number === undefined) return false;
      const db = this.#db;
      const row = db.statement('select note, checksum from notes where owner = ? and id = ?').get(known.number, number);
      if (row === undefined) return false;
      const json = String(row['note']);
      const tags = isWhole(known.key, row) ? tagTextsOf(json) : this.#tagTextsIn(known.number, number);
      db.statement('delete from notes where owner = ? and id = ?').run(known.number, number);
      for (const tag of tags) {
        db.statement('delete from note_tags where owner = ? and tag = ? and note = ?').run(known.number, tag, number);
      }
      this.#owners.save({
        ...known,
        notes: known.notes - 1,
        characters: Math.max(0, known.characters - json.length - 1),
        bytes: Math.max(0, known.bytes - bytesOf(json, tags)),
        listBytes: Math.max(0, known.listBytes - Buffer.byteLength(json) - 1),
        listChecksum: undefined,
      });
      return true;
    });
  }

  /** The tags of a note that cannot be read any more. */
  #tagTextsIn(owner: number, note: number): string[] {
    const rows = this.#db.statement('select tag from note_tags where owner = ? and note = ?').all(owner, note);
    return rows.map((row) => row['tag'] as string);
  }

  /** One note as JSON; undefined if this owner has no note with that id. */
  get(owner: string, id: string): Awaitable<string | undefined> {
    const number = noteNumber(id);
    if (number === undefined) return undefined;
    return this.#db.read(() => {
      const key = JSON.stringify(owner);
      const row = this.#db
        .statement(
          'select note, checksum from notes where owner = (select number from owners where key = ?) and id = ?',
        )
        .get(key, number);
      if (row === undefined) return undefined;
      const note = row['note'] as string;
      // The id is part of the note, so a note in the row of another id is detected too.
      if (isWhole(key, row) && idOf(note) === id) return note;
      throw this.#db.damagedNote(`note ${id}`);
    });
  }

  list(owner: string, query: NoteQuery): Awaitable<NoteList> {
    return this.#db.read(() => this.#lists.list(owner, query));
  }

  /** Ids that begin with `prefix`, newest first. */
  ids(owner: string, prefix: string, limit: number): Awaitable<{ readonly values: string[]; readonly total: number }> {
    return this.#db.read(() => {
      const known = this.#owners.find(owner);
      if (known === undefined || !/^\d*$/.test(prefix)) return { values: [], total: 0 };
      const ranges = idRanges(known.lastNote, prefix);
      // Where no note was deleted, ids are 1 … lastNote without a gap, and no row needs to be read.
      return known.notes === known.lastNote ? countIds(ranges, limit) : this.#idsIn(known.number, ranges, limit);
    });
  }

  #idsIn(owner: number, ranges: readonly IdRange[], limit: number): { values: string[]; total: number } {
    const values: string[] = [];
    let total = 0;
    const where = 'from notes where owner = ? and id between ? and ?';
    for (const range of ranges) {
      total += Number(this.#db.statement(`select count(*) as count ${where}`).get(owner, ...range)?.['count']);
      const rows = this.#db
        .statement(`select id ${where} order by id desc limit ?`)
        .all(owner, ...range, limit - values.length);
      values.push(...rows.map((row) => String(row['id'])));
    }
    return { values, total };
  }

  /** Adds to the counter and returns its new value; resolves when it is durable. */
  increment(owner: string, amount: number): Promise<number> {
    return this.#db.write(() => {
      const known = this.#owners.findOrAdd(owner);
      const { counter } = known;
      const value = counter + amount;
      if (!Number.isSafeInteger(value)) {
        throw new StoreError(
          'limit',
          `The counter is ${counter}; adding ${amount} would leave the range of exact integers`,
        );
      }
      this.#owners.save({ ...known, counter: value });
      return value;
    });
  }

  counter(owner: string): Awaitable<number> {
    return this.#db.read(() => this.#owners.find(owner)?.counter ?? 0);
  }

  /** All owners of notes or a counter. */
  owners(): Awaitable<readonly { readonly owner: string; readonly notes: number; readonly bytes: number }[]> {
    return this.#db.read(() =>
      this.#owners.all().map(({ key, notes, bytes }) => ({ owner: JSON.parse(key) as string, notes, bytes })),
    );
  }

  /** Reports every change from now on, of this process and of others that share the folder. */
  watch(listener: (change: NotesChange) => void): () => void {
    if (this.#unlisten === undefined) {
      this.#unlisten = this.#db.onChange(() => this.#notify());
      this.#changes();
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unlisten?.();
      this.#unlisten = undefined;
      this.#notified.clear();
      this.#seen = 0;
    };
  }

  /** Remembers what has changed since the last check, without reporting it. */
  #look(): NotesChange[] {
    return this.#owners.changedSince(this.#seen).map(({ owner, change }) => {
      const name = JSON.parse(owner.key) as string;
      const before = this.#notified.get(name) ?? { lastNote: 0, notes: 0, counter: 0 };
      const { lastNote, notes, counter } = owner;
      this.#notified.set(name, { lastNote, notes, counter });
      this.#seen = change;
      const notesChanged = lastNote !== before.lastNote || notes !== before.notes;
      return { owner: name, counter: counter !== before.counter, notes: notesChanged };
    });
  }

  #notify(): void {
    for (const change of this.#changes()) for (const listener of this.#listeners) listener(change);
  }

  /** Checks for changes; while the file cannot be read, the next change reports this one, too. */
  #changes(): NotesChange[] {
    try {
      return this.#look();
    } catch {
      return [];
    }
  }
}

function noteNumber(id: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

const isWhole = (ownerKey: string, { note, checksum }: SqlRow): boolean => noteChecksum(ownerKey, note) === checksum;

function tagTextsOf(json: string): string[] {
  const { tags } = JSON.parse(json) as StoredNote;
  return [...new Set(tags)].map((tag) => JSON.stringify(tag));
}

/** The size of a note: its JSON, and its tags again for the table that finds notes by tag. */
function bytesOf(json: string, tagTexts: readonly string[]): number {
  return tagTexts.reduce((sum, tag) => sum + Buffer.byteLength(tag), Buffer.byteLength(json));
}
