// The pack `search`: one tool, `web_search`. The search engine is behind an interface; the default is DuckDuckGo, which
// needs no key.

import { assertKnownOptions } from '../../common/known-options.ts';
import { UserError } from '../../common/user-error.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { NetworkPolicy } from '../../security/network/fetcher.ts';
import type { ServiceLimits } from '../remote/service.ts';
import type { SafeSearch, SearchBackend } from './backend.ts';
import type { CachedSearch, Labelling } from './search.ts';

export type { SafeSearch, SearchBackend, SearchHit, SearchPage, SearchQuery } from './backend.ts';
export type { Labelling } from './search.ts';

export interface SearchOptions {
  /** `duckduckgo` (default), `searxng` (needs `url`), or your own search engine. */
  readonly backend?: 'duckduckgo' | 'searxng' | SearchBackend;
  /** The address of the search engine; required for SearXNG. */
  readonly url?: string;
  /** Region of DuckDuckGo (`de-de`) or language of SearXNG (`de`). Default: all. */
  readonly region?: string;
  /** Default `moderate`. */
  readonly safeSearch?: SafeSearch;
  /** Timeout of one request to the search engine. Default 10 s. */
  readonly timeoutMs?: number;
  /** How long a response is cached. Default 5 minutes; 0 = not cached. */
  readonly cacheTtlMs?: number;
  readonly maxCached?: number;
  /** How results are marked as data instead of instructions. Default `fence`. */
  readonly label?: Labelling;
  /** Whether the tool has annotations (read-only, open world). Default true. */
  readonly annotations?: boolean;
  readonly limits?: Partial<ServiceLimits>;
  /** The network policy; a search engine that it does not allow is never queried. */
  readonly network?: NetworkPolicy;
}

/** The options of this pack in a configuration file. */
export const searchSchema = {
  type: 'object',
  properties: {
    backend: { type: 'string', enum: ['duckduckgo', 'searxng'] },
    url: { type: 'string', format: 'uri' },
    region: { type: 'string', pattern: '^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$' },
    safeSearch: { type: 'string', enum: ['off', 'moderate', 'strict'] },
    timeoutMs: { type: 'integer', minimum: 100, maximum: 60_000 },
    cacheTtlMs: { type: 'integer', minimum: 0 },
    maxCached: { type: 'integer', minimum: 0 },
    label: { type: 'string', enum: ['fence', 'note', 'none'] },
    annotations: { type: 'boolean' },
    limits: {
      type: 'object',
      properties: {
        attempts: { type: 'integer', minimum: 1, maximum: 10 },
        backOffMs: { type: 'integer', minimum: 0 },
        maxBackOffMs: { type: 'integer', minimum: 0 },
        breakerThreshold: { type: 'integer', minimum: 1 },
        breakerCooldownMs: { type: 'integer', minimum: 0 },
        minIntervalMs: { type: 'integer', minimum: 0 },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
} as const;

const defaultResults = 5;
/** More results are not read, and each further page costs the search engine a request. */
const mostResults = 30;
/** Real queries are shorter; search engines cut longer ones anyway. */
const maxQueryChars = 1000;

/** The pack, and the health of its search engine. */
export interface SearchPack extends Pack<Server> {
  health(): { readonly status: 'ok' | 'degraded' | 'failed'; readonly detail?: string };
}

const known: Record<keyof SearchOptions, true> = {
  backend: true,
  url: true,
  region: true,
  safeSearch: true,
  timeoutMs: true,
  cacheTtlMs: true,
  maxCached: true,
  label: true,
  annotations: true,
  limits: true,
  network: true,
};

/** Adds `web_search` to a server. The network code is loaded with the first query. */
export function search(options: SearchOptions = {}): SearchPack {
  assertKnownOptions('search', options, known);
  const { cacheTtlMs = 5 * 60_000, maxCached = 200, label = 'fence', annotations = true } = options;
  const engine = chooseEngine(options);
  let backend: SearchBackend | undefined;
  let searcher: Promise<CachedSearch> | undefined;
  const begin = async (): Promise<CachedSearch> => {
    const [made, module] = await Promise.all([engine.make(), import('./search.ts')]);
    backend = made;
    return new module.CachedSearch({ backend: made, cacheTtlMs, maxCached, label });
  };
  return {
    name: 'search',
    health() {
      const { state, lastError } = backend?.health ?? {};
      if (state !== 'open') return { status: state === 'half-open' ? 'degraded' : 'ok' };
      return { status: 'failed', ...(lastError === undefined ? {} : { detail: lastError }) };
    },
    install(server) {
      server.tool('web_search', {
        description: `Search the web using ${engine.name}`,
        input: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'The search query' },
            max_results: { type: 'integer', description: 'Maximum results (default: 5)' },
          },
          required: ['query'],
        },
        ...(annotations ? { annotations: { readOnlyHint: true, openWorldHint: true } } : {}),
        run: async ({ query, max_results = defaultResults }, ctx) => {
          try {
            checkQuery(query, max_results);
            searcher ??= begin();
            return await (await searcher).search(query, Math.min(max_results, mostResults), ctx);
          } catch (error) {
            throw new UserError(`Search error: ${error instanceof Error ? error.message : String(error)}`, {
              cause: error,
            });
          }
        },
      });
    },
  };
}

function checkQuery(query: string, maxResults: number): void {
  if (query.trim() === '') throw new UserError('the query is empty');
  if (query.length > maxQueryChars) throw new UserError(`the query is longer than ${maxQueryChars} characters`);
  if (maxResults < 1) throw new UserError('max_results must be at least 1');
}

interface Engine {
  readonly name: string;
  make(): SearchBackend | Promise<SearchBackend>;
}

/** Checks the options now; the search engine itself is created with the first query. */
function chooseEngine(options: SearchOptions): Engine {
  const { backend = 'duckduckgo', url, region, safeSearch, timeoutMs, limits, network } = options;
  if (typeof backend !== 'string') return { name: backend.name, make: () => backend };
  const common = {
    ...(safeSearch === undefined ? {} : { safeSearch }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limits === undefined ? {} : { limits }),
    ...(network === undefined ? {} : { network }),
  };
  if (backend === 'duckduckgo') {
    const own = { ...(url === undefined ? {} : { url }), ...(region === undefined ? {} : { region }) };
    return {
      name: 'DuckDuckGo',
      make: async () => new (await import('./duckduckgo.ts')).DuckDuckGo({ ...common, ...own }),
    };
  }
  if (url === undefined) throw new TypeError('The search back end "searxng" needs the "url" of the server');
  const own = { url, ...(region === undefined ? {} : { language: region }) };
  return { name: 'SearXNG', make: async () => new (await import('./searxng.ts')).Searxng({ ...common, ...own }) };
}
