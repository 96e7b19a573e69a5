// Clocks in ms: one that never runs backwards, and the time of day for deciding what may be forgotten.

/** The time of the monotonic clock. Faked with the other timers in tests. */
export const monotonicMs = (): number => performance.now();

/** Drift and small corrections of the wall clock; more is a jump. */
const toleranceMs = 60_000;

/** A jump forward that has lasted this long is believed: the longest time that anything is kept by default. */
const believedAfterMs = 7 * 24 * 60 * 60_000;

/**
 * The wall clock, for deciding what may be forgotten. A jump forward (a wrong correction, a machine that slept) is not
 * followed until it has lasted a week, so that a revocation outlives its session also when the clock jumps back. Things
 * are kept too long at worst.
 */
export class CautiousClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  /** What both clocks showed when the wall clock was last believed. */
  #lastWallMs = Number.NaN;
  #lastMs = Number.NaN;
  #aheadSinceMs: number | undefined;

  constructor(wall: () => number = Date.now, monotonic: () => number = monotonicMs) {
    this.#wall = wall;
    this.#monotonic = monotonic;
  }

  /** The first reading is believed; before it no clock is looked at, since that would load a module at the start. */
  now(): number {
    const wallMs = this.#wall();
    const ms = this.#monotonic();
    const expectedMs = this.#lastWallMs + (ms - this.#lastMs);
    if (wallMs > expectedMs + toleranceMs) {
      this.#aheadSinceMs ??= ms;
      if (ms - this.#aheadSinceMs < believedAfterMs) return expectedMs;
    }
    this.#aheadSinceMs = undefined;
    this.#lastWallMs = wallMs;
    this.#lastMs = ms;
    return wallMs;
  }
}
