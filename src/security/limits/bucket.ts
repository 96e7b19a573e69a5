// Token buckets, each kept as one number: the moment at which it will be full again. The port is small enough for a
// store that several machines share; the one here keeps its buckets in memory.

/** One bucket and what it is asked for. */
export interface Bucket {
  readonly key: string;
  /** How long one token takes to come back. */
  readonly intervalMs: number;
  /** How many tokens it holds when full. */
  readonly burst: number;
  /** For the store alone: where it keeps this one. The same caller comes with the same bucket again. */
  place?: unknown;
}

/** Keeps buckets. */
export interface BucketStore {
  /**
   * Takes one token of every bucket, or none at all. Answers 0 when all had one, otherwise how long to wait until all
   * will, in ms.
   */
  take(buckets: readonly Bucket[], nowMs: number): number | Promise<number>;
}

/** Times are fractions of a millisecond; what is left of them after adding and subtracting is no reason to wait. */
const rounding = 1e-3;

/** How many buckets are kept at most; stops callers with ever new names from filling memory. */
const defaultMaxBuckets = 100_000;

/** How many there is room for at first; it doubles when they are taken. */
const firstRoom = 64;

/** Buckets in this process. Their numbers stand side by side: a call that looks at several finds them in one place. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const places = new Map<string, number>();
  const free: number[] = [];
  /** When the bucket in each place will be full again. */
  let fullAt = new Float64Array(firstRoom);
  /** What buckets remember is their place and this; a smaller number is a place that may have been given to another. */
  let epoch = 0;

  const open = (key: string, nowMs: number): number => {
    if (places.size >= maxBuckets) makeRoom(nowMs);
    const at = free.pop() ?? places.size;
    if (at >= fullAt.length) {
      const larger = new Float64Array(fullAt.length * 2);
      larger.set(fullAt);
      fullAt = larger;
    }
    fullAt[at] = 0;
    places.set(key, at);
    return at;
  };

  const close = (key: string, at: number): void => {
    places.delete(key);
    free.push(at);
  };

  const find = (bucket: Bucket, nowMs: number): number => {
    const known = typeof bucket.place === 'number' ? bucket.place - epoch : -1;
    if (known >= 0) return known;
    const at = places.get(bucket.key) ?? open(bucket.key, nowMs);
    bucket.place = epoch + at;
    return at;
  };

  /** A full bucket is as good as none. When none is full, the oldest tenth goes: memory comes before precision. */
  const makeRoom = (nowMs: number): void => {
    epoch += maxBuckets;
    for (const [key, at] of places) if ((fullAt[at] as number) <= nowMs) close(key, at);
    if (places.size < maxBuckets) return;
    let surplus = Math.ceil(maxBuckets / 10);
    for (const [key, at] of places) {
      if (surplus-- <= 0) break;
      close(key, at);
    }
  };

  return {
    take(buckets, nowMs) {
      let waitMs = 0;
      for (let index = 0; index < buckets.length; index++) {
        const bucket = buckets[index] as Bucket;
        const { intervalMs, burst } = bucket;
        const at = find(bucket, nowMs);
        const backlogMs = (fullAt[at] as number) - nowMs - (burst - 1) * intervalMs;
        if (backlogMs > waitMs) waitMs = backlogMs;
      }
      if (waitMs > rounding) return Math.ceil(waitMs);
      for (let index = 0; index < buckets.length; index++) {
        const bucket = buckets[index] as Bucket;
        // Found again: another of this very request may have made room.
        const at = find(bucket, nowMs);
        fullAt[at] = Math.max(fullAt[at] as number, nowMs) + bucket.intervalMs;
      }
      return 0;
    },
  };
}
