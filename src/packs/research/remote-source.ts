// What the remote sources share: an address, a fetcher that can reach only that address, and a service.

import { capText } from '../../common/hygiene.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { Fetcher, NetworkPolicy } from '../../security/network/fetcher.ts';
import { fetcherFor } from '../remote/fetcher-for.ts';
import { Service, type ServiceHealth, type ServiceLimits } from '../remote/service.ts';
import type { Paper } from './paper.ts';
import type { LiteratureQuery, LiteratureSource } from './source.ts';

export interface RemoteSourceOptions {
  /** An address other than the public one, for a mirror or a test. */
  readonly url?: string;
  /** Timeout of one request. Default 15 s. */
  readonly timeoutMs?: number;
  readonly limits?: Partial<ServiceLimits>;
  /** A mail address: services allow identified clients more requests. */
  readonly contact?: string;
  /** The network policy. */
  readonly network?: NetworkPolicy;
  readonly fetcher?: Fetcher;
}

/** A response has at most a hundred papers with their abstracts. */
const maxAnswerBytes = 8 * 1024 * 1024;

/** Longer than any title, name or abstract. Stops work on texts of megabytes. */
const maxTextChars = 20_000;

export abstract class RemoteSource implements LiteratureSource {
  abstract readonly name: string;
  protected readonly url: URL;
  protected readonly contact: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetcher: Fetcher;
  readonly #limits: Partial<ServiceLimits>;
  #service: Service | undefined;

  constructor(url: string, options: RemoteSourceOptions, limits: Partial<ServiceLimits> = {}) {
    this.url = new URL(options.url ?? url);
    this.contact = options.contact;
    this.#timeoutMs = options.timeoutMs ?? 15_000;
    this.#fetcher =
      options.fetcher ?? fetcherFor(this.url, { given: options.url !== undefined, network: options.network });
    this.#limits = { ...limits, ...options.limits };
  }

  protected get service(): Service {
    return (this.#service ??= new Service({ name: this.name, fetcher: this.#fetcher, ...this.#limits }));
  }

  get health(): ServiceHealth {
    return this.service.health;
  }

  search(query: LiteratureQuery): Promise<readonly Paper[]> {
    return this.service.call(() => this.ask(query), query.signal);
  }

  /** Sends the query and decodes the response. */
  protected abstract ask(query: LiteratureQuery): Promise<readonly Paper[]>;

  protected init(accept: readonly string[], signal: AbortSignal) {
    return { accept, signal, timeoutMs: this.#timeoutMs, maxBytes: maxAnswerBytes };
  }

  /** The address with parameters; undefined ones are left out. */
  protected address(parameters: Readonly<Record<string, string | number | undefined>>): URL {
    const url = new URL(this.url);
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }
}

/** The text of the markup that some sources put into titles and abstracts. */
export function stripTags(text: string): string {
  return text
    .replace(/<\/?[a-z][^<>]{0,200}>/gi, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? capText(value.trim(), maxTextChars) : undefined;

export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export const recordOf = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null ? (value as JsonObject) : {};

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A field that is present only if it has a value. */
export const maybe = <K extends string, V>(name: K, value: V | undefined): { readonly [name in K]?: V } =>
  (value === undefined ? {} : { [name]: value }) as { readonly [name in K]?: V };
