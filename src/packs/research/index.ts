// The pack `research`: `search_literature` queries several sources in parallel. Sources are plugins of this pack: three
// that need no key are built in, others are passed as options.

import { assertKnownOptions } from '../../common/known-options.ts';
import { UserError } from '../../common/user-error.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { NetworkPolicy } from '../../security/network/fetcher.ts';
import type { ServiceHealth, ServiceLimits } from '../remote/service.ts';
import { inServiceTurn } from '../remote/service-turns.ts';
import { Arxiv } from './arxiv.ts';
import { Crossref } from './crossref.ts';
import type { LiteratureSearch } from './literature-search.ts';
import { OpenAlex } from './openalex.ts';
import type { RemoteSourceOptions } from './remote-source.ts';
import type { LiteratureSource } from './source.ts';

export { Arxiv } from './arxiv.ts';
export { Crossref } from './crossref.ts';
export { OpenAlex } from './openalex.ts';
export type { Paper } from './paper.ts';
export type { RemoteSourceOptions } from './remote-source.ts';
export type { LiteratureQuery, LiteratureSource } from './source.ts';

type BuiltIn = 'arxiv' | 'crossref' | 'openalex';

export interface ResearchOptions {
  /** Names of built-in sources, and your own sources. Default: all built-in ones. */
  readonly sources?: readonly (BuiltIn | LiteratureSource)[];
  /** Addresses of built-in sources, if they are not the public ones. */
  readonly urls?: Readonly<Partial<Record<BuiltIn, string>>>;
  /** A mail address for the "polite pools" of the services. */
  readonly contact?: string;
  readonly timeoutMs?: number;
  readonly limits?: Partial<ServiceLimits>;
  /** The network policy; a source that it does not allow is never queried. */
  readonly network?: NetworkPolicy;
  /** How long the response of a source is cached. Default 10 minutes. */
  readonly cacheTtlMs?: number;
  readonly maxCached?: number;
}

/** The options of this pack in a configuration file. */
export const researchSchema = {
  type: 'object',
  properties: {
    sources: { type: 'array', items: { type: 'string', enum: ['arxiv', 'crossref', 'openalex'] }, minItems: 1 },
    urls: {
      type: 'object',
      properties: {
        arxiv: { type: 'string', format: 'uri' },
        crossref: { type: 'string', format: 'uri' },
        openalex: { type: 'string', format: 'uri' },
      },
      additionalProperties: false,
    },
    contact: { type: 'string', format: 'email' },
    timeoutMs: { type: 'integer', minimum: 100, maximum: 120_000 },
    limits: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
    cacheTtlMs: { type: 'integer', minimum: 0 },
    maxCached: { type: 'integer', minimum: 0 },
  },
  additionalProperties: false,
} as const;

/** The pack, and the health of its sources. */
export interface ResearchPack extends Pack<Server> {
  readonly health: Readonly<Record<string, ServiceHealth | undefined>>;
}

const builtIn: Readonly<Record<BuiltIn, new (options: RemoteSourceOptions) => LiteratureSource>> = {
  arxiv: Arxiv,
  crossref: Crossref,
  openalex: OpenAlex,
};

const known: Record<keyof ResearchOptions, true> = {
  sources: true,
  urls: true,
  contact: true,
  timeoutMs: true,
  limits: true,
  network: true,
  cacheTtlMs: true,
  maxCached: true,
};

/** Adds `search_literature` to a server. */
export function research(options: ResearchOptions = {}): ResearchPack {
  assertKnownOptions('research', options, known);
  const { cacheTtlMs = 10 * 60_000, maxCached = 200, sources: wanted = Object.keys(builtIn) as BuiltIn[] } = options;
  const sources = wanted.map((source) => (typeof source === 'string' ? makeSource(source, options) : source));
  // The code that merges responses is loaded with the first query.
  let opening: Promise<LiteratureSearch> | undefined;
  const open = (): Promise<LiteratureSearch> => {
    opening ??= import('./literature-search.ts').then(
      (module) => new module.LiteratureSearch({ sources, cacheTtlMs, maxCached }),
    );
    return opening;
  };
  return {
    name: 'research',
    get health() {
      return Object.fromEntries(sources.map(({ name, health }) => [name, health]));
    },
    install: (server) => installTool(server, open, sources),
  };
}

function makeSource(name: BuiltIn, { urls, contact, timeoutMs, limits, network }: ResearchOptions): LiteratureSource {
  const url = urls?.[name];
  return new builtIn[name]({
    ...(url === undefined ? {} : { url }),
    ...(contact === undefined ? {} : { contact }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(limits === undefined ? {} : { limits }),
    ...(network === undefined ? {} : { network }),
  });
}

/** Longer than a title with its authors. A query is part of the URLs and of the keys of the cache. */
const maxQueryChars = 1000;

const year = { type: 'number', minimum: 1500, maximum: 2100 } as const;

function installTool(
  server: Server,
  open: () => Promise<LiteratureSearch>,
  sources: readonly LiteratureSource[],
): void {
  server.tool('search_literature', {
    description:
      'Search scholarly literature in several sources at once; a paper found in several sources is listed once',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'What to look for, in plain words' },
        max_results: { type: 'number', minimum: 1, maximum: 100, description: 'Maximum papers (default: 10)' },
        sources: {
          type: 'array',
          items: { type: 'string', enum: sources.map(({ name }) => name) },
          description: 'Which sources to query (default: all)',
        },
        years: {
          type: 'object',
          properties: {
            from: { ...year, description: 'First year' },
            to: { ...year, description: 'Last year' },
          },
          additionalProperties: false,
          description: 'Years of publication',
        },
        sort: { type: 'string', enum: ['relevance', 'date'], description: 'Order of the papers (default: relevance)' },
        include_abstracts: { type: 'boolean', description: 'Whether to include abstracts (default: true)' },
      },
      required: ['query'],
    } as const,
    annotations: { readOnlyHint: true, openWorldHint: true },
    run: ({ query, max_results = 10, sources: names, years, sort = 'relevance', include_abstracts = true }, ctx) => {
      if (query.length > maxQueryChars) throw new UserError(`The query is longer than ${maxQueryChars} characters`);
      const search = {
        text: query,
        limit: Math.floor(max_results),
        sort,
        withAbstracts: include_abstracts,
        signal: ctx.signal,
        ...(names === undefined || names.length === 0 ? {} : { sources: names as readonly string[] }),
        ...(years?.from === undefined ? {} : { fromYear: Math.floor(years.from) }),
        ...(years?.to === undefined ? {} : { toYear: Math.floor(years.to) }),
      };
      return inServiceTurn(ctx, async () => (await open()).search(search));
    },
  });
}
