// A circuit breaker: after some failures in a row a service is left alone for a while, then tried with one call.

export interface BreakerOptions {
  /** Failures in a row that open it. */
  readonly threshold: number;
  /** How long it stays open before one call may try. */
  readonly cooldownMs: number;
  readonly now?: () => number;
}

/** Open: nobody calls. Half-open: one call is trying. */
export type BreakerState = 'closed' | 'open' | 'half-open';

/** Counts outcomes and says whether a call may be made now. */
export class Breaker {
  readonly #threshold: number;
  readonly #cooldownMs: number;
  readonly #now: () => number;
  #failures = 0;
  #openUntilMs = 0;
  #trying = false;

  constructor({ threshold, cooldownMs, now = Date.now }: BreakerOptions) {
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

  /** Whether a call may be made. True in the half-open state for one call at a time; report its outcome. */
  admit(): boolean {
    if (this.#openUntilMs === 0) return true;
    if (this.#trying || this.#now() < this.#openUntilMs) return false;
    this.#trying = true;
    return true;
  }

  /** How long until a call may be tried; 0 when now. */
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

  /** The call came to nothing for a reason of the caller's own, which says nothing about the service. */
  abandoned(): void {
    this.#trying = false;
  }

  /** Opens at once, for longer if asked: the service said so itself. */
  trip(cooldownMs = this.#cooldownMs): void {
    this.#trying = false;
    this.#openUntilMs = this.#now() + cooldownMs;
  }
}
