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

/** Buckets in this process. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const fullAt = new Map<string, number>();

  const waitFor = ({ key, intervalMs, burst }: Bucket, nowMs: number): number =>
    Math.max(0, (fullAt.get(key) ?? 0) - nowMs) - (burst - 1) * intervalMs;

  const spend = ({ key, intervalMs }: Bucket, nowMs: number): void => {
    const known = fullAt.get(key);
    if (known === undefined && fullAt.size >= maxBuckets) makeRoom(nowMs);
    fullAt.set(key, Math.max(known ?? 0, nowMs) + intervalMs);
  };

  /** A full bucket is as good as none. When none is full, the oldest tenth goes: memory comes before precision. */
  const makeRoom = (nowMs: number): void => {
    for (const [key, at] of fullAt) if (at <= nowMs) fullAt.delete(key);
    if (fullAt.size < maxBuckets) return;
    let surplus = Math.ceil(maxBuckets / 10);
    for (const key of fullAt.keys()) {
      if (surplus-- <= 0) break;
      fullAt.delete(key);
    }
  };

  return {
    take(buckets, nowMs) {
      let waitMs = 0;
      for (const bucket of buckets) waitMs = Math.max(waitMs, waitFor(bucket, nowMs));
      if (waitMs > rounding) return Math.ceil(waitMs);
      for (const bucket of buckets) spend(bucket, nowMs);
      return 0;
    },
  };
}
