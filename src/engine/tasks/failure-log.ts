// Logs failures of repeated work: the first, then one per minute, and the recovery.

import type { Logger } from '../../common/logger.ts';

/** Between two log lines about the same failure: a store that is unreachable for an hour must not fill the log. */
const repeatMs = 60_000;

export class FailureLog {
  readonly #logger: Logger | undefined;
  readonly #failedText: string;
  readonly #recoveredText: string;
  #failures = 0;
  #firstAtMs = 0;
  #loggedAtMs = 0;

  /** `failedText`: what could not be done. `recoveredText`: that it can be done again. */
  constructor(logger: Logger | undefined, failedText: string, recoveredText: string) {
    this.#logger = logger;
    this.#failedText = failedText;
    this.#recoveredText = recoveredText;
  }

  failed(error: unknown): void {
    const nowMs = Date.now();
    if (this.#failures++ === 0) this.#firstAtMs = nowMs;
    else if (nowMs - this.#loggedAtMs < repeatMs) return;
    this.#loggedAtMs = nowMs;
    this.#logger?.error(this.#failedText, {
      error,
      ...(this.#failures === 1 ? {} : { failures: this.#failures, forMs: nowMs - this.#firstAtMs }),
    });
  }

  succeeded(): void {
    if (this.#failures === 0) return;
    this.#logger?.info(this.#recoveredText, { failures: this.#failures, afterMs: Date.now() - this.#firstAtMs });
    this.#failures = 0;
  }
}
