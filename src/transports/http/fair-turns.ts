// Requests that arrive together are served in one turn of the event loop: a caller with hundreds of them whose responses are
// large, or whose handlers compute for long, would delay all others. So once many bytes have been sent in a turn, or much time
// was spent in handlers, requests wait for the next turn, in which callers are served alternately. Small responses are not
// counted.

import { monotonicMs } from '../../common/clock.ts';
import { inNextTurn, pauseAfter } from '../../common/slices.ts';

/** How much may be sent in one turn before the rest waits. */
const maxTurnBytes = 1024 * 1024;

/** How many requests that waited are served in one turn. */
const maxTurnRequests = 100;

/** How long requests may take together in one turn before the rest waits. */
const maxTurnMs = 10;

/** How many requests arrive before the clock is read: for each of them it would take 2 % of a call (bench http, "mooring"). */
const clockInterval = 4;

/** Responses up to this length are not counted. */
export const smallResponse = 128 * 1024;

export class FairTurns {
  #bytes = 0;
  /** Requests that arrived since the clock was read. */
  #arrived = 0;
  #readAtMs = 0;
  /** From when on the time of this turn is measured; undefined: it is not. */
  #measuredFromMs: number | undefined;
  #scheduled = false;
  /** The next one to be served is the first request of the first caller. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #requests = 0;
  #enabled = true;

  /** No request waits from now on. */
  disable(): void {
    this.#enabled = false;
  }

  /** A response of that length, in characters or bytes, was sent in this turn. */
  spent(length: number): void {
    if (!this.#enabled) return;
    this.#bytes += length;
    this.#schedule();
  }

  /** Call it for each request. False: it need not wait, so `mustWait` need not be called. */
  arrive(): boolean {
    if (++this.#arrived >= clockInterval && this.#enabled) this.#readClock();
    return this.busy;
  }

  #readClock(): void {
    const nowMs = monotonicMs();
    if (this.#measuredFromMs !== undefined) {
      // No more requests in this turn, as if many bytes had been sent.
      if (nowMs - this.#measuredFromMs > maxTurnMs) this.spent(maxTurnBytes + 1);
      return;
    }
    this.#arrived = 0;
    // The last requests took long, in this turn or in several: for each further one of this turn the clock is read.
    if (nowMs - this.#readAtMs > maxTurnMs) {
      this.#measuredFromMs = nowMs;
      this.#arrived = clockInterval;
      this.#schedule();
    }
    this.#readAtMs = nowMs;
  }

  /** Whether some request has to wait. */
  get busy(): boolean {
    return this.#bytes > maxTurnBytes || this.#waiting.size > 0;
  }

  /** Whether a request of this caller has to wait: for the next turn, or behind others of the same caller. */
  mustWait(caller: string): boolean {
    return this.#bytes > maxTurnBytes || this.#waiting.has(caller);
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
    inNextTurn(() => this.#startTurn());
  }

  /** Serves one request whatever it costs, and more of them only while little was sent, and soon. */
  #startTurn(): void {
    this.#bytes = 0;
    if (this.#measuredFromMs !== undefined) {
      this.#measuredFromMs = undefined;
      this.#arrived = 0;
    }
    if (this.#requests === 0) {
      this.#scheduled = false;
      return;
    }
    const startMs = monotonicMs();
    const until = startMs + maxTurnMs;
    this.#serveNext();
    // Each in a callback of its own: promises settle in between. In one loop all would have their results in memory at
    // the same time, before the first of them is sent and counted.
    for (let n = Math.min(this.#requests, maxTurnRequests); n > 0; n--) {
      inNextTurn(() => {
        if (this.#bytes <= maxTurnBytes && monotonicMs() < until) this.#serveNext();
      });
    }
    if (this.#requests > 0) inNextTurn(() => pauseAfter(monotonicMs() - startMs, () => this.#startTurn()));
    else {
      this.#scheduled = false;
      if (this.#bytes > 0) this.#schedule();
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
