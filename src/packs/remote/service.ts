// A remote service as packs use it: requests through the guarded fetcher, retries, a circuit breaker, and health data.
// Requests and responses of each service are defined in search/ and research/.

import { monotonicMs } from '../../common/clock.ts';
import { resolveLimits } from '../../common/known-options.ts';
import { retryAfterMs } from '../../common/retry-after.ts';
import { pause } from '../../common/wait.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';
import { WireError } from '../../protocol/errors.ts';
import { parseMessage } from '../../protocol/json-rpc.ts';
import type { Fetcher, FetchInit } from '../../security/network/fetcher.ts';
import { Breaker, type BreakerState } from './breaker.ts';
import { retry } from './retry.ts';
import { fromNetwork, isTransient, ServiceError, serviceErrors } from './service-error.ts';

/** Limits for calls to a service. Every number has a default. */
export interface ServiceLimits {
  /** Attempts per request. */
  readonly attempts: number;
  readonly backOffMs: number;
  readonly maxBackOffMs: number;
  /** Consecutive failed requests after which the service is paused. */
  readonly breakerThreshold: number;
  readonly breakerCooldownMs: number;
  /** Minimum time between the starts of two requests, if the service asks for it. */
  readonly minIntervalMs: number;
}

const defaultServiceLimits: ServiceLimits = {
  attempts: 3,
  backOffMs: 250,
  maxBackOffMs: 4_000,
  breakerThreshold: 3,
  breakerCooldownMs: 30_000,
  minIntervalMs: 0,
};

/** A hundred papers have fewer values. Megabytes of brackets or commas block the process for seconds when they are parsed. */
const jsonLimits = { maxDepth: 64, maxValues: 500_000, maxBatch: Number.POSITIVE_INFINITY };

/** The longest pause that a header of a service can cause. */
const maxPauseMs = 15 * 60_000;

export interface ServiceOptions extends Partial<ServiceLimits> {
  readonly name: string;
  readonly fetcher: Fetcher;
  readonly now?: () => number;
}

/** The health of a service since the start. */
export interface ServiceHealth {
  readonly state: BreakerState;
  readonly calls: number;
  readonly failures: number;
  readonly lastError?: string;
  readonly lastSuccess?: string;
  readonly lastDurationMs?: number;
}

export class Service {
  readonly name: string;
  readonly #fetcher: Fetcher;
  readonly #limits: ServiceLimits;
  readonly #breaker: Breaker;
  readonly #now: () => number;
  readonly #starts = new CallerTurns(1, 1);
  #lastStartMs = Number.NEGATIVE_INFINITY;
  #calls = 0;
  #failures = 0;
  #lastError: string | undefined;
  #lastSuccessMs: number | undefined;
  #lastDurationMs: number | undefined;

  constructor({ name, fetcher, now = monotonicMs, ...limits }: ServiceOptions) {
    this.name = name;
    this.#fetcher = fetcher;
    this.#now = now;
    this.#limits = resolveLimits(defaultServiceLimits, limits, [
      'minIntervalMs',
      'backOffMs',
      'maxBackOffMs',
      'breakerCooldownMs',
    ]);
    const { breakerThreshold: threshold, breakerCooldownMs: cooldownMs } = this.#limits;
    this.#breaker = new Breaker({ threshold, cooldownMs, now });
  }

  get health(): ServiceHealth {
    return {
      state: this.#breaker.state,
      calls: this.#calls,
      failures: this.#failures,
      ...(this.#lastError === undefined ? {} : { lastError: this.#lastError }),
      ...(this.#lastSuccessMs === undefined ? {} : { lastSuccess: new Date(this.#lastSuccessMs).toISOString() }),
      ...(this.#lastDurationMs === undefined ? {} : { lastDurationMs: this.#lastDurationMs }),
    };
  }

  /**
   * One operation with this service, which may need several requests. Its failures count for the circuit breaker; while
   * that is open, nothing is sent.
   */
  async call<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (!this.#breaker.admit()) throw serviceErrors.paused(this.name, this.#breaker.waitMs, this.#lastError);
    const startedAtMs = this.#now();
    this.#calls++;
    try {
      const result = await work();
      this.#breaker.succeeded();
      this.#lastSuccessMs = Date.now();
      this.#lastDurationMs = this.#now() - startedAtMs;
      return result;
    } catch (error) {
      if (signal.aborted) this.#breaker.abandoned();
      else this.#failed(error);
      throw error;
    }
  }

  #failed(error: unknown): void {
    this.#failures++;
    this.#lastError = error instanceof Error ? error.message : String(error);
    if (error instanceof ServiceError && isRejectedQuery(error)) return this.#breaker.abandoned();
    this.#breaker.failed();
    // The service itself set this wait; a request before it ends would make things worse.
    if (error instanceof ServiceError && error.retryAfterMs !== undefined) {
      this.#breaker.trip(Math.min(error.retryAfterMs, maxPauseMs));
    }
  }

  /** The text of a successful response; temporary failures are retried within the limits. */
  async text(url: URL, init: FetchInit & { readonly signal: AbortSignal }): Promise<{ status: number; text: string }> {
    const { attempts, backOffMs: baseMs, maxBackOffMs: maxMs } = this.#limits;
    const { signal } = init;
    return retry(() => this.#once(url, init), { attempts, baseMs, maxMs, signal, isRetryable: isTransient });
  }

  async json(url: URL, init: FetchInit & { readonly signal: AbortSignal }): Promise<unknown> {
    const { text } = await this.text(url, init);
    const parsed = parseMessage(text, jsonLimits);
    if (!(parsed instanceof WireError)) return parsed;
    const why = parsed.kind === 'parse' ? 'it is not JSON' : 'it is nested too deeply or has too many values';
    throw serviceErrors.unreadable(this.name, why, parsed);
  }

  async #once(url: URL, init: FetchInit & { readonly signal: AbortSignal }): Promise<{ status: number; text: string }> {
    await this.#waitForInterval(init.signal);
    try {
      const response = await this.#fetcher.fetch(url, init);
      const { status } = response;
      if (status < 200 || status >= 300) {
        response.discard();
        throw serviceErrors.status(this.name, status, retryAfterMs(response.headers.get('retry-after')));
      }
      return { status, text: await response.text() };
    } catch (error) {
      throw fromNetwork(error);
    }
  }

  /** Requests wait in order. One that is cancelled meanwhile leaves no gap: many of those would pause the service for hours. */
  async #waitForInterval(signal: AbortSignal): Promise<void> {
    const { minIntervalMs } = this.#limits;
    if (minIntervalMs === 0) return;
    await this.#starts.run('', signal, async () => {
      const waitMs = this.#lastStartMs + minIntervalMs - this.#now();
      if (waitMs > 0) await pause(waitMs, signal);
      this.#lastStartMs = this.#now();
    });
  }
}

/** The query was wrong, not the service: otherwise a caller with a few of those would pause the service for all others. */
const isRejectedQuery = ({ status = 0 }: ServiceError): boolean => [400, 414, 422].includes(status);
