// What a view keeps of upstreams that it does not show any more: entries for retries of calls that are held. Their calls may end
// within the drain time, and a client that gets input requests as a result ends its call by repeating it.

import type { EntryKinds, OwnedEntries } from '../../engine/catalog/catalog-entry.ts';
import {
  readerKey,
  relayedPrompt,
  relayedReader,
  relayedResource,
  relayedTool,
} from '../../engine/catalog/relayed-entries.ts';
import type { Context } from '../../engine/context.ts';
import { type WireError, wireErrors } from '../../protocol/errors.ts';
import type { ExposedView } from '../names/index.ts';
import { recordedPhases } from '../relays/phases.ts';
import type { ShownView } from './shown-view.ts';

type EndingKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

type EndingTables = { readonly [K in EndingKind]: Map<string, EntryKinds[K]> };

export class EndingEntries {
  /** By name or URI; of upstreams or callers with the same one, that of the last: neither is needed to find a held call. */
  readonly #kept: EndingTables = {
    ...{ tools: new Map(), prompts: new Map(), resources: new Map(), resourceTemplates: new Map() },
  };

  /** Keeps the entries of some upstreams for a time, then calls `ended`. `shown` is what callers saw of the view with them. */
  keep(
    slugs: ReadonlySet<string>,
    shown: readonly ShownView[],
    options: { readonly drainMs: number; readonly ended: () => void },
  ): void {
    const added = shown.map(({ exposed, entries }) => endingEntries(slugs, exposed, entries));
    for (const each of added) for (const kind of kinds) this.#keepAll(kind, each[kind]);
    const timer = setTimeout(() => {
      for (const each of added) for (const kind of kinds) for (const entry of each[kind]) this.#forget(kind, entry);
      options.ended();
    }, options.drainMs);
    timer.unref();
  }

  #keepAll<K extends EndingKind>(kind: K, entries: readonly EntryKinds[K][]): void {
    for (const entry of entries) this.#table(kind).set(entry.key, entry);
  }

  /** With those entries that the view has nothing else for. */
  addTo(entries: OwnedEntries): OwnedEntries {
    if (kinds.every((kind) => this.#kept[kind].size === 0)) return entries;
    return { ...entries, ...Object.fromEntries(kinds.map((kind) => [kind, this.#join(kind, entries[kind] ?? [])])) };
  }

  #join<K extends EndingKind>(kind: K, shown: readonly EntryKinds[K][]): readonly EntryKinds[K][] {
    const names = new Set(shown.map(({ key }) => key));
    return [...shown, ...[...this.#table(kind).values()].filter(({ key }) => !names.has(key))];
  }

  #forget<K extends EndingKind>(kind: K, entry: EntryKinds[K]): void {
    const table = this.#table(kind);
    if (table.get(entry.key) === entry) table.delete(entry.key);
  }

  #table<K extends EndingKind>(kind: K): Map<string, EntryKinds[K]> {
    return this.#kept[kind];
  }
}

const kinds: readonly EndingKind[] = ['tools', 'prompts', 'resources', 'resourceTemplates'];

/** Entries that are in no list. For everything but a retry of a held call, they do not exist. */
function endingEntries(
  slugs: ReadonlySet<string>,
  { tools, prompts, resources, uris }: ExposedView,
  entries: OwnedEntries,
): { readonly [K in EndingKind]: readonly EntryKinds[K][] } {
  const toolEntries = byKey(entries.tools);
  const promptEntries = byKey(entries.prompts);
  const resourceEntries = byKey(entries.resources);
  const readAny = byKey(entries.resourceTemplates).get(readerKey)?.definition.read;
  const removed = { listed: false, removed: true };
  return {
    tools: tools.flatMap(({ slug, exposed, item }) => {
      const run = slugs.has(slug) ? toolEntries.get(exposed)?.definition.run : undefined;
      if (run === undefined) return [];
      const checked: typeof run = (args, ctx) => {
        requireHeldCall(ctx, () => wireErrors.unknownTool(exposed));
        return run(args, ctx);
      };
      return [relayedTool(item, { run: checked, upstream: slug, ...removed })];
    }),
    prompts: prompts.flatMap(({ slug, exposed, item }) => {
      const get = slugs.has(slug) ? promptEntries.get(exposed)?.definition.get : undefined;
      if (get === undefined) return [];
      const checked: typeof get = (args, ctx) => {
        requireHeldCall(ctx, () => wireErrors.unknownPrompt(exposed));
        return get(args, ctx);
      };
      return [relayedPrompt(item, { get: checked, ...removed })];
    }),
    resources: resources.flatMap(({ slug, exposed, item }) => {
      const read = slugs.has(slug) ? resourceEntries.get(exposed)?.definition.read : undefined;
      if (read === undefined) return [];
      const checked: Parameters<typeof relayedResource>[1]['read'] = (uri, ctx) => {
        requireHeldCall(ctx, () => wireErrors.resourceNotFound(uri));
        return read(ctx);
      };
      return [relayedResource(item, { read: checked, ...removed })];
    }),
    // Whatever template a URI matched: one entry for each upstream reads all that its upstream may have.
    resourceTemplates: [...slugs].flatMap((slug) => {
      if (readAny === undefined) return [];
      const checked: Parameters<typeof relayedReader>[0]['read'] = (uri, ctx) => {
        requireHeldCall(ctx, () => wireErrors.resourceNotFound(uri));
        return readAny({}, ctx, uri) as ReturnType<typeof checked>;
      };
      const has = (uri: string): boolean => uris.route(uri)?.slug === slug;
      return [relayedReader({ key: `${readerKey} of ${slug}`, has, read: checked, removed: true })];
    }),
  };
}

function byKey<Entry extends { readonly key: string }>(entries: readonly Entry[] = []): ReadonlyMap<string, Entry> {
  return new Map(entries.map((entry) => [entry.key, entry]));
}

function requireHeldCall(ctx: Context, error: () => WireError): void {
  if (!ctx.isRetry || recordedPhases(ctx).at(-1)?.kind !== 'held') throw error();
}
