// What a view shows, and of which upstreams. Only types.

import type { BareNames, ViewConfig } from '../config/gateway-config.ts';
import type { ExposedView } from '../names/index.ts';
import type { SeenLists } from '../upstreams/checked-lists.ts';
import type { Upstream } from '../upstreams/upstream.ts';

/** What an upstream lists; undefined if that is not known. */
export type ListsOf = (upstream: Upstream) => SeenLists | undefined;

/** Computed again whenever one of the upstreams changes. */
export interface ViewSource {
  /** The text before the instructions of the servers. */
  readonly instructions: string | undefined;
  /** A single server with its own names. */
  readonly isSingle: boolean;
  /** By slug, in the order of the file. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Absent for a single server. */
  readonly view?: ViewConfig | undefined;
  readonly bareNames: BareNames;
  /** How long calls of upstreams that it does not have any more may continue. */
  readonly drainMs: number;
  /** What callers see for whom the upstreams list this. */
  expose(listsOf: ListsOf): ExposedView;
  /** Logs a warning about what is exposed, once. */
  warn(warning: string): void;
}
