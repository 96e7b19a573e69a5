// The pack `search`: one tool, `web_search`. Engines are behind an interface; DuckDuckGo needs no key and is the default.

import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { NetworkPolicy } from '../../security/network/fetcher.ts';
import type { ServiceLimits } from '../remote/service.ts';
import type { SafeSearch, SearchBackend } from './backend.ts';
import type { Labelling, Searcher } from './search.ts';

export type { SafeSearch, SearchBackend, SearchHit, SearchPage, SearchQuery } from './backend.ts';
export type { Labelling } from './search.ts';

export interface SearchOptions {
  /** `duckduckgo` (default), `searxng` (needs `url`), or an engine of your own. */
  readonly backend?: 'duckduckgo' | 'searxng' | SearchBackend;
  /** Where the engine is; for SearXNG the address of the server. */
  readonly url?: string;
  /** Region of DuckDuckGo (`de-de`) or language of SearXNG (`de`). Default: all. */
  readonly region?: string;
  /** Default `moderate`. */
  readonly safeSearch?: SafeSearch;
  /** Of one request to the engine. Default 10 s. */
  readonly timeoutMs?: number;
  /** How long an answer is remembered. Default 5 minutes; 0 = not at all. */
  readonly cacheTtlMs?: number;
  readonly maxCached?: number;
  /** How results are set apart from instructions. Default `fence`. */
  readonly label?: Labelling;
  /** Whether the tool carries hints about itself (read-only, open world). Default true. */
  readonly annotations?: boolean;
  readonly limits?: Partial<ServiceLimits>;
  /** The bounds of a policy; an engine outside them is never asked. */
  readonly network?: NetworkPolicy;
}

/** What a configuration file may say about this pack. */
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
/** More would not be read by anyone, and costs the engine a page each. */
const mostResults = 30;
/** No honest question is longer; engines cut it anyway. */
const maxQueryChars = 1000;

/** The pack, and how its engine is doing. */
export interface SearchPack extends Pack<Server> {
  health(): { readonly status: 'ok' | 'degraded' | 'failed'; readonly detail?: string };
}

/** Puts `web_search` on a server. What speaks to the network is loaded with the first question. */
export function search(options: SearchOptions = {}): SearchPack {
  const { cacheTtlMs = 5 * 60_000, maxCached = 200, label = 'fence', annotations = true } = options;
  const engine = chooseEngine(options);
  let backend: SearchBackend | undefined;
  let searcher: Promise<Searcher> | undefined;
  const begin = async (): Promise<Searcher> => {
    const [made, module] = await Promise.all([engine.make(), import('./search.ts')]);
    backend = made;
    return new module.Searcher({ backend: made, cacheTtlMs, maxCached, label });
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
            checkQuestion(query, max_results);
            searcher ??= begin();
            return await (await searcher).search(query, Math.min(max_results, mostResults), ctx.signal);
          } catch (error) {
            throw new Error(`Search error: ${error instanceof Error ? error.message : String(error)}`, {
              cause: error,
            });
          }
        },
      });
    },
  };
}

function checkQuestion(query: string, maxResults: number): void {
  if (query.trim() === '') throw new Error('the query is empty');
  if (query.length > maxQueryChars) throw new Error(`the query is longer than ${maxQueryChars} characters`);
  if (maxResults < 1) throw new Error('max_results must be at least 1');
}

interface Engine {
  readonly name: string;
  make(): SearchBackend | Promise<SearchBackend>;
}

/** What is wrong about the options shows now; the engine itself is made with the first question. */
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
