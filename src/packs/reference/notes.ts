// The counter and the notes: tools, resources and completion over a store. Each caller sees only their own.

import { UserError } from '../../common/user-error.ts';
import type { Context } from '../../engine/context.ts';
import { principalKey } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import { principalOfKey } from '../../protocol/callers/principal.ts';
import type { NoteList, NoteQuery, NoteStore, NotesChange } from './store.ts';

/** The longest note; larger texts belong in files. */
const maxContentCharacters = 1_048_576;
const maxTags = 100;
const maxTagCharacters = 200;
const maxIdCharacters = 20;

const tagList = (description: string) =>
  ({
    type: 'array',
    description,
    items: { type: 'string', minLength: 1, maxLength: maxTagCharacters },
    maxItems: maxTags,
  }) as const;

export const uris = { counter: 'server://counter', notes: 'server://notes', note: 'note://{id}' } as const;

const ownerOf = (ctx: Context): string => principalKey(ctx.principal);

/**
 * Lists being made at a time, by all callers and by each. A list may have megabytes; stops hundreds of requests that arrive
 * together from having all their lists in memory.
 */
const listing = new CallerTurns(8, 1);

/** Lists notes when it is the turn of the caller. */
export const listNotes = (open: NotesOptions['open'], ctx: Context, query: NoteQuery): Promise<NoteList> =>
  listing.run(callerKey(ctx), ctx.signal, async () => (await open()).list(ownerOf(ctx), query));

export interface NotesOptions {
  /** Limits a result that lists notes. */
  readonly maxListCharacters: number;
  /** Whether there is a tool that deletes notes. */
  readonly canDelete: boolean;
  open(): NoteStore | Promise<NoteStore>;
}

export function installCounter(server: Server, { open }: NotesOptions): void {
  server.tool('increment_counter', {
    description: 'Increment the server counter',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: {
      type: 'object',
      properties: { amount: { type: 'integer', description: 'Amount to increment (default: 1)' } },
      required: [],
    } as const,
    run: async ({ amount = 1 }, ctx) => `Counter is now ${await (await open()).increment(ownerOf(ctx), amount)}`,
  });
  server.resource(uris.counter, {
    name: 'Counter',
    description: 'Current counter value',
    mimeType: 'text/plain',
    read: async (ctx) => String(await (await open()).counter(ownerOf(ctx))),
  });
}

export function installNotes(server: Server, options: NotesOptions): void {
  const { open, maxListCharacters } = options;
  server.tool('add_note', {
    description: 'Add a note to the server',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        content: { type: 'string', description: 'Note content', maxLength: maxContentCharacters },
        tags: tagList('Tags for the note'),
      },
      required: ['content'],
    } as const,
    run: async ({ content, tags = [] }, ctx) => {
      const { id } = await (await open()).add(ownerOf(ctx), { content, tags });
      return `Note ${id} added`;
    },
  });
  if (options.canDelete) {
    server.tool('delete_note', {
      description: 'Delete a note from the server',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
      input: {
        type: 'object',
        properties: { id: { type: 'string', description: 'Id of the note', minLength: 1, maxLength: maxIdCharacters } },
        required: ['id'],
      } as const,
      run: async ({ id }, ctx) => {
        if (await (await open()).delete(ownerOf(ctx), id)) return `Note ${id} deleted`;
        throw new UserError(`There is no note ${id}`);
      },
    });
  }
  server.tool('get_notes', {
    description: 'Retrieve stored notes',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: {
      type: 'object',
      properties: {
        tags: tagList('Filter by tags'),
        limit: { type: 'integer', description: 'Maximum notes to return', minimum: 1 },
      },
      required: [],
    } as const,
    run: async ({ tags, limit }, ctx) => {
      const query = { maxCharacters: maxListCharacters, ...(tags && { tags }), ...(limit && { limit }) };
      const { json, count, total } = await listNotes(open, ctx, query);
      return `{"notes":${json},"count":${count},"total":${total}}`;
    },
  });
  server.resource(uris.notes, {
    name: 'Notes',
    description: 'Stored notes, newest first',
    mimeType: 'application/json',
    read: async (ctx) => (await listNotes(open, ctx, { maxCharacters: maxListCharacters })).json,
  });
  server.resourceTemplate(uris.note, {
    name: 'Note',
    description: 'One note by its id',
    mimeType: 'application/json',
    read: async ({ id }, ctx) => (await open()).get(ownerOf(ctx), id),
    complete: { id: async (value, _known, ctx) => (await open()).ids(ownerOf(ctx), value, 100) },
  });
}

/** Notifies the subscribers whose data changed; others do not even learn when something changed. */
export function announce(server: Server, { owner, counter, notes }: NotesChange): void {
  const audience = [principalOfKey(owner)];
  // Processes that share the data folder notice each other's changes there.
  if (counter) server.resourceUpdated(uris.counter, audience, 'each-process');
  if (notes) server.resourceUpdated(uris.notes, audience, 'each-process');
}
