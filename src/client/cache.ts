// Caches responses for as long as servers allow (`ttlMs`, `cacheScope`). Knows keys and times, not what is cached.

import { Moment } from '../common/clock.ts';
import type { JsonObject } from '../protocol/model.ts';

interface CacheEntry {
  readonly value: unknown;
  readonly stored: Moment;
  readonly ttlMs: number;
}

/** Stops a server from declaring something fresh forever: nothing is cached for more than a day. */
const maxTtlMs = 24 * 60 * 60_000;

/**
 * Caches responses. Private ones are seen only by the client that received them; public ones by every client of the same
 * server that was given this cache.
 */
export class ResponseCache {
  readonly #entries = new Map<string, CacheEntry>();
  readonly #maxEntries: number;

  /** `maxEntries` stops URIs made up in a loop from filling the memory; the oldest are removed. */
  constructor(maxEntries = 500) {
    this.#maxEntries = maxEntries;
  }

  /** How many responses are stored, expired ones included. */
  get size(): number {
    return this.#entries.size;
  }

  /** Undefined for a response that is missing or expired. */
  get(key: string): unknown {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.stored.ageMs < entry.ttlMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  /** Stores a response for this time; 0 removes it. */
  set(key: string, value: unknown, ttlMs: number): void {
    this.#entries.delete(key);
    if (!(ttlMs > 0)) return;
    this.#entries.set(key, { value, stored: new Moment(), ttlMs: Math.min(ttlMs, maxTtlMs) });
    if (this.#entries.size > this.#maxEntries) this.#entries.delete(this.#entries.keys().next().value as string);
  }

  /** Removes everything whose key begins with this text. */
  drop(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
  }
}

let clients = 0;

/** One client's view of a cache. */
export class CacheView {
  readonly #cache: ResponseCache;
  readonly #public: string;
  readonly #private: string;

  /** `server` is the address: clients of the same one share what is public. */
  constructor(cache: ResponseCache, server: string) {
    this.#cache = cache;
    this.#public = `public\u0000${server}\u0000`;
    this.#private = `private\u0000${++clients}\u0000`;
  }

  get(method: string, key: string): unknown {
    const own = `${method}\u0000${key}`;
    return this.#cache.get(this.#private + own) ?? this.#cache.get(this.#public + own);
  }

  /** Caches a value as its result allows; not at all if the hint is absent, negative or malformed. */
  set(method: string, key: string, value: unknown, result: JsonObject): void {
    const { ttlMs, cacheScope } = result;
    if (typeof ttlMs !== 'number' || !(ttlMs > 0)) return;
    const scope = cacheScope === 'public' ? this.#public : this.#private;
    this.#cache.set(`${scope}${method}\u0000${key}`, value, ttlMs);
  }

  /** Removes what is cached for a method, or for one key of it. */
  drop(method: string, key = ''): void {
    for (const scope of [this.#private, this.#public]) this.#cache.drop(`${scope}${method}\u0000${key}`);
  }

  /** Deletes what only this client could see. */
  close(): void {
    this.#cache.drop(this.#private);
  }
}
