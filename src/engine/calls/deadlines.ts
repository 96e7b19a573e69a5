// Time limits of running calls, on one coarse timer that exists only while something runs.

import { monotonicMs } from '../../common/clock.ts';
import { SlotSet } from '../../common/slot-set.ts';

/** Has a time limit: `remainingMs` decreases unless `waiting` is positive. */
export interface Timed {
  remainingMs: number;
  readonly waiting: number;
  /** Its place among those that run; below zero if it has none. */
  deadlineSlot: number;
}

const tickMs = 50;

export class Deadlines<T extends Timed> {
  readonly #running = new SlotSet<T>();
  readonly #onExpired: (timed: T) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  constructor(onExpired: (timed: T) => void) {
    this.#onExpired = onExpired;
  }

  add(timed: T): void {
    if (timed.remainingMs === Number.POSITIVE_INFINITY) return;
    timed.deadlineSlot = this.#running.add(timed);
    if (this.#timer === undefined) {
      this.#last = monotonicMs();
      this.#arm();
    }
  }

  delete(timed: T): void {
    this.#running.delete(timed.deadlineSlot, timed);
  }

  #arm(): void {
    this.#timer = setTimeout(() => this.#tick(), tickMs);
    // A pending time limit must not keep the process alive.
    (this.#timer as { unref?: () => void }).unref?.();
  }

  #tick(): void {
    this.#timer = undefined;
    const now = monotonicMs();
    const passed = now - this.#last;
    this.#last = now;
    for (const timed of this.#running.values()) {
      if (timed.waiting > 0) continue;
      timed.remainingMs -= passed;
      if (timed.remainingMs > 0) continue;
      this.delete(timed);
      this.#onExpired(timed);
    }
    if (this.#running.size > 0) this.#arm();
  }
}
