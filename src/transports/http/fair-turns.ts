// Requests that arrive together are served in one turn of the event loop: a caller with hundreds of them whose responses are
// large, or whose handlers compute for long, would delay all others. So once many bytes have been sent in a turn, or much time
// was spent in handlers, requests wait for the next turn, in which callers are served alternately. Small responses and short
// work are not counted.

import { monotonicMs } from '../../protocol/clock.ts';
import { pauseAfter } from '../../protocol/slices.ts';

/** How much may be sent in one turn before the rest waits. */
const maxTurnBytes = 1024 * 1024;

/** How many requests that waited are served in one turn. */
const maxTurnRequests = 100;

/** How long requests may take together in one turn before the rest waits. */
const maxTurnMs = 10;

/** Work that took less is not counted. */
const shortWorkMs = 1;

/** Responses up to this length are not counted. */
export const smallResponse = 128 * 1024;

export class FairTurns {
  #bytes = 0;
  #workedMs = 0;
  #scheduled = false;
  /** The next one to be served is the first request of the first caller. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #requests = 0;

  /** A response of that length, in characters or bytes, was sent in this turn. */
  spent(length: number): void {
    this.#bytes += length;
    this.#schedule();
  }

  /** A request that did not wait was served in this turn, since that time on the monotonic clock. */
  worked(startMs: number): void {
    const ms = monotonicMs() - startMs;
    if (ms < shortWorkMs) return;
    this.#workedMs += ms;
    this.#schedule();
  }

  get #isSpent(): boolean {
    return this.#bytes > maxTurnBytes || this.#workedMs > maxTurnMs;
  }

  /** False: no request has to wait, so `mustWait` need not be called. */
  get busy(): boolean {
    return this.#isSpent || this.#waiting.size > 0;
  }

  /** Whether a request of this caller has to wait: for the next turn, or behind others of the same caller. */
  mustWait(caller: string): boolean {
    return this.#isSpent || this.#waiting.has(caller);
  }

  /** Calls `run` when it is this caller's turn. Returns a function that stops waiting. */
  wait(caller: string, run: () => void): () => void {
    let waiting = this.#waiting.get(caller);
    if (waiting === undefined) this.#waiting.set(caller, (waiting = new Set()));
    waiting.add(run);
    this.#requests++;
    this.#schedule();
    return () => this.#remove(caller, run);
  }

  #remove(caller: string, run: () => void): void {
    const waiting = this.#waiting.get(caller);
    if (waiting?.delete(run) !== true) return;
    this.#requests--;
    if (waiting.size === 0) this.#waiting.delete(caller);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#startTurn());
  }

  /** Serves one request whatever it costs, and more of them only while little was sent, and soon. */
  #startTurn(): void {
    this.#bytes = 0;
    this.#workedMs = 0;
    const startMs = monotonicMs();
    const until = startMs + maxTurnMs;
    this.#serveNext();
    // Each in a callback of its own: promises settle in between. In one loop all would have their results in memory at
    // the same time, before the first of them is sent and counted.
    for (let n = Math.min(this.#requests, maxTurnRequests); n > 0; n--) {
      setImmediate(() => {
        if (!this.#isSpent && monotonicMs() < until) this.#serveNext();
      });
    }
    if (this.#requests > 0) setImmediate(() => pauseAfter(monotonicMs() - startMs, () => this.#startTurn()));
    else {
      this.#scheduled = false;
      if (this.#isSpent) this.#schedule();
    }
  }

  #serveNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [caller, waiting] = next;
    const [run] = waiting;
    if (run === undefined) return;
    this.#remove(caller, run);
    // The other callers come first now.
    if (this.#waiting.delete(caller)) this.#waiting.set(caller, waiting);
    run();
  }
}
