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

interface Cell {
  /** When the bucket will be full again. */
  fullAt: number;
}

/** Buckets in this process. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const cells = new Map<string, Cell>();
  /** The cells of the request at hand, found once and then used twice. */
  const found: Cell[] = [];

  const open = (key: string, nowMs: number): Cell => {
    if (cells.size >= maxBuckets) makeRoom(nowMs);
    const cell = { fullAt: 0 };
    cells.set(key, cell);
    return cell;
  };

  /** A full bucket is as good as none. When none is full, the oldest tenth goes: memory comes before precision. */
  const makeRoom = (nowMs: number): void => {
    for (const [key, { fullAt }] of cells) if (fullAt <= nowMs) cells.delete(key);
    if (cells.size < maxBuckets) return;
    let surplus = Math.ceil(maxBuckets / 10);
    for (const key of cells.keys()) {
      if (surplus-- <= 0) break;
      cells.delete(key);
    }
  };

  return {
    take(buckets, nowMs) {
      let waitMs = 0;
      for (let index = 0; index < buckets.length; index++) {
        const { key, intervalMs, burst } = buckets[index] as Bucket;
        const cell = cells.get(key) ?? open(key, nowMs);
        found[index] = cell;
        const backlogMs = cell.fullAt - nowMs - (burst - 1) * intervalMs;
        if (backlogMs > waitMs) waitMs = backlogMs;
      }
      if (waitMs > rounding) return Math.ceil(waitMs);
      for (let index = 0; index < buckets.length; index++) {
        const cell = found[index] as Cell;
        cell.fullAt = Math.max(cell.fullAt, nowMs) + (buckets[index] as Bucket).intervalMs;
      }
      return 0;
    },
  };
}
