// When a server that failed may be started again: after a pause that doubles, and not at all for a while if it fails too often.

import type { RestartConfig } from '../config/gateway-config.ts';

/** How long a server that is down is not started. */
export const defaultRetryDownMs = 60_000;

export class RestartBackoff {
  readonly #config: RestartConfig;
  readonly #downMs: number;
  readonly #now: () => number;
  /** When it failed recently. */
  #failures: number[] = [];
  #mayStart = false;

  constructor(config: RestartConfig, downMs = defaultRetryDownMs, now: () => number = () => performance.now()) {
    this.#config = config;
    this.#downMs = downMs;
    this.#now = now;
  }

  /** How long to wait before the next start. */
  get waitMs(): number {
    const last = this.#failures.at(-1);
    if (last === undefined || this.#mayStart) return 0;
    const { minMs, maxMs } = this.#config;
    const pause = this.isDown ? this.#downMs : Math.min(minMs * 2 ** (this.#failures.length - 1), maxMs);
    return Math.max(0, last + pause - this.#now());
  }

  /** It failed too often. */
  get isDown(): boolean {
    this.#forgetOld();
    return this.#failures.length >= this.#config.tries;
  }

  /** The next start does not wait, whatever failed before. */
  allowStart(): void {
    this.#mayStart = true;
  }

  /** It was started. One that was down gets all its tries back, so that other connections to it can be opened. */
  started(): void {
    this.#mayStart = false;
    if (this.isDown) this.reset();
  }

  failed(): void {
    this.#mayStart = false;
    this.#failures.push(this.#now());
    // Older ones do not change the result.
    if (this.#failures.length > this.#config.tries) this.#failures.shift();
  }

  /** The operator asked for a new attempt. */
  reset(): void {
    this.#failures = [];
  }

  #forgetOld(): void {
    const oldest = this.#now() - this.#config.withinMs;
    this.#failures = this.#failures.filter((at) => at > oldest);
  }
}

/** Waits before a start. Rejects when `signal` is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    timer.unref();
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
