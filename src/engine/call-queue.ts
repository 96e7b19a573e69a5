// Where calls wait their turn when a profile runs only so many of a connection at a time.

import type { Call } from './contract.ts';

interface QueuedCall {
  readonly call: Call;
  readonly start: () => void;
}

/** First come, first served. A call that ends before its turn leaves the queue at once. */
export class CallQueue {
  readonly #waiting = new Set<QueuedCall>();
  #running = 0;
  #starting = false;

  add(call: Call, start: () => void): void {
    const entry = { call, start };
    this.#waiting.add(entry);
    call.onEnd(() => {
      if (!this.#waiting.delete(entry)) this.#running--;
      this.#next();
    });
    this.#next();
  }

  /** Starts what may start. A call that ends while it starts comes back here; the loop that is running sees to it. */
  #next(): void {
    if (this.#starting) return;
    this.#starting = true;
    for (const entry of this.#waiting) {
      if (this.#running >= entry.call.codec.rules.concurrency) break;
      this.#waiting.delete(entry);
      this.#running++;
      entry.start();
    }
    this.#starting = false;
  }
}
