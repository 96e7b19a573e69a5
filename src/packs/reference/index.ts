// Pack `reference`: time, arithmetic, a counter, notes and a long task, with their resources and prompts. Small
// enough to read, with one of everything a client may want to try.

import { assertKnownOptions } from '../../common/known-options.ts';
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
  /** Stores notes and counter; a function is called when they are first needed. Default: in memory. */
  readonly store?: NoteStore | (() => Promise<NoteStore>);
  /** Whether the schema of get_current_time names `timezone`; it is accepted in any case. Default true. */
  readonly listsTimezone?: boolean;
  /** Whether there is a tool `delete_note`. Default true. */
  readonly deletesNotes?: boolean;
  /** Whether there are `increment_counter` with its resource, and `long_running_task`, for trying clients. Default true. */
  readonly demoTools?: boolean;
  /** Bytes of all notes of one caller; stops one caller from using up the memory. Default 16 MiB in memory. */
  readonly maxBytesPerCaller?: number;
  /** Bytes of all notes; stops many callers from filling the memory. Default 64 MiB in memory. A store has its own. */
  readonly maxBytesTotal?: number;
  /** The longest list of notes in one result, in characters. Default 16 Mi. */
  readonly maxListCharacters?: number;
  /** The clock. */
  readonly now?: () => Date;
}

const defaultListCharacters = 16 * 1024 * 1024;

/** The options of this pack in a configuration file. */
export const referenceSchema = {
  type: 'object',
  properties: {
    maxListCharacters: {
      type: 'integer',
      minimum: 1_000,
      maximum: 268_435_456,
      description: 'The longest list of notes in one response, in characters',
    },
    demoTools: { type: 'boolean', description: 'increment_counter and long_running_task, for trying clients' },
    maxBytesPerCaller: { type: 'integer', minimum: 1, description: 'Bytes that the notes of one caller may take' },
    maxBytesTotal: { type: 'integer', minimum: 1, description: 'Bytes of the database beyond which no note is added' },
  },
  additionalProperties: false,
} as const;

const known: Record<keyof ReferenceOptions, true> = {
  store: true,
  listsTimezone: true,
  deletesNotes: true,
  demoTools: true,
  maxBytesPerCaller: true,
  maxBytesTotal: true,
  maxListCharacters: true,
  now: true,
};

export function reference(options: ReferenceOptions = {}): Pack<Server> {
  assertKnownOptions('reference', options, known);
  const {
    store = createMemoryNotes({ maxBytesPerCaller: options.maxBytesPerCaller, maxBytesTotal: options.maxBytesTotal }),
    listsTimezone = true,
    demoTools = true,
    now = () => new Date(),
  } = options;
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
      if (demoTools) installCounter(server, notes);
      installNotes(server, notes);
      if (demoTools) installTask(server);
      installGreeting(server);
      installSummary(server, notes);
    },
    close() {
      unwatch?.();
    },
  };
}

/** Opens the store before a subscription is confirmed: only an open store reports changes made by other processes. */
function openForSubscribers(open: () => NoteStore | Promise<NoteStore>): Middleware {
  return ({ method, params }, next) => {
    if (method !== 'resources/subscribe' && method !== 'subscriptions/listen') return next();
    const { resourceSubscriptions = [] } = (params['notifications'] ?? {}) as { resourceSubscriptions?: unknown };
    const subscribed: unknown[] = [
      params['uri'],
      ...(Array.isArray(resourceSubscriptions) ? resourceSubscriptions : []),
    ];
    if (!subscribed.some((uri) => uri === uris.counter || uri === uris.notes)) return next();
    // If it cannot be opened, the subscription is accepted anyway, and a read reports the reason.
    return Promise.resolve(open()).then(next, next);
  };
}

/** Opens the store on the first call; after a failure, the next call tries again. */
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
