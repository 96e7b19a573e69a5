// Lists of notes as one text, assembled by SQLite and compared with checksums before they are used. Adding and
// deleting is notes.ts.

import { findDamagedNote, listChecksum } from './checksum.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './driver.ts';
import type { NoteList, NoteQuery } from './note-contract.ts';
import type { Owner, Owners } from './owners.ts';

export class NoteLists {
  readonly #db: Database;
  readonly #owners: Owners;

  constructor(db: Database, owners: Owners) {
    this.#db = db;
    this.#owners = owners;
  }

  /** The list for a query; call it within `Database.read`. */
  list(name: string, query: NoteQuery): NoteList {
    // Owner and notes are read one after the other; another process may have written in between, so a mismatch
    // is checked once more in one transaction.
    return (
      this.#tryList(name, query) ??
      this.#db.snapshot(() => this.#tryList(name, query)) ??
      this.#fail(name, 'the list of notes')
    );
  }

  #tryList(name: string, query: NoteQuery): NoteList | undefined {
    const owner = this.#owners.find(name);
    if (owner === undefined) return { json: '[]', count: 0, total: 0 };
    const { tags = [], limit = owner.notes, maxCharacters } = query;
    if (tags.length > 0) return this.#listTagged(owner, tags, query);
    // Only a list that may be too long is measured note by note.
    if (owner.characters > maxCharacters) {
      const texts = this.#checked(owner.key, gatherWithin(newest), [owner.number, limit, maxCharacters]);
      return toList(texts, owner.notes);
    }
    if (limit < owner.notes)
      return toList(this.#checked(owner.key, gather(newest), [owner.number, limit]), owner.notes);
    return owner.listChecksum === undefined ? this.#listAndRemember(name, owner) : this.#listAll(owner);
  }

  /** Every note, compared with one checksum for all: a fifth of comparing each (bench notes, "read all"). */
  #listAll({ number, notes, listChecksum: expected }: Owner): NoteList | undefined {
    const row = this.#db.statement(joined).get(number);
    const text = (row?.['notes'] ?? '') as string;
    if (row?.['count'] !== notes || (notes > 0 && listChecksum(text) !== expected)) return undefined;
    return { json: `[${text}]`, count: notes, total: notes };
  }

  /** After a note was deleted the checksum for all is unknown; it is kept for the next time. */
  #listAndRemember(name: string, owner: Owner): NoteList | undefined {
    const { number, key, notes, lastNote } = owner;
    const texts = this.#checked(key, gather(newest), [number, notes]);
    if (texts.length !== notes) return undefined;
    const list = toList(texts, notes);
    const checksum = notes === 0 ? 0 : listChecksum(list.json.slice(1, -1));
    const remember = this.#db.write(() => {
      const now = this.#owners.find(name);
      if (now?.lastNote !== lastNote || now.notes !== notes || now.listChecksum !== undefined) return;
      this.#owners.save({ ...now, listChecksum: checksum });
    });
    remember.catch(() => {}); // The next list tries again; this caller has the notes.
    return list;
  }

  #listTagged(
    owner: Owner,
    tags: readonly string[],
    { limit = owner.notes, maxCharacters }: NoteQuery,
  ): NoteList | undefined {
    const { number, key } = owner;
    const tagTexts = tags.map((tag) => JSON.stringify(tag));
    const wanted = JSON.stringify(tagTexts);
    const tagged = 'select distinct note from note_tags where owner = ? and tag in (select value from json_each(?))';
    const db = this.#db;
    const total = Number(db.statement(`select count(*) as count from (${tagged})`).get(number, wanted)?.['count']);
    // `cross` keeps the order of the two: from the few that have the tag to their notes, not the other way round.
    const picked = `select n.id, n.note, n.checksum from (${tagged} order by note desc limit ?) t
      cross join notes n on n.owner = ? and n.id = t.note order by n.id desc`;
    const texts = this.#checked(key, gatherWithin(picked), [number, wanted, limit, number, maxCharacters]);
    const stray = texts.find((text) => !tagTexts.some((tag) => text.includes(tag)));
    if (stray !== undefined) throw db.damagedNote(`a tag of note ${idOf(stray)}`);
    // Nothing but the length of the list may leave out a note that has the tag.
    if (owner.characters <= maxCharacters && texts.length !== Math.min(limit, total)) return undefined;
    return toList(texts, total);
  }

  /** The notes of a query, each compared with its own checksum. */
  #checked(ownerKey: string, sql: string, values: readonly (string | number)[]): string[] {
    const row = this.#db.statement(sql).get(...values);
    const notes = row?.['notes'];
    if (typeof notes !== 'string') return [];
    const texts = notes.split(separator);
    const checksums = ((row as SqlRow)['checksums'] as string).split(',');
    const damaged = texts[findDamagedNote(ownerKey, texts, checksums)];
    if (damaged === undefined) return texts;
    throw this.#db.damagedNote(idOf(damaged) === undefined ? 'a note' : `note ${idOf(damaged)}`);
  }

  /** The list is damaged: names the damaged note, unless a note is missing. */
  #fail(name: string, what: string): never {
    const owner = this.#owners.find(name);
    if (owner !== undefined) this.#checked(owner.key, gather(newest), [owner.number, -1]);
    throw this.#db.damagedRecord(what);
  }
}

function toList(texts: readonly string[], total: number): NoteList {
  return { json: `[${texts.join(',')}]`, count: texts.length, total };
}

/** The id inside of a note's JSON, which begins with it. */
export function idOf(json: string): string | undefined {
  return /^\{"id":"(\d+)"/.exec(json)?.[1];
}

/** Between notes that are compared one by one: JSON has no raw control characters, so no note contains it. */
const separator = '\u001e';

const newest = 'select id, note, checksum from notes where owner = ? order by id desc limit ?';

/** All notes of an owner. SQLite joins them five times faster than objects could be made of them. */
const joined = `select group_concat(note, ',') as notes, count(*) as count
  from (select note from notes where owner = ? order by id desc)`;

/** The notes of a query with their checksums. */
function gather(picked: string): string {
  return `select group_concat(note, char(30)) as notes, group_concat(checksum, ',') as checksums from (${picked})`;
}

/** The same, ending before the text grows too long. */
function gatherWithin(picked: string): string {
  return gather(
    `select note, checksum from
       (select id, note, checksum, sum(length(note) + 1) over (order by id desc) as characters from (${picked}))
     where characters <= ? order by id desc`,
  );
}
