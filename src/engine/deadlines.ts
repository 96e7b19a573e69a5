// Time limits of running calls, on one coarse timer that exists only while something runs.

import { monotonicMs } from '../protocol/clock.ts';

/** Has a time limit: `remainingMs` decreases unless `waiting` is positive. */
export interface Timed {
  remainingMs: number;
  readonly waiting: number;
}

const tickMs = 50;

export class Deadlines<T extends Timed> {
  readonly #running = new Set<T>();
  readonly #onExpired: (timed: T) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last = 0;

  constructor(onExpired: (timed: T) => void) {
    this.#onExpired = onExpired;
  }

  add(timed: T): void {
    if (timed.remainingMs === Number.POSITIVE_INFINITY) return;
    this.#running.add(timed);
    if (this.#timer === undefined) {
      this.#last = monotonicMs();
      this.#arm();
    }
  }

  delete(timed: T): void {
    this.#running.delete(timed);
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
    for (const timed of this.#running) {
      if (timed.waiting > 0) continue;
      timed.remainingMs -= passed;
      if (timed.remainingMs > 0) continue;
      this.#running.delete(timed);
      this.#onExpired(timed);
    }
    if (this.#running.size > 0) this.#arm();
  }
}
