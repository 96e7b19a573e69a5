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

interface Cell {
  /** When the bucket will be full again. */
  fullAt: number;
  /** Its place was given to another; whoever comes for it gets a new one. */
  gone: boolean;
}

/** Buckets in this process. */
export function createMemoryBuckets(maxBuckets: number = defaultMaxBuckets): BucketStore {
  const cells = new Map<string, Cell>();

  const open = (key: string, nowMs: number): Cell => {
    if (cells.size >= maxBuckets) makeRoom(nowMs);
    const cell = { fullAt: 0, gone: false };
    cells.set(key, cell);
    return cell;
  };

  const close = (key: string, cell: Cell): void => {
    cell.gone = true;
    cells.delete(key);
  };

  const find = (bucket: Bucket, nowMs: number): Cell => {
    const known = bucket.place as Cell | undefined;
    if (known !== undefined && !known.gone) return known;
    const cell = cells.get(bucket.key) ?? open(bucket.key, nowMs);
    bucket.place = cell;
    return cell;
  };

  /** A full bucket is as good as none. When none is full, the oldest tenth goes: memory comes before precision. */
  const makeRoom = (nowMs: number): void => {
    for (const [key, cell] of cells) if (cell.fullAt <= nowMs) close(key, cell);
    if (cells.size < maxBuckets) return;
    let surplus = Math.ceil(maxBuckets / 10);
    for (const [key, cell] of cells) {
      if (surplus-- <= 0) break;
      close(key, cell);
    }
  };

  return {
    take(buckets, nowMs) {
      let waitMs = 0;
      for (let index = 0; index < buckets.length; index++) {
        const bucket = buckets[index] as Bucket;
        const { intervalMs, burst } = bucket;
        const backlogMs = find(bucket, nowMs).fullAt - nowMs - (burst - 1) * intervalMs;
        if (backlogMs > waitMs) waitMs = backlogMs;
      }
      if (waitMs > rounding) return Math.ceil(waitMs);
      for (let index = 0; index < buckets.length; index++) {
        const { intervalMs, place } = buckets[index] as Bucket;
        const cell = place as Cell;
        cell.fullAt = (cell.fullAt > nowMs ? cell.fullAt : nowMs) + intervalMs;
      }
      return 0;
    },
  };
}
