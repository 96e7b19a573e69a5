// Large responses take long to encode, and requests that arrive together are served in one turn of the event loop: a
// caller with hundreds of them would delay all others. So once many bytes have been sent in a turn, requests wait for the
// next turn, in which callers are served alternately. Small responses are not counted.

/** How much may be sent in one turn before the rest waits. */
const maxTurnBytes = 1024 * 1024;

/** Responses up to this length are not counted. */
export const smallResponse = 128 * 1024;

export class FairTurns {
  #bytes = 0;
  #scheduled = false;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** A response of that length, in characters or bytes, was sent in this turn. */
  spent(length: number): void {
    this.#bytes += length;
    this.#schedule();
  }

  /** False: no request has to wait, so `mustWait` need not be called. */
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
    this.#schedule();
    return () => this.#remove(caller, run);
  }

  #remove(caller: string, run: () => void): void {
    const waiting = this.#waiting.get(caller);
    waiting?.delete(run);
    if (waiting?.size === 0) this.#waiting.delete(caller);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#startTurn());
  }

  #startTurn(): void {
    this.#scheduled = false;
    this.#bytes = 0;
    // One request of each caller, whatever it costs; more of them only while little was sent.
    do {
      for (const [caller, waiting] of [...this.#waiting]) {
        const [run] = waiting;
        if (run === undefined) continue;
        this.#remove(caller, run);
        run();
      }
    } while (this.#waiting.size > 0 && this.#bytes <= maxTurnBytes);
    if (this.#waiting.size > 0) this.#schedule();
  }
}
