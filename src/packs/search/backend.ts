// What a search engine is to this pack: a question in, results out. Contract only; duckduckgo.ts and searxng.ts keep it.

import type { ServiceHealth } from '../remote/service.ts';

/** How strictly the engine leaves out what is not for everyone. */
export type SafeSearch = 'off' | 'moderate' | 'strict';

/** One question. */
export interface SearchQuery {
  readonly text: string;
  /** Results wanted; an engine may give fewer. */
  readonly maxResults: number;
  readonly signal: AbortSignal;
}

/** One result. Titles and snippets are as the engine gave them, free of markup; the pack cleans them. */
export interface SearchHit {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

/** What was found, and whether the engine has more. */
export interface SearchPage {
  readonly hits: readonly SearchHit[];
  readonly more: boolean;
}

/** A search engine. Throws a `ServiceError` whenever the question was not answered; nothing found is an answer. */
export interface SearchBackend {
  readonly name: string;
  /** How it has fared, for those who watch. */
  readonly health?: ServiceHealth;
  search(query: SearchQuery): Promise<SearchPage>;
}
