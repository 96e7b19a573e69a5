// Pauses the time limits of all requests that wait for a sign-in, while a user is asked or while another process that
// may be asking one holds the lock. Time spent talking to servers still counts: a server that never answers must not
// pause any limit.

/** Pauses the time limits of one request until the returned function is called. */
export type HoldTimeLimits = () => () => void;

/** Requests that wait for one authorizer. */
export class Holds {
  readonly #waiting = new Map<HoldTimeLimits, (() => void) | undefined>();
  #asking = 0;

  /** Waits on behalf of a request, whose time limits are paused while a user is asked. */
  async waiting<T>(hold: HoldTimeLimits | undefined, work: () => Promise<T>): Promise<T> {
    if (hold === undefined) return work();
    // One function may belong to several requests.
    const own: HoldTimeLimits = () => hold();
    this.#waiting.set(own, this.#asking > 0 ? own() : undefined);
    try {
      return await work();
    } finally {
      this.#waiting.get(own)?.();
      this.#waiting.delete(own);
    }
  }

  /** A user is asked from now on, until the returned function is called. */
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

  /** Asks a user. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    const over = this.asking();
    try {
      return await work();
    } finally {
      over();
    }
  }
}
