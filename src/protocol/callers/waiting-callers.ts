// Work that waits, in order, and for which caller. The owner decides when the next one may start.

interface WaitingWork {
  readonly caller: string;
  start(): void;
}

export class WaitingCallers {
  readonly #waiting = new Set<WaitingWork>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when it is started. Rejects with the reason of the signal if it aborts first. */
  wait(caller: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const start = (): void => {
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(waiting);
        resolve();
      };
      const waiting: WaitingWork = { caller, start };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiting);
    });
  }

  /** Starts the first one whose caller may start, and returns that caller. */
  startNext(mayStart: (caller: string) => boolean): string | undefined {
    for (const waiting of this.#waiting) {
      if (!mayStart(waiting.caller)) continue;
      waiting.start();
      return waiting.caller;
    }
    return undefined;
  }
}
