// A pause that ends early when something happens.

export class TaskPause {
  readonly #waiting = new Set<() => void>();

  /** True: woken before the time was over. Rejects when the signal fires. */
  wait(ms: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        this.#waiting.delete(wake);
      };
      const stop = (): void => {
        end();
        reject(signal.reason);
      };
      const wake = (): void => {
        end();
        resolve(true);
      };
      const expire = (): void => {
        end();
        resolve(false);
      };
      const timer = setTimeout(expire, Math.max(ms, 0));
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.add(wake);
    });
  }

  wake(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}
