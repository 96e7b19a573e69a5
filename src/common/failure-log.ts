// Logs failures of repeated work: the first, then one per minute, and the recovery.

import { monotonicMs } from './clock.ts';
import type { LogFields, Logger } from './logger.ts';

/** Between two log lines about the same failure: what fails for an hour must not fill the log. */
const repeatMs = 60_000;

export interface FailureTexts {
  /** What could not be done. */
  readonly failed: string;
  /** That it can be done again. */
  readonly recovered: string;
  /** Default: `error`. */
  readonly level?: 'warn' | 'error';
  /**
   * How long there must be no failure before a success counts as the recovery. Default 0. For work that may succeed while
   * its cause of failure remains, such as requests of which only some need a server that is down.
   */
  readonly quietMs?: number;
}

export class FailureLog {
  readonly #logger: Logger | undefined;
  readonly #texts: FailureTexts;
  #failures = 0;
  #firstAtMs = 0;
  #lastAtMs = 0;
  #loggedAtMs = 0;

  constructor(logger: Logger | undefined, texts: FailureTexts) {
    this.#logger = logger;
    this.#texts = texts;
  }

  failed(error: unknown, fields: LogFields = {}): void {
    const nowMs = monotonicMs();
    this.#lastAtMs = nowMs;
    if (this.#failures++ === 0) this.#firstAtMs = nowMs;
    else if (nowMs - this.#loggedAtMs < repeatMs) return;
    this.#loggedAtMs = nowMs;
    this.#logger?.[this.#texts.level ?? 'error'](this.#texts.failed, {
      ...fields,
      error,
      ...(this.#failures === 1 ? {} : { failures: this.#failures, forMs: nowMs - this.#firstAtMs }),
    });
  }

  succeeded(): void {
    if (this.#failures === 0) return;
    const nowMs = monotonicMs();
    if (nowMs - this.#lastAtMs < (this.#texts.quietMs ?? 0)) return;
    this.#logger?.info(this.#texts.recovered, { failures: this.#failures, afterMs: nowMs - this.#firstAtMs });
    this.#failures = 0;
  }
}
