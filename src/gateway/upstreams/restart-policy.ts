// When a server that failed may be started again: after a pause that doubles, and not at all for a while if it fails too often.

import type { RestartConfig } from '../config/gateway-config.ts';

/** How long a server that is down is not started. */
const downMs = 60_000;

export class RestartPolicy {
  readonly #config: RestartConfig;
  readonly #now: () => number;
  /** When it failed recently. */
  #failures: number[] = [];

  constructor(config: RestartConfig, now: () => number = () => performance.now()) {
    this.#config = config;
    this.#now = now;
  }

  /** How long to wait before the next start. */
  get waitMs(): number {
    const last = this.#failures.at(-1);
    if (last === undefined) return 0;
    const { minMs, maxMs } = this.#config;
    const pause = this.isDown ? downMs : Math.min(minMs * 2 ** (this.#failures.length - 1), maxMs);
    return Math.max(0, last + pause - this.#now());
  }

  /** It failed too often. */
  get isDown(): boolean {
    this.#forgetOld();
    return this.#failures.length >= this.#config.tries;
  }

  failed(): void {
    this.#failures.push(this.#now());
    // Older ones do not change the result.
    if (this.#failures.length > this.#config.tries) this.#failures.shift();
  }

  /** It works, or the operator asked for a new attempt. */
  reset(): void {
    this.#failures = [];
  }

  #forgetOld(): void {
    const oldest = this.#now() - this.#config.withinMs;
    this.#failures = this.#failures.filter((at) => at > oldest);
  }
}
