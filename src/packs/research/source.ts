// The interface of a literature source. arxiv.ts, crossref.ts and openalex.ts implement it, and plugins may.

import type { ServiceHealth } from '../remote/service.ts';
import type { Paper } from './paper.ts';

/** One query to a source. */
export interface LiteratureQuery {
  readonly text: string;
  readonly limit: number;
  /** Years of publication, both included. */
  readonly fromYear?: number;
  readonly toYear?: number;
  readonly sort: 'relevance' | 'date';
  readonly signal: AbortSignal;
}

/** A source of literature. Throws when the query fails; an empty list is a valid result. */
export interface LiteratureSource {
  /** Short and lower case: callers select sources by it. */
  readonly name: string;
  readonly health?: ServiceHealth;
  /** Best first, or newest first if requested. */
  search(query: LiteratureQuery): Promise<readonly Paper[]>;
}
