// The types of notes, for storing and listing them. Types only.

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
