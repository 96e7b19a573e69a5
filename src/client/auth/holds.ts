// Whose time limits stand still while a person is asked, or another process that may be asking one: those of everybody
// who waits for the outcome. Talking to servers meanwhile takes time as it always does: a server that never answers
// must not stop the clocks.

/** Stops the clocks of one request until the returned function is called. */
export type Hold = () => () => void;

/** Requests that wait for one authorizer. */
export class Holds {
  readonly #waiting = new Map<Hold, (() => void) | undefined>();
  #asking = 0;

  /** Waits on behalf of a request, whose clocks stand still while a person is asked. */
  async waiting<T>(hold: Hold | undefined, work: () => Promise<T>): Promise<T> {
    if (hold === undefined) return work();
    // One function may belong to several requests.
    const own: Hold = () => hold();
    this.#waiting.set(own, this.#asking > 0 ? own() : undefined);
    try {
      return await work();
    } finally {
      this.#waiting.get(own)?.();
      this.#waiting.delete(own);
    }
  }

  /** A person is asked from here on; the returned function says that this is over. */
  asking(): () => void {
    if (this.#asking++ === 0) for (const hold of this.#waiting.keys()) this.#waiting.set(hold, hold());
    let over = false;
    return () => {
      if (over) return;
      over = true;
      if (--this.#asking > 0) return;
      for (const [hold, release] of this.#waiting) {
        release?.();
        this.#waiting.set(hold, undefined);
      }
    };
  }

  /** Asks a person. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    const over = this.asking();
    try {
      return await work();
    } finally {
      over();
    }
  }
}
