// A cache with expiry and a maximum size. Not for data that belongs to a single caller.

import { monotonicMs } from '../../common/clock.ts';

export interface TtlCacheOptions {
  readonly ttlMs: number;
  /** The oldest entry is evicted for a new one; stops ever different queries from filling memory. */
  readonly maxEntries: number;
  readonly now?: () => number;
}

/** A bounded map whose entries expire. */
export class TtlCache<Value> {
  readonly #entries = new Map<string, { readonly value: Value; readonly expiresAtMs: number }>();
  readonly #ttlMs: number;
  readonly #maxEntries: number;
  readonly #now: () => number;

  constructor({ ttlMs, maxEntries, now = monotonicMs }: TtlCacheOptions) {
    this.#ttlMs = ttlMs;
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs > this.#now()) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value): void {
    if (this.#ttlMs <= 0 || this.#maxEntries <= 0) return;
    this.#entries.delete(key);
    while (this.#entries.size >= this.#maxEntries) {
      this.#entries.delete(this.#entries.keys().next().value as string);
    }
    // A copy: a part of a text keeps the whole text in memory, for example a title the response that it was in.
    this.#entries.set(key, { value: structuredClone(value), expiresAtMs: this.#now() + this.#ttlMs });
  }

  clear(): void {
    this.#entries.clear();
  }
}
