// Lists as a server sent them, and what may be shown of them: without hidden characters, and without tools that are withheld.

import type { Tool } from '../../protocol/model.ts';
import { cleanLists } from '../clean-lists.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { CatalogCache, PinChecker, PreparedLists, UpstreamLists } from '../contract.ts';

/** How lists of servers are checked and stored. */
export interface ListSettings {
  /** Stores lists between two starts, such as `createCatalogCache`. Default: they are not stored. */
  readonly cache?: CatalogCache | undefined;
  /** Compares tools with accepted ones, such as `Pins`. Default: they are not compared. */
  readonly pins?: PinChecker | undefined;
  /** Changes what a server lists before it is shown. Default: removes hidden characters, limits lengths. */
  readonly cleanLists?: ((lists: UpstreamLists) => UpstreamLists) | undefined;
}

export interface CheckOptions {
  /** What was computed from the same lists before. */
  readonly stored?: PreparedLists | undefined;
  /** Other callers have other lists. */
  readonly isPrivate?: boolean | undefined;
}

let lists = 0;

/** They do not change: lists that are read or compared again are others. */
export class CheckedLists {
  /** Distinguishes them from others. */
  readonly id = ++lists;
  /** As the server sent them. */
  readonly received: UpstreamLists;
  /** What was computed from them. */
  readonly prepared: PreparedLists;
  /** What may be shown. */
  readonly shown: UpstreamLists;
  /** Tools that may not be called, with the reason. */
  readonly withheld: ReadonlyMap<string, string>;
  readonly withheldTools: readonly Tool[];

  constructor(
    config: UpstreamConfig,
    settings: ListSettings,
    received: UpstreamLists,
    { stored, isPrivate }: CheckOptions = {},
  ) {
    const cleaned = stored?.cleaned ?? (settings.cleanLists ?? cleanLists)(received);
    // Compared as the server sent them, so that hidden characters count as a change.
    const report = settings.pins?.check(config, received.tools, stored?.fingerprints, isPrivate);
    const withheld = report?.withheld ?? new Map<string, string>();
    this.received = received;
    this.prepared = { cleaned, fingerprints: report?.fingerprints };
    this.withheld = withheld;
    this.withheldTools = withheld.size === 0 ? [] : cleaned.tools.filter(({ name }) => withheld.has(name));
    const tools = withheld.size === 0 ? cleaned.tools : cleaned.tools.filter(({ name }) => !withheld.has(name));
    this.shown = { ...cleaned, tools };
  }
}

/** What callers see of lists. */
export type SeenLists = Pick<CheckedLists, 'shown' | 'withheld' | 'withheldTools'>;

/** Everything that some caller sees, for operators. Of several items with one name, the first. Undefined if nothing is known. */
export function joinLists(all: readonly SeenLists[]): SeenLists | undefined {
  const [first, ...others] = all;
  if (first === undefined || others.length === 0) return first;
  const unique = <Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] => {
    const found = new Map<string, Item>();
    for (const item of items) if (!found.has(keyOf(item))) found.set(keyOf(item), item);
    return [...found.values()];
  };
  const join = <K extends 'tools' | 'prompts' | 'resources' | 'resourceTemplates'>(kind: K) =>
    all.flatMap(({ shown }) => shown[kind] as readonly UpstreamLists[K][number][]);
  const skills = all.flatMap(({ shown }) => shown.skills ?? []);
  const tools = unique(join('tools'), ({ name }) => name);
  const names = new Set(tools.map(({ name }) => name));
  const withheldTools = unique(
    all.flatMap((each) => each.withheldTools),
    ({ name }) => name,
  );
  return {
    shown: {
      ...first.shown,
      tools,
      prompts: unique(join('prompts'), ({ name }) => name),
      resources: unique(join('resources'), ({ uri }) => uri),
      resourceTemplates: unique(join('resourceTemplates'), ({ uriTemplate }) => uriTemplate),
      skills: unique(skills, ({ uri }) => uri),
    },
    withheld: new Map(all.flatMap(({ withheld }) => [...withheld])),
    withheldTools: withheldTools.filter(({ name }) => !names.has(name)),
  };
}
