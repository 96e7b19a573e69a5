// Counters of calls by second: what the overview shows now, and the series of the metrics screen. `tick` runs once a
// second while messages are observed.

import type { Rates, Series } from '../api.ts';

/** Stops a busy second from filling the memory: percentiles of more calls than this are estimated from the first ones. */
const maxSamples = 2_000;
/** 15 minutes by the second, and 6 hours by ten seconds. */
const maxSeconds = 900;
const maxTens = 2_160;

/** Figures of one interval. */
interface Figures {
  readonly at: number;
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p99: number;
  readonly lag: number;
  readonly heap: number;
  readonly peers: number;
}

const columns = [
  { name: 'Calls', unit: '/s', of: (figures: Figures) => figures.calls },
  { name: 'Errors', unit: '/s', of: (figures: Figures) => figures.errors },
  { name: 'Median', unit: 'ms', of: (figures: Figures) => figures.p50 },
  { name: '99th percentile', unit: 'ms', of: (figures: Figures) => figures.p99 },
  { name: 'Event loop delay', unit: 'ms', of: (figures: Figures) => figures.lag },
  { name: 'Memory', unit: 'MB', of: (figures: Figures) => figures.heap },
  { name: 'Clients', unit: '', of: (figures: Figures) => figures.peers },
] as const;

export class RateMeter {
  #calls = 0;
  #errors = 0;
  #samples: number[] = [];
  readonly #seconds: Figures[] = [];
  readonly #tens: Figures[] = [];

  add(durationMs: number, isError: boolean): void {
    this.#calls++;
    if (isError) this.#errors++;
    if (this.#samples.length < maxSamples) this.#samples.push(durationMs);
  }

  /** Ends the current second. */
  tick(peers: number, lagMs: number): void {
    const sorted = this.#samples.sort((a, b) => a - b);
    const figures: Figures = {
      at: Math.floor(Date.now() / 1_000),
      calls: this.#calls,
      errors: this.#errors,
      p50: percentile(sorted, 0.5),
      p99: percentile(sorted, 0.99),
      lag: lagMs,
      heap: Math.round(process.memoryUsage().heapUsed / 1e5) / 10,
      peers,
    };
    this.#calls = this.#errors = 0;
    this.#samples = [];
    push(this.#seconds, figures, maxSeconds);
    if (figures.at % 10 === 0) push(this.#tens, average(this.#seconds.slice(-10)), maxTens);
  }

  now(streams: number): Rates | undefined {
    const last = this.#seconds.at(-1);
    if (last === undefined) return undefined;
    const { calls, errors, p50, p99, peers } = last;
    return { callsPerSecond: calls, errorsPerSecond: errors, p50Ms: p50, p99Ms: p99, peers, streams };
  }

  series(resolutionSeconds: 1 | 10): Series {
    const rows = resolutionSeconds === 1 ? this.#seconds : this.#tens;
    return {
      resolutionSeconds,
      at: rows.map(({ at }) => at),
      columns: columns.map(({ name, unit, of }) => ({ name, unit, values: rows.map(of) })),
    };
  }
}

function push(list: Figures[], figures: Figures, max: number): void {
  list.push(figures);
  if (list.length > max) list.shift();
}

function average(rows: readonly Figures[]): Figures {
  const mean = (of: (figures: Figures) => number): number =>
    Math.round((rows.reduce((sum, row) => sum + of(row), 0) / rows.length) * 1_000) / 1_000;
  const most = (of: (figures: Figures) => number): number => Math.max(...rows.map(of));
  return {
    at: rows.at(-1)?.at ?? 0,
    calls: mean(({ calls }) => calls),
    errors: mean(({ errors }) => errors),
    p50: mean(({ p50 }) => p50),
    p99: most(({ p99 }) => p99),
    lag: most(({ lag }) => lag),
    heap: mean(({ heap }) => heap),
    peers: most(({ peers }) => peers),
  };
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
