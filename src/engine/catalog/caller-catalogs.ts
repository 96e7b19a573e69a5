// Catalogs of callers that see something other than the others, and not only less: behind a gateway, one name can stand for
// different tools. A server without them has one catalog for all.

import type { Caller } from '../ports.ts';
import type { Catalog } from './catalog.ts';

/** Finds the catalog of a caller. */
export interface CallerCatalogs {
  /** Undefined: the caller sees the catalog of the server. Called several times for each request. */
  of(caller: Caller): Catalog | undefined;
  /** Whether it is complete. What is missing may be found out while a request waits, but not for `initialize`. */
  isKnown(caller: Caller): boolean;
  /** Resolves when it is complete, or cannot be completed soon. For tasks of an earlier process, which no request brought. */
  known(caller: Caller): Promise<void>;
  /** Those that exist now, for what has to be known without a caller. */
  all(): Iterable<Catalog>;
}
