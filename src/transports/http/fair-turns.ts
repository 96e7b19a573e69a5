// Large answers take long to make, and requests that arrive together are served in one turn of the event loop: a caller
// with hundreds of them would keep all others waiting until the last is done. So once much has been answered in a turn,
// requests wait for the next one, in which the callers take turns. Small answers cost nothing here.

/** What may be answered in one turn before the rest waits. */
const maxTurnBytes = 1024 * 1024;

/** Answers up to this length are not counted. */
export const smallAnswer = 128 * 1024;

export class FairTurns {
  #bytes = 0;
  #scheduled = false;
  readonly #waiting = new Map<string, Set<() => void>>();

  /** An answer of that length, in characters or bytes, was made in this turn. */
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

  /** Runs something when it is this caller's turn. Returns how to stop waiting. */
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
    setImmediate(() => this.#begin());
  }

  #begin(): void {
    this.#scheduled = false;
    this.#bytes = 0;
    // One of each caller, whatever it takes; further rounds only while there was little to do.
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
