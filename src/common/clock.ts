// Clocks in ms: a monotonic one, the age of something, and a cautious wall clock for deciding what has expired.

/** The time of the monotonic clock. Tests fake it with the other timers. */
export const monotonicMs = (): number => performance.now();

/**
 * When something was stored or done, to find out how long ago that is. Of two clocks the one that has advanced more counts:
 * the wall clock may be set back, and the monotonic one may stop while the machine sleeps.
 */
export class Moment {
  readonly #wallMs = Date.now();
  readonly #ms = monotonicMs();

  get ageMs(): number {
    return Math.max(Date.now() - this.#wallMs, monotonicMs() - this.#ms);
  }
}

/** Drift and small corrections of the wall clock; more is a jump. */
const toleranceMs = 60_000;

/** A forward jump that has lasted this long is trusted: the longest time that anything is stored by default. */
const believedAfterMs = 7 * 24 * 60 * 60_000;

/**
 * The wall clock, for deciding what has expired. A forward jump (a wrong correction, a machine that slept) is ignored
 * until it has lasted a week, so that a revocation outlives its session even if the clock jumps back. At worst, entries
 * are stored for too long.
 */
export class CautiousClock {
  readonly #wall: () => number;
  readonly #monotonic: () => number;
  /** What both clocks showed when the wall clock was last trusted. */
  #lastWallMs = Number.NaN;
  #lastMs = Number.NaN;
  #aheadSinceMs: number | undefined;

  constructor(wall: () => number = Date.now, monotonic: () => number = monotonicMs) {
    this.#wall = wall;
    this.#monotonic = monotonic;
  }

  /** The first reading is trusted. The constructor reads no clock, because that would load a module at start-up. */
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
