// Notes and counters, kept apart by owner. A note is stored as the JSON it is shown as, so that a long list is put
// together by SQLite itself and no text is changed on its way.

import type { Database } from './database.ts';
import { StoreError } from './errors.ts';

type Awaitable<T> = T | Promise<T>;

export interface NewNote {
  readonly content: string;
  readonly tags: readonly string[];
}

/** A note as JSON shows it. */
export interface StoredNote extends NewNote {
  readonly id: string;
  /** When it was added, ISO 8601. */
  readonly created: string;
}

export interface NoteQuery {
  /** Notes with at least one of these; none = all notes. */
  readonly tags?: readonly string[];
  readonly limit?: number;
  /** The list ends before it grows beyond this many characters. */
  readonly maxCharacters: number;
}

/** Notes as the text of a JSON array, newest first. */
export interface NoteList {
  readonly json: string;
  readonly count: number;
  /** How many fit the query, listed or not. */
  readonly total: number;
}

/** What changed, and for whom. */
export interface NotesChange {
  readonly owner: string;
  readonly counter: boolean;
  readonly notes: boolean;
}

export interface NotesOptions {
  /** Notes of one owner; stops a client from filling the disk. Default 1,000,000. */
  readonly maxNotes?: number;
}

interface Owner {
  readonly number: number;
  readonly lastNote: number;
  readonly characters: number;
  readonly counter: number;
}

const touch = 'changed = (select coalesce(max(changed), 0) + 1 from owners)';

export class SqliteNotes {
  readonly #db: Database;
  readonly #maxNotes: number;
  readonly #listeners = new Set<(change: NotesChange) => void>();
  /** Counters and note numbers as they were last told, by owner; filled only while somebody listens. */
  readonly #told = new Map<string, { readonly lastNote: number; readonly counter: number }>();
  #seen = 0;
  #unlisten: (() => void) | undefined;

  constructor(db: Database, options: NotesOptions = {}) {
    this.#db = db;
    this.#maxNotes = options.maxNotes ?? 1_000_000;
  }

  /** Adds a note; resolves when it is durable. */
  add(owner: string, { content, tags }: NewNote): Promise<StoredNote> {
    return this.#db.write(() => {
      const { number, lastNote } = this.#ownerToChange(owner);
      if (lastNote >= this.#maxNotes) {
        throw new StoreError('limit', `There are ${lastNote} notes already, which is as many as may be kept`);
      }
      const note: StoredNote = { id: String(lastNote + 1), content, tags, created: new Date().toISOString() };
      const json = JSON.stringify(note);
      const db = this.#db;
      db.statement(`update owners set last_note = ?, characters = characters + ?, ${touch} where number = ?`).run(
        lastNote + 1,
        json.length + 1,
        number,
      );
      db.statement('insert into notes (owner, id, note) values (?, ?, ?)').run(number, lastNote + 1, json);
      for (const tag of new Set(tags)) {
        db.statement('insert into note_tags (owner, tag, note) values (?, ?, ?)').run(
          number,
          JSON.stringify(tag),
          lastNote + 1,
        );
      }
      return note;
    });
  }

  /** One note as JSON; undefined when this owner has none of that id. */
  get(owner: string, id: string): Awaitable<string | undefined> {
    const number = noteNumber(id);
    if (number === undefined) return undefined;
    return this.#db.read(() => {
      const row = this.#db
        .statement('select note from notes where owner = (select number from owners where key = ?) and id = ?')
        .get(JSON.stringify(owner), number);
      return row?.['note'] as string | undefined;
    });
  }

  list(owner: string, query: NoteQuery): Awaitable<NoteList> {
    return this.#db.read(() => {
      const known = this.#owner(owner);
      if (known === undefined) return { json: '[]', count: 0, total: 0 };
      return query.tags === undefined || query.tags.length === 0
        ? this.#listAll(known, query)
        : this.#listTagged(known, query.tags, query);
    });
  }

  #listAll({ number, lastNote, characters }: Owner, { limit = lastNote, maxCharacters }: NoteQuery): NoteList {
    const picked = 'select id, note from notes where owner = ? order by id desc limit ?';
    // Only a list that may be too long is measured note by note.
    const sql = characters <= maxCharacters ? gather(picked) : gatherWithin(picked);
    const values = characters <= maxCharacters ? [number, limit] : [number, limit, maxCharacters];
    const row = this.#db.statement(sql).get(...values);
    return { json: `[${row?.['notes'] ?? ''}]`, count: Number(row?.['count'] ?? 0), total: lastNote };
  }

  #listTagged({ number }: Owner, tags: readonly string[], { limit = -1, maxCharacters }: NoteQuery): NoteList {
    const wanted = JSON.stringify(tags.map((tag) => JSON.stringify(tag)));
    const tagged = 'select distinct note from note_tags where owner = ? and tag in (select value from json_each(?))';
    const db = this.#db;
    const total = Number(db.statement(`select count(*) as count from (${tagged})`).get(number, wanted)?.['count']);
    // `cross` keeps the order of the two: from the few that have the tag to their notes, not the other way round.
    const picked = `select n.id, n.note from (${tagged} order by note desc limit ?) t
      cross join notes n on n.owner = ? and n.id = t.note order by n.id desc`;
    const row = db.statement(gatherWithin(picked)).get(number, wanted, limit, number, maxCharacters);
    return { json: `[${row?.['notes'] ?? ''}]`, count: Number(row?.['count'] ?? 0), total };
  }

  /** Ids that begin with `prefix`, newest first. */
  ids(owner: string, prefix: string, limit: number): Awaitable<{ readonly values: string[]; readonly total: number }> {
    return this.#db.read(() => {
      const known = this.#owner(owner);
      if (known === undefined || !/^\d*$/.test(prefix)) return { values: [], total: 0 };
      // Ids are 1 … lastNote without a gap, so no row needs to be read.
      return numbersWithPrefix(known.lastNote, prefix, limit);
    });
  }

  /** Adds to the counter and returns its new value; resolves when it is durable. */
  increment(owner: string, amount: number): Promise<number> {
    return this.#db.write(() => {
      const { number, counter } = this.#ownerToChange(owner);
      const value = counter + amount;
      if (!Number.isSafeInteger(value)) {
        throw new StoreError(
          'limit',
          `The counter is ${counter}; adding ${amount} would leave the range of exact integers`,
        );
      }
      this.#db.statement(`update owners set counter = ?, ${touch} where number = ?`).run(value, number);
      return value;
    });
  }

  counter(owner: string): Awaitable<number> {
    return this.#db.read(() => this.#owner(owner)?.counter ?? 0);
  }

  /** Tells of every change from now on, of this process and of others that share the folder. */
  watch(listener: (change: NotesChange) => void): () => void {
    if (this.#unlisten === undefined) {
      this.#changes();
      this.#unlisten = this.#db.onChange(() => this.#tell());
    }
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#unlisten?.();
      this.#unlisten = undefined;
      this.#told.clear();
      this.#seen = 0;
    };
  }

  #owner(owner: string): Owner | undefined {
    const row = this.#db
      .statement('select number, last_note, characters, counter from owners where key = ?')
      .get(JSON.stringify(owner));
    if (row === undefined) return undefined;
    return {
      number: Number(row['number']),
      lastNote: Number(row['last_note']),
      characters: Number(row['characters']),
      counter: Number(row['counter']),
    };
  }

  #ownerToChange(owner: string): Owner {
    const known = this.#owner(owner);
    if (known !== undefined) return known;
    this.#db.statement('insert into owners (key) values (?)').run(JSON.stringify(owner));
    return this.#owner(owner) as Owner;
  }

  /** What has changed since the last look, remembered; nothing is told. */
  #look(): NotesChange[] {
    const rows = this.#db
      .statement('select key, last_note, counter, changed from owners where changed > ? order by changed')
      .all(this.#seen);
    return rows.map((row) => {
      const owner = JSON.parse(row['key'] as string) as string;
      const now = { lastNote: Number(row['last_note']), counter: Number(row['counter']) };
      const before = this.#told.get(owner) ?? { lastNote: 0, counter: 0 };
      this.#told.set(owner, now);
      this.#seen = Number(row['changed']);
      return { owner, counter: now.counter !== before.counter, notes: now.lastNote !== before.lastNote };
    });
  }

  #tell(): void {
    for (const change of this.#changes()) for (const listener of this.#listeners) listener(change);
  }

  /** Looks, but not at any price: in a moment when the file can not be read, the next change tells of this one too. */
  #changes(): NotesChange[] {
    try {
      return this.#look();
    } catch {
      return [];
    }
  }
}

/** Joins the notes of a query in SQLite: five times faster than making an object of each. */
function gather(picked: string): string {
  return `select group_concat(note, ',') as notes, count(*) as count from (${picked})`;
}

/** The same, ending before the text grows too long. */
function gatherWithin(picked: string): string {
  return gather(
    `select note from (select id, note, sum(length(note) + 1) over (order by id desc) as characters from (${picked}))
     where characters <= ? order by id desc`,
  );
}

function noteNumber(id: string): number | undefined {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : undefined;
}

/** Of 1 … last, those whose digits begin with `prefix`, largest first, and how many there are. */
export function numbersWithPrefix(last: number, prefix: string, limit: number): { values: string[]; total: number } {
  const values: string[] = [];
  let total = 0;
  const ranges: [number, number][] = [];
  if (prefix === '') ranges.push([1, last]);
  else if (!prefix.startsWith('0')) {
    for (let from = Number(prefix), width = 1; from <= last; from *= 10, width *= 10) {
      ranges.push([from, Math.min(from + width - 1, last)]);
    }
  }
  for (const [from, to] of ranges.reverse()) {
    total += to - from + 1;
    for (let number = to; number >= from && values.length < limit; number--) values.push(String(number));
  }
  return { values, total };
}
