// Notes and counters in memory, forgotten when the process ends.

import type { Note, NoteQuery, NoteStore, NotesChange } from './store.ts';

interface Owned {
  readonly notes: Note[];
  counter: number;
}

export function createMemoryNotes(): NoteStore {
  const owners = new Map<string, Owned>();
  const listeners = new Set<(change: NotesChange) => void>();
  const of = (owner: string): Owned => owners.get(owner) ?? { notes: [], counter: 0 };
  const keep = (owner: string): Owned => {
    const owned = of(owner);
    owners.set(owner, owned);
    return owned;
  };
  const tell = (change: NotesChange): void => {
    for (const listener of listeners) listener(change);
  };

  return {
    async add(owner, { content, tags }) {
      const { notes } = keep(owner);
      const note: Note = { id: String(notes.length + 1), content, tags, created: new Date().toISOString() };
      notes.push(note);
      tell({ owner, counter: false, notes: true });
      return note;
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
        throw new RangeError(
          `The counter is ${owned.counter}; adding ${amount} would leave the range of exact integers`,
        );
      }
      keep(owner).counter = value;
      tell({ owner, counter: true, notes: false });
      return value;
    },
    counter: (owner) => of(owner).counter,
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

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
