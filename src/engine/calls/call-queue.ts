// Calls that wait where a profile limits how many calls of a connection run at a time.

import type { Call } from '../contract.ts';

interface QueuedCall {
  readonly call: Call;
  readonly start: () => void;
}

/** First in, first out. A call that ends while it waits leaves the queue at once. */
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

  /** Starts the calls that may start. A call that ends while it starts calls this again; the outer loop then continues. */
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
