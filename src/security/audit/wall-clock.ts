// The time of day of moments on the monotonic clock. A call brings its moment along; asking for the time of day as well
// would cost every call another reading, so the distance between the two clocks is looked at once for many.

import { monotonicMs } from '../../protocol/clock.ts';

/** Reading two clocks takes a moment, and the time of day knows no fractions; only more is a clock that was set. */
const toleratedMs = 2;

export class WallClock {
  #offsetMs = Number.NaN;

  /** Takes over the time of day when somebody set it. */
  adjust(): void {
    const beforeMs = monotonicMs();
    const offsetMs = Date.now() - beforeMs;
    if (Math.abs(offsetMs - this.#offsetMs) <= toleratedMs) return;
    // A process that had to wait between the two readings knows nothing; it looks again the next time.
    const isSure = monotonicMs() - beforeMs < toleratedMs / 2;
    if (isSure || Number.isNaN(this.#offsetMs)) this.#offsetMs = offsetMs;
  }

  /** Whole milliseconds since 1970. */
  at(monotonic: number): number {
    return Math.floor(monotonic + this.#offsetMs);
  }
}
