// What a source of literature is to this pack. Contract only; arxiv.ts, crossref.ts and openalex.ts keep it, plugins may.

import type { ServiceHealth } from '../remote/service.ts';
import type { Paper } from './paper.ts';

/** One question to a source. */
export interface LiteratureQuery {
  readonly text: string;
  readonly limit: number;
  /** Years of publication, both included. */
  readonly fromYear?: number;
  readonly toYear?: number;
  readonly sort: 'relevance' | 'date';
  readonly signal: AbortSignal;
}

/** A source of literature. Throws when it has no answer; an empty list is one. */
export interface LiteratureSource {
  /** Short and lower case: callers choose sources by it. */
  readonly name: string;
  readonly health?: ServiceHealth;
  /** Best first, or newest first where that was asked. */
  search(query: LiteratureQuery): Promise<readonly Paper[]>;
}
