// Your own SearXNG server as the search engine, through its JSON interface, which its operator has to enable
// (`search.formats: [html, json]`).

import type { Fetcher, NetworkPolicy } from '../../security/network/fetcher.ts';
import { fetcherFor } from '../remote/fetcher-for.ts';
import { Service, type ServiceHealth, type ServiceLimits } from '../remote/service.ts';
import { ServiceError, serviceErrors } from '../remote/service-error.ts';
import type { SafeSearch, SearchBackend, SearchHit, SearchPage, SearchQuery } from './backend.ts';

export interface SearxngOptions {
  /** The address of the server, for example `http://localhost:8888`. */
  readonly url: string;
  /** A language such as `de` or `en-US`, default `all`. */
  readonly language?: string;
  /** Default `moderate`. */
  readonly safeSearch?: SafeSearch;
  /** Timeout of one request. Default 10 s. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<ServiceLimits>;
  /** The network policy. */
  readonly network?: NetworkPolicy;
  readonly fetcher?: Fetcher;
}

const safeSearchCodes: Readonly<Record<SafeSearch, string>> = { off: '0', moderate: '1', strict: '2' };
const maxPages = 3;
/** More results than one page ever contains. */
const maxHits = 100;

export class Searxng implements SearchBackend {
  readonly name = 'SearXNG';
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #service: Service;

  constructor(options: SearxngOptions) {
    const base = new URL(options.url);
    this.#url = new URL('search', base.href.endsWith('/') ? base : `${base.href}/`);
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#settings = {
      language: options.language ?? 'all',
      safesearch: safeSearchCodes[options.safeSearch ?? 'moderate'],
    };
    const fetcher = options.fetcher ?? fetcherFor(this.#url, { given: true, network: options.network });
    this.#service = new Service({ name: this.name, fetcher, ...options.limits });
  }

  get health(): ServiceHealth {
    return this.#service.health;
  }

  search(query: SearchQuery): Promise<SearchPage> {
    return this.#service.call(() => this.#pages(query), query.signal);
  }

  async #pages({ text, maxResults, signal }: SearchQuery): Promise<SearchPage> {
    const hits = new Map<string, SearchHit>();
    for (let page = 1; page <= maxPages; page++) {
      const before = hits.size;
      for (const hit of await this.#page(text, page, signal)) if (!hits.has(hit.url)) hits.set(hit.url, hit);
      if (hits.size === before) return { hits: [...hits.values()], more: false };
      if (hits.size >= maxResults) break;
    }
    return { hits: [...hits.values()], more: true };
  }

  async #page(text: string, page: number, signal: AbortSignal): Promise<SearchHit[]> {
    const url = new URL(this.#url);
    url.search = new URLSearchParams({
      q: text,
      format: 'json',
      pageno: String(page),
      ...this.#settings,
    }).toString();
    const answer = await this.#ask(url, signal);
    const results = (answer as { results?: unknown } | null)?.results;
    if (!Array.isArray(results)) throw serviceErrors.unreadable(this.name, 'it contains no list of results');
    return results.slice(0, maxHits).flatMap((each) => toHit(each) ?? []);
  }

  async #ask(url: URL, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#service.json(url, { accept: ['application/json'], timeoutMs: this.#timeoutMs, signal });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 403) throw error;
      const why = 'SearXNG does not allow JSON; add "json" to search.formats in its settings.yml';
      throw new ServiceError('status', why, { status: 403, cause: error });
    }
  }
}

function toHit(value: unknown): SearchHit | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { title, url, content } = value as Record<string, unknown>;
  if (typeof url !== 'string' || !/^https?:\/\//i.test(url)) return undefined;
  return { title: typeof title === 'string' ? title : url, url, snippet: typeof content === 'string' ? content : '' };
}
