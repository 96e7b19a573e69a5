// A time limit that is paused while a user is asked.

import { maxTimerMs } from '../../common/wait.ts';

/** Calls `expired` after this many milliseconds, not counting the time of holds. */
export class PausableTimeout {
  readonly #expired: () => void;
  #leftMs: number;
  #since = 0;
  #holds = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(ms: number, expired: () => void) {
    this.#expired = expired;
    this.#leftMs = ms;
    this.#run();
  }

  /** Stops the clock until the returned function is called, by every holder. */
  hold(): () => void {
    if (this.#holds++ === 0) this.#pause();
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#holds === 0) this.#run();
    };
  }

  /** Ends the time limit. */
  clear(): void {
    clearTimeout(this.#timer);
    // What is released later must not start the clock again.
    this.#holds = Number.POSITIVE_INFINITY;
  }

  #pause(): void {
    clearTimeout(this.#timer);
    this.#leftMs -= performance.now() - this.#since;
  }

  #run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.#expired, Math.min(Math.max(this.#leftMs, 0), maxTimerMs));
  }
}

/** The time limits of one client. While a user is asked, all of them are paused. */
export class ClientDeadlines {
  readonly #running = new Map<PausableTimeout, (() => void) | undefined>();
  #holds = 0;

  /** Starts a time limit; the returned function ends it. */
  start(ms: number, expired: () => void): () => void {
    const deadline = new PausableTimeout(ms, expired);
    this.#running.set(deadline, this.#holds > 0 ? deadline.hold() : undefined);
    return () => {
      deadline.clear();
      this.#running.delete(deadline);
    };
  }

  /** Stops all clocks, also of those started meanwhile, until the returned function is called by every holder. */
  hold(): () => void {
    if (this.#holds++ === 0) for (const deadline of this.#running.keys()) this.#running.set(deadline, deadline.hold());
    let released = false;
    return () => {
      if (released) return;
      released = true;
      if (--this.#holds > 0) return;
      for (const [deadline, release] of this.#running) {
        release?.();
        this.#running.set(deadline, undefined);
      }
    };
  }
}
