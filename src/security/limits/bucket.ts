// Token buckets, each kept as one number: the moment at which it will be full again. The port is small enough for a
// store that several machines share; the one here keeps its buckets in memory.

/** One bucket and what it is asked for. */
export interface Bucket {
  readonly key: string;
  /** How long one token takes to come back. */
  readonly intervalMs: number;
  /** How many tokens it holds when full. */
  readonly burst: number;
}

/** Some buckets that are asked together, again and again. */
export interface Buckets {
  /**
   * Takes one token of every bucket, or none at all. Answers 0 when all had one, otherwise how long to wait until all
   * will, in ms.
   */
  take(nowMs: number): number | Promise<number>;
}

/** Keeps buckets. */
export interface BucketStore {
  /** Nothing is taken yet, and no bucket is opened before something is. */
  find(buckets: readonly Bucket[]): Buckets;
}

/** Times are fractions of a millisecond; what is left of them after adding and subtracting is no reason to wait. */
const rounding = 1e-3;

/** How many buckets are kept at most; stops callers with ever new names from filling memory. */
const defaultMaxBuckets = 100_000;

/** Buckets in this process. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const shelf = new Shelf(maxBuckets);
  return { find: (buckets) => new PlacedBuckets(shelf, buckets) };
}

/** Where buckets stand, side by side: a call that looks at several finds them in one place. */
class Shelf {
  /** When the bucket in each place will be full again. */
  readonly fullAt: number[] = [];
  /** Counts how often places were taken away; whoever remembers one looks for it again then. */
  epoch = 0;
  readonly #max: number;
  readonly #places = new Map<string, number>();
  readonly #free: number[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** Makes sure that each of these can be opened without another of them losing its place. */
  reserve(buckets: readonly Bucket[], nowMs: number): void {
    if (this.#places.size + buckets.length <= this.#max) return;
    const missing = buckets.filter(({ key }) => !this.#places.has(key)).length;
    if (this.#places.size + missing > this.#max) this.#makeRoom(buckets.length, nowMs);
  }

  placeOf(key: string): number {
    return this.#places.get(key) ?? this.#open(key);
  }

  #open(key: string): number {
    const place = this.#free.pop() ?? this.fullAt.length;
    this.fullAt[place] = longAgo;
    this.#places.set(key, place);
    return place;
  }

  /**
   * A full bucket is as good as none. When too few are full, those go that will be so soonest, a tenth at once: looking
   * at all of them for every stranger would be a gift to whoever sends strangers.
   */
  #makeRoom(count: number, nowMs: number): void {
    this.epoch++;
    this.#closeUpTo(nowMs, Number.POSITIVE_INFINITY);
    const mostLeft = this.#max - Math.max(count, Math.ceil(this.#max / 10));
    while (this.#places.size > Math.max(mostLeft, 0)) {
      let soonest = Number.POSITIVE_INFINITY;
      let latest = Number.NEGATIVE_INFINITY;
      for (const place of this.#places.values()) {
        const fullAt = this.fullAt[place] as number;
        soonest = Math.min(soonest, fullAt);
        latest = Math.max(latest, fullAt);
      }
      this.#closeUpTo((soonest + latest) / 2, this.#places.size - mostLeft);
    }
  }

  /** Closes buckets that will be full by then, so many at most. */
  #closeUpTo(fullAtMs: number, most: number): void {
    let left = most;
    for (const [key, place] of this.#places) {
      if ((this.fullAt[place] as number) > fullAtMs) continue;
      if (left-- <= 0) return;
      this.#places.delete(key);
      this.#free.push(place);
    }
  }
}

/** A fraction, so that places hold fractions from the first on. */
const longAgo = -0.5;

/** Buckets with the places where they were found. */
class PlacedBuckets implements Buckets {
  readonly #shelf: Shelf;
  readonly #buckets: readonly Bucket[];
  #epoch = -1;
  /** Of each bucket its place, how long a token takes, and how long all but one of them do: side by side as well. */
  readonly #terms: number[] = [];

  constructor(shelf: Shelf, buckets: readonly Bucket[]) {
    this.#shelf = shelf;
    this.#buckets = buckets;
  }

  take(nowMs: number): number {
    const shelf = this.#shelf;
    if (this.#epoch !== shelf.epoch) this.#place(nowMs);
    const { fullAt } = shelf;
    const terms = this.#terms;
    let waitMs = 0;
    for (let at = 0; at < terms.length; at += 3) {
      const backlogMs = (fullAt[terms[at] as number] as number) - nowMs - (terms[at + 2] as number);
      if (backlogMs > waitMs) waitMs = backlogMs;
    }
    if (waitMs > rounding) return Math.ceil(waitMs);
    for (let at = 0; at < terms.length; at += 3) {
      const place = terms[at] as number;
      fullAt[place] = Math.max(fullAt[place] as number, nowMs) + (terms[at + 1] as number);
    }
    return 0;
  }

  #place(nowMs: number): void {
    const shelf = this.#shelf;
    shelf.reserve(this.#buckets, nowMs);
    this.#epoch = shelf.epoch;
    this.#terms.length = 0;
    for (const { key, intervalMs, burst } of this.#buckets) {
      this.#terms.push(shelf.placeOf(key), intervalMs, (burst - 1) * intervalMs);
    }
  }
}
