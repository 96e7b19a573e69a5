// Response times of an upstream over its last calls, for operators and monitoring.

/** With more, old calls would hide a recent change. */
const maxCalls = 512;

export class Latencies {
  /** The last calls, in no particular order; created with the first. */
  #recent: Float64Array | undefined;
  #count = 0;

  add(ms: number): void {
    this.#recent ??= new Float64Array(maxCalls);
    this.#recent[this.#count++ % maxCalls] = ms;
  }

  /** Half of the calls, and 99 of 100, took at most this time; undefined before the first. */
  get percentiles(): { readonly p50Ms: number; readonly p99Ms: number } | undefined {
    if (this.#recent === undefined) return undefined;
    const sorted = this.#recent.slice(0, Math.min(this.#count, maxCalls)).sort();
    return { p50Ms: percentile(sorted, 0.5), p99Ms: percentile(sorted, 0.99) };
  }
}

/** The nearest rank, in steps of a hundredth of a millisecond. */
function percentile(sorted: Float64Array, share: number): number {
  const ms = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return Math.round(ms * 100) / 100;
}
