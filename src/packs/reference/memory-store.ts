// Notes and counters in memory, lost when the process ends.

import { assertKnownOptions } from '../../common/known-options.ts';
import { UserError } from '../../common/user-error.ts';
import type { Note, NoteQuery, NoteStore, NotesChange } from './store.ts';

interface Owned {
  readonly notes: Note[];
  lastNote: number;
  bytes: number;
  counter: number;
}

export interface MemoryNotesOptions {
  /** Bytes of all notes of one caller; stops one client from using up the memory. Default 16 MiB. */
  readonly maxBytesPerCaller?: number;
  /** Bytes of all notes together; stops many clients from filling the memory. Default 64 MiB. */
  readonly maxBytesTotal?: number;
}

const mebibyte = 1024 * 1024;
const known: Record<keyof MemoryNotesOptions, true> = { maxBytesPerCaller: true, maxBytesTotal: true };

export function createMemoryNotes(options: MemoryNotesOptions = {}): NoteStore {
  assertKnownOptions('createMemoryNotes', options, known);
  const { maxBytesPerCaller = 16 * mebibyte, maxBytesTotal = 64 * mebibyte } = options;
  const owners = new Map<string, Owned>();
  const listeners = new Set<(change: NotesChange) => void>();
  let totalBytes = 0;
  const of = (owner: string): Owned => owners.get(owner) ?? { notes: [], lastNote: 0, bytes: 0, counter: 0 };
  const store = (owner: string): Owned => {
    const owned = of(owner);
    owners.set(owner, owned);
    return owned;
  };
  const notify = (change: NotesChange): void => {
    for (const listener of listeners) listener(change);
  };

  return {
    async add(owner, { content, tags }) {
      const owned = of(owner);
      const note: Note = { id: String(owned.lastNote + 1), content, tags, created: new Date().toISOString() };
      const bytes = bytesOf(note);
      if (owned.bytes + bytes > maxBytesPerCaller) {
        throw new UserError(
          `Your notes take ${owned.bytes} bytes and this one ${bytes}; the limit is ${maxBytesPerCaller}. Delete some first`,
        );
      }
      if (totalBytes + bytes > maxBytesTotal) {
        throw new UserError(`The store is full: its limit is ${maxBytesTotal} bytes. Delete some notes first`);
      }
      const stored = store(owner);
      stored.notes.push(note);
      stored.lastNote++;
      stored.bytes += bytes;
      totalBytes += bytes;
      notify({ owner, counter: false, notes: true });
      return note;
    },
    async delete(owner, id) {
      const owned = of(owner);
      const index = owned.notes.findIndex((each) => each.id === id);
      const [note] = index === -1 ? [] : owned.notes.splice(index, 1);
      if (note === undefined) return false;
      owned.bytes -= bytesOf(note);
      totalBytes -= bytesOf(note);
      notify({ owner, counter: false, notes: true });
      return true;
    },
    get(owner, id) {
      const note = of(owner).notes.find((each) => each.id === id);
      return note && JSON.stringify(note);
    },
    list: (owner, query) => gather(of(owner).notes, query),
    ids(owner, prefix, limit) {
      const values = of(owner)
        .notes.map((each) => each.id)
        .filter((id) => id.startsWith(prefix))
        .reverse();
      return { values: values.slice(0, limit), total: values.length };
    },
    async increment(owner, amount) {
      const owned = of(owner);
      const value = owned.counter + amount;
      if (!Number.isSafeInteger(value)) {
        throw new UserError(
          `The counter is ${owned.counter}; adding ${amount} would leave the range of exact integers`,
        );
      }
      store(owner).counter = value;
      notify({ owner, counter: true, notes: false });
      return value;
    },
    counter: (owner) => of(owner).counter,
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const bytesOf = (note: Note): number => Buffer.byteLength(JSON.stringify(note));

function gather(notes: readonly Note[], { tags = [], limit, maxCharacters }: NoteQuery) {
  const fitting = notes.filter((note) => tags.length === 0 || note.tags.some((tag) => tags.includes(tag))).reverse();
  const listed: string[] = [];
  let characters = 0;
  for (const note of fitting.slice(0, limit)) {
    const json = JSON.stringify(note);
    characters += json.length + 1;
    if (characters > maxCharacters) break;
    listed.push(json);
  }
  return { json: `[${listed.join(',')}]`, count: listed.length, total: fitting.length };
}
