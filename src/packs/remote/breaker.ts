// A circuit breaker: after several consecutive failures a service gets no calls for a while, then one test call.

import { monotonicMs } from '../../common/clock.ts';

export interface BreakerOptions {
  /** Consecutive failures that open it. */
  readonly threshold: number;
  /** How long it stays open before one test call. */
  readonly cooldownMs: number;
  readonly now?: () => number;
}

/** Open: no calls. Half-open: one test call is running. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** Counts outcomes and decides whether a call may be made now. */
export class Breaker {
  readonly #threshold: number;
  readonly #cooldownMs: number;
  readonly #now: () => number;
  #failures = 0;
  #openUntilMs = 0;
  #trying = false;

  constructor({ threshold, cooldownMs, now = monotonicMs }: BreakerOptions) {
    this.#threshold = threshold;
    this.#cooldownMs = cooldownMs;
    this.#now = now;
  }

  get state(): BreakerState {
    if (this.#openUntilMs === 0) return 'closed';
    return this.#trying || this.#now() >= this.#openUntilMs ? 'half-open' : 'open';
  }

  /** Failures since the last success. */
  get failures(): number {
    return this.#failures;
  }

  /** Whether a call may be made. In the half-open state true for one call at a time; report its outcome. */
  admit(): boolean {
    if (this.#openUntilMs === 0) return true;
    if (this.#trying || this.#now() < this.#openUntilMs) return false;
    this.#trying = true;
    return true;
  }

  /** How long until a call may be made; 0 when now. */
  get waitMs(): number {
    return this.#openUntilMs === 0 ? 0 : Math.max(0, this.#openUntilMs - this.#now());
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntilMs = 0;
    this.#trying = false;
  }

  failed(): void {
    this.#failures++;
    if (this.#trying || this.#failures >= this.#threshold) this.trip();
  }

  /** The call ended for a reason on the caller's side, which shows nothing about the service. */
  abandoned(): void {
    this.#trying = false;
  }

  /** Opens immediately; for longer if the service asked for it. */
  trip(cooldownMs = this.#cooldownMs): void {
    this.#trying = false;
    this.#openUntilMs = this.#now() + cooldownMs;
  }
}
