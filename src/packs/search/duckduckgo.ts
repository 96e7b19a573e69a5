// DuckDuckGo without a key: the page for browsers without scripts, requested like its own form would. Parsing the page
// is in results-page.ts.

import type { Fetcher, NetworkPolicy } from '../../security/network/fetcher.ts';
import { fetcherFor } from '../remote/fetcher-for.ts';
import { Service, type ServiceHealth, type ServiceLimits } from '../remote/service.ts';
import { ServiceError, serviceErrors } from '../remote/service-error.ts';
import type { SafeSearch, SearchBackend, SearchHit, SearchPage, SearchQuery } from './backend.ts';
import { readResultsPage } from './results-page.ts';

export interface DuckDuckGoOptions {
  /** Default `https://html.duckduckgo.com/html/`. */
  readonly url?: string;
  /** A region of DuckDuckGo such as `de-de` or `us-en`; default `wt-wt`, all regions. */
  readonly region?: string;
  /** Default `moderate`. */
  readonly safeSearch?: SafeSearch;
  /** Timeout of one request. Default 10 s. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<ServiceLimits>;
  /** The network policy. */
  readonly network?: NetworkPolicy;
  /** For tests; by default one that can reach only DuckDuckGo. */
  readonly fetcher?: Fetcher;
}

/** The values of DuckDuckGo's `kp` parameter. */
const safeSearchCodes: Readonly<Record<SafeSearch, string>> = { off: '-2', moderate: '-1', strict: '1' };

/** Pages read for one query; each is a request that a person would make by hand. */
const maxPages = 3;

/** A page has about 40 KiB. */
const maxPageBytes = 2 * 1024 * 1024;

/** A bot that continues after a challenge only prolongs it. */
const challengePauseMs = 5 * 60_000;

export class DuckDuckGo implements SearchBackend {
  readonly name = 'DuckDuckGo';
  readonly #url: URL;
  readonly #timeoutMs: number;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #service: Service;

  constructor(options: DuckDuckGoOptions = {}) {
    this.#url = new URL(options.url ?? 'https://html.duckduckgo.com/html/');
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#settings = { kl: options.region ?? 'wt-wt', kp: safeSearchCodes[options.safeSearch ?? 'moderate'] };
    const fetcher =
      options.fetcher ?? fetcherFor(this.#url, { given: options.url !== undefined, network: options.network });
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
    let form: URLSearchParams | undefined = new URLSearchParams({ q: text, b: '', ...this.#settings });
    for (let page = 0; form !== undefined && page < maxPages && hits.size < maxResults; page++) {
      try {
        const found = await this.#page(form, signal);
        const before = hits.size;
        for (const hit of found.hits) if (!hits.has(hit.url)) hits.set(hit.url, hit);
        // The same page again, or an empty one, is the end, whatever its form says.
        form = hits.size === before ? undefined : found.next;
      } catch (error) {
        // The results of the first page are returned even if a later page fails.
        if (hits.size === 0 || signal.aborted) throw error;
        return { hits: [...hits.values()], more: false };
      }
    }
    return { hits: [...hits.values()], more: form !== undefined };
  }

  async #page(form: URLSearchParams, signal: AbortSignal) {
    const { text } = await this.#service.text(this.#url, {
      method: 'POST',
      body: form.toString(),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'accept-language': 'en-US,en;q=0.8',
        referer: new URL('/', this.#url).href,
      },
      accept: ['text/html'],
      maxBytes: maxPageBytes,
      timeoutMs: this.#timeoutMs,
      signal,
    });
    const page = readResultsPage(text);
    // The challenge comes with a success status (202): only the page itself shows it.
    if (page.kind === 'challenge') throw challenged();
    if (page.kind === 'unknown')
      throw serviceErrors.unreadable(this.name, 'it has neither results nor the message that there are none');
    return page;
  }
}

function challenged(): ServiceError {
  const message =
    'DuckDuckGo asks for proof that a person is searching (bot challenge), so the search failed. Try again in a few minutes, or use a SearXNG server.';
  return new ServiceError('challenge', message, { retryAfterMs: challengePauseMs });
}
