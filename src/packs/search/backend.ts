// The interface of a search engine: a query in, results out. duckduckgo.ts and searxng.ts implement it.

import type { ServiceHealth } from '../remote/service.ts';

/** How strictly the search engine filters adult content. */
export type SafeSearch = 'off' | 'moderate' | 'strict';

/** One query. */
export interface SearchQuery {
  readonly text: string;
  /** Results wanted; a search engine may return fewer. */
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

/** One result. Titles and snippets are unchanged except for removed markup; the pack cleans them. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** The results, and whether there are more. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly more: boolean;
}

/** A search engine. Throws a `ServiceError` when the search failed; an empty list is a valid result. */
export interface SearchBackend {
  readonly name: string;
  /** Its health since the start, for monitoring. */
  readonly health?: ServiceHealth;
  search(query: SearchQuery): Promise<SearchPage>;
}
