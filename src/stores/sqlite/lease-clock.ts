// Notices that the wall clock jumped forward: leases that seem to have ended may have holders that were only suspended.

import { monotonicMs } from '../../common/clock.ts';

/** Drift, and the pause between two readings that a busy event loop adds to only one of the clocks. */
const toleranceMs = 5_000;

/**
 * Decides whether leases have really ended. After a forward jump (a machine that slept, a corrected clock) every
 * lease seems to have ended, although its holder still runs, so holders get the time of one lease to renew theirs.
 */
export class LeaseClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  #offsetMs: number | undefined;
  #graceUntilMs = Number.NEGATIVE_INFINITY;

  constructor(wall: () => number = Date.now, monotonic: () => number = monotonicMs) {
    this.#wall = wall;
    this.#monotonic = monotonic;
  }

  /** The wall clock, which all processes on one machine share. */
  now(): number {
    return this.#wall();
  }

  /** Whether a lease that has ended by the wall clock has really ended. */
  leasesEnd(leaseMs: number): boolean {
    const ms = this.#monotonic();
    const offsetMs = this.#wall() - ms;
    if (this.#offsetMs !== undefined && offsetMs > this.#offsetMs + toleranceMs) this.#graceUntilMs = ms + leaseMs;
    this.#offsetMs = offsetMs;
    return ms >= this.#graceUntilMs;
  }
}
