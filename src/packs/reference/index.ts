// Pack `reference`: time, arithmetic, a counter, notes and a long task, with the resources and prompts that go with
// them. Small enough to read, and one of everything a client may want to try.

import type { Middleware, Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { installArithmetic } from './arithmetic.ts';
import { createMemoryNotes } from './memory-store.ts';
import { announce, installCounter, installNotes, type NotesOptions, uris } from './notes.ts';
import { installGreeting, installSummary } from './prompts.ts';
import type { NoteStore } from './store.ts';
import { installTask } from './task.ts';
import { installTime } from './time.ts';

export { createMemoryNotes, type MemoryNotesOptions } from './memory-store.ts';
export type { Note, NoteList, NoteQuery, NoteStore, NotesChange } from './store.ts';

export interface ReferenceOptions {
  /** Where notes and counter are kept; a function is called when they are first needed. Default: in memory. */
  readonly store?: NoteStore | (() => Promise<NoteStore>);
  /** Whether the schema of get_current_time names `timezone`; it is understood either way. Default true. */
  readonly listsTimezone?: boolean;
  /** Whether there is a tool `delete_note`. Default true. */
  readonly deletesNotes?: boolean;
  /** Bytes of all notes of one caller; stops one from taking the room of all others. Default 16 MiB in memory. */
  readonly maxBytesPerCaller?: number;
  /** Bytes of all notes; stops many callers from filling the memory. Default 64 MiB in memory. A store has its own. */
  readonly maxBytesTotal?: number;
  /** The longest list of notes in one answer, in characters. Default 16 Mi. */
  readonly maxListCharacters?: number;
  /** The clock. */
  readonly now?: () => Date;
}

const defaultListCharacters = 16 * 1024 * 1024;

/** What a configuration file may say about this pack. */
export const referenceSchema = {
  type: 'object',
  properties: {
    maxListCharacters: {
      type: 'integer',
      minimum: 1_000,
      maximum: 268_435_456,
      description: 'The longest list of notes in one answer, in characters',
    },
    maxBytesPerCaller: { type: 'integer', minimum: 1, description: 'Bytes that the notes of one caller may take' },
    maxBytesTotal: { type: 'integer', minimum: 1, description: 'Bytes of the database beyond which no note is added' },
  },
  additionalProperties: false,
} as const;

export function reference(options: ReferenceOptions = {}): Pack<Server> {
  const { store = createMemoryNotes(options), listsTimezone = true, now = () => new Date() } = options;
  const startedAt = process.uptime();
  let unwatch: (() => void) | undefined;

  return {
    name: 'reference',
    install(server) {
      const watched = (opened: NoteStore): NoteStore => {
        unwatch ??= opened.watch((change) => announce(server, change));
        return opened;
      };
      const open = typeof store === 'function' ? openOnce(store, watched) : () => store;
      if (typeof store === 'function') server.around(openForSubscribers(open));
      else watched(store);
      const notes: NotesOptions = {
        maxListCharacters: options.maxListCharacters ?? defaultListCharacters,
        canDelete: options.deletesNotes ?? true,
        open,
      };
      installTime(server, listsTimezone, now);
      installArithmetic(server);
      server.resource('server://status', {
        name: 'Server Status',
        description: 'Current server status',
        mimeType: 'application/json',
        read: () => JSON.stringify({ status: 'healthy', uptime: Math.floor(process.uptime() - startedAt) }),
      });
      installCounter(server, notes);
      installNotes(server, notes);
      installTask(server);
      installGreeting(server);
      installSummary(server, notes);
    },
    close() {
      unwatch?.();
    },
  };
}

/** Whoever asks to be told of changes is told of those that others make, too: the store must be open to hear of them. */
function openForSubscribers(open: () => NoteStore | Promise<NoteStore>): Middleware {
  return ({ method, params }, next) => {
    if (method !== 'resources/subscribe' && method !== 'subscriptions/listen') return next();
    const { resourceSubscriptions = [] } = (params['notifications'] ?? {}) as { resourceSubscriptions?: unknown };
    const asked: unknown[] = [params['uri'], ...(Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [])];
    if (!asked.some((uri) => uri === uris.counter || uri === uris.notes)) return next();
    // Where it can not be opened nothing changes, and whoever reads is told why.
    return Promise.resolve(open()).then(next, next);
  };
}

/** Opens when first asked; a failure is told to whoever asked, and the next one tries again. */
function openOnce(
  open: () => Promise<NoteStore>,
  opened: (store: NoteStore) => NoteStore,
): () => NoteStore | Promise<NoteStore> {
  let store: NoteStore | undefined;
  let opening: Promise<NoteStore> | undefined;
  return () => {
    if (store !== undefined) return store;
    opening ??= open().then(
      (found) => (store = opened(found)),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
}
