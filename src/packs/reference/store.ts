// What this pack needs to remember, as a contract. memory-store.ts is the plain implementation; the data folder of the
// ready-made servers is another, handed over by app/.

type Awaitable<T> = T | Promise<T>;

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

/** Notes as the text of a JSON array, newest first: a store may keep them in that form and need not take them apart. */
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

/** Notes and a counter for each owner. What a promise of `add`, `delete` or `increment` has resolved is not lost any more. */
export interface NoteStore {
  add(owner: string, note: Pick<Note, 'content' | 'tags'>): Promise<Note>;
  /** Deletes a note; false when this owner has none of that id. Ids are not used again. */
  delete(owner: string, id: string): Promise<boolean>;
  /** One note as JSON; undefined when this owner has none of that id. */
  get(owner: string, id: string): Awaitable<string | undefined>;
  list(owner: string, query: NoteQuery): Awaitable<NoteList>;
  /** Ids that begin with `prefix`, newest first. */
  ids(owner: string, prefix: string, limit: number): Awaitable<{ readonly values: string[]; readonly total: number }>;
  /** Adds to the counter and returns its new value. */
  increment(owner: string, amount: number): Promise<number>;
  counter(owner: string): Awaitable<number>;
  /** Tells of every change, whoever made it. */
  watch(listener: (change: NotesChange) => void): () => void;
}
