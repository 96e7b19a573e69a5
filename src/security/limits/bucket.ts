// Token buckets, each stored as one number: the time at which it will be full again. The interface is small enough for
// a store that several machines share; the implementation here stores its buckets in memory.

/** One bucket and its rate. */
export interface Bucket {
  /** Identifies it in the store. */
  readonly key: string;
  /** How long until one token is refilled. */
  readonly intervalMs: number;
  /** How many tokens it holds when full. */
  readonly burst: number;
  /** A store that several processes share asks for every token. */
  readonly exact?: boolean;
}

/** Buckets that a caller's requests take from together. */
export interface Buckets {
  /**
   * Takes one token of every bucket, or none at all. Returns 0 if all had one, otherwise how long to wait until all of
   * them will have one, in ms.
   */
  take(nowMs: number): number | Promise<number>;
}

/** Stores buckets. */
export interface BucketStore {
  /** Takes no token; the first `take` creates a bucket. */
  find(buckets: readonly Bucket[]): Buckets;
}

/** Times are fractions of a millisecond; a rounding error must not cause a wait. */
const rounding = 1e-3;

/** Maximum number of buckets; stops callers with ever new names from filling memory. */
const defaultMaxBuckets = 100_000;

/** Buckets in this process. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const memory = new MemoryBuckets(maxBuckets);
  return { find: (buckets) => ({ take: (nowMs) => memory.take(buckets, nowMs) }) };
}

class MemoryBuckets {
  readonly #max: number;
  /** When each bucket will be full again. A bucket that is missing is full. */
  readonly #fullAtMs = new Map<string, number>();

  constructor(max: number) {
    this.#max = max;
  }

  take(buckets: readonly Bucket[], nowMs: number): number {
    let waitMs = 0;
    for (const { key, intervalMs, burst } of buckets) {
      const emptyForMs = (this.#fullAtMs.get(key) ?? nowMs) - nowMs - (burst - 1) * intervalMs;
      waitMs = Math.max(waitMs, emptyForMs);
    }
    if (waitMs > rounding) return Math.ceil(waitMs);
    this.#reserve(buckets, nowMs);
    for (const { key, intervalMs } of buckets) {
      this.#fullAtMs.set(key, Math.max(this.#fullAtMs.get(key) ?? nowMs, nowMs) + intervalMs);
    }
    return 0;
  }

  /** Evicts buckets if there is no space for those of these that are not stored yet. */
  #reserve(buckets: readonly Bucket[], nowMs: number): void {
    if (this.#fullAtMs.size + buckets.length <= this.#max) return;
    const missing = buckets.filter(({ key }) => !this.#fullAtMs.has(key)).length;
    if (this.#fullAtMs.size + missing > this.#max) this.#evict(buckets.length, nowMs);
  }

  /**
   * Deletes full buckets: a missing one counts as full. When too few are full, those that will be so soonest are deleted
   * too, a tenth of all at once: a scan of all of them for every new caller would help an attacker who invents callers.
   */
  #evict(count: number, nowMs: number): void {
    this.#deleteUpTo(nowMs, Number.POSITIVE_INFINITY);
    const target = Math.max(0, this.#max - Math.max(count, Math.ceil(this.#max / 10)));
    while (this.#fullAtMs.size > target) {
      let soonest = Number.POSITIVE_INFINITY;
      let latest = Number.NEGATIVE_INFINITY;
      for (const fullAtMs of this.#fullAtMs.values()) {
        soonest = Math.min(soonest, fullAtMs);
        latest = Math.max(latest, fullAtMs);
      }
      this.#deleteUpTo((soonest + latest) / 2, this.#fullAtMs.size - target);
    }
  }

  /** Deletes at most this many buckets that will be full by then. */
  #deleteUpTo(byMs: number, most: number): void {
    let left = most;
    for (const [key, fullAtMs] of this.#fullAtMs) {
      if (fullAtMs > byMs) continue;
      if (left-- <= 0) return;
      this.#fullAtMs.delete(key);
    }
  }
}
