// The interface of the store of notes and counters. memory-store.ts is the simple implementation; app/ passes another, on
// the data folder of the ready-made servers.

import type { Awaitable } from '../../common/awaitable.ts';

/** A note as clients see it. */
export interface Note {
  readonly id: string;
  readonly content: string;
  readonly tags: readonly string[];
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

/** Notes as the text of a JSON array, newest first: a store may hold them in that form and need not parse them. */
export interface NoteList {
  readonly json: string;
  readonly count: number;
  /** How many match the query, listed or not. */
  readonly total: number;
}

/** What changed, and for whom. */
export interface NotesChange {
  readonly owner: string;
  readonly counter: boolean;
  readonly notes: boolean;
}

/** Notes and a counter for each owner. Once `add`, `delete` or `increment` has resolved, the change is safe. */
export interface NoteStore {
  add(owner: string, note: Pick<Note, 'content' | 'tags'>): Promise<Note>;
  /** Deletes a note; false if this owner has none with that id. Ids are not reused. */
  delete(owner: string, id: string): Promise<boolean>;
  /** One note as JSON; undefined if this owner has none with that id. */
  get(owner: string, id: string): Awaitable<string | undefined>;
  list(owner: string, query: NoteQuery): Awaitable<NoteList>;
  /** Ids that begin with `prefix`, newest first. */
  ids(owner: string, prefix: string, limit: number): Awaitable<{ readonly values: string[]; readonly total: number }>;
  /** Adds to the counter and returns its new value. */
  increment(owner: string, amount: number): Promise<number>;
  counter(owner: string): Awaitable<number>;
  /** Reports every change, also of other processes. */
  watch(listener: (change: NotesChange) => void): () => void;
}
