// Load shedding: when the process falls behind, new work is rejected immediately, so that running calls can finish and
// pings, cancellations and health probes still get responses. Measures the event loop lag and counts requests in flight.

import { assertKnownOptions } from '../../common/known-options.ts';
import { isThenable } from '../../engine/calls/run-call.ts';
import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { CallerBudget, callerKey } from '../../protocol/callers/caller-budget.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { isExempt } from './scope.ts';

/** When new work is rejected. */
export interface SheddingOptions {
  /** The event loop lag above which new work is rejected. Default 250. */
  readonly maxLagMs?: number;
  /** Requests of all callers in flight before new work is rejected. Default 10,000. */
  readonly maxInFlight?: number;
  /**
   * How many of them one caller may have in flight: slow calls of one caller must not use up the limit for all others.
   * Default: half of `maxInFlight`, but at least 100.
   */
  readonly maxInFlightPerCaller?: number;
  /** How long rejected clients should wait. Default 1000. */
  readonly retryAfterMs?: number;
  /** The clock, in milliseconds. Default: `performance.now()`. */
  readonly now?: () => number;
}

/** Monitors the load of this process. */
export interface LoadShedding {
  /** For `server.around`. */
  readonly middleware: Middleware;
  /** The latest measurement, for metrics and health pages. */
  readonly load: { readonly lagMs: number; readonly inFlight: number };
  /** Stops the timer. */
  close(): void;
}

const tickMs = 50;

const known: Record<keyof SheddingOptions, true> = {
  maxLagMs: true,
  maxInFlight: true,
  maxInFlightPerCaller: true,
  retryAfterMs: true,
  now: true,
};

/** Starts to monitor the load. */
export function shedLoad(options: SheddingOptions = {}): LoadShedding {
  assertKnownOptions('shedLoad', options, known);
  const { maxLagMs = 250, maxInFlight = 10_000, retryAfterMs = 1_000, now = () => performance.now() } = options;
  const { maxInFlightPerCaller = Math.max(Math.ceil(maxInFlight / 2), 100) } = options;
  const inFlight = new CallerBudget(maxInFlight, maxInFlightPerCaller);
  let lastTick = now();
  let measured = 0;
  const timer = setInterval(() => {
    const at = now();
    measured = Math.max(0, at - lastTick - tickMs);
    lastTick = at;
  }, tickMs);
  timer.unref();

  // During a long turn of the event loop the timer has not fired yet: the time since its last tick counts as well.
  const lag = (): number => Math.max(measured, now() - lastTick - tickMs);
  const isFull = ({ peer }: RequestInfo): boolean => {
    if (inFlight.held >= maxInFlight) return true;
    // Cheap check first: no caller can hold its share before all callers together hold that much.
    return inFlight.held >= maxInFlightPerCaller && inFlight.isFull(callerKey(peer));
  };

  return {
    middleware(request, next) {
      if (isExempt(request)) return next();
      if (isFull(request) || lag() > maxLagMs) throw wireErrors.overloaded(retryAfterMs);
      const result = next();
      if (!isThenable(result)) return result;
      const caller = callerKey(request.peer);
      inFlight.charge(caller);
      request.onEnd(() => inFlight.release(caller));
      return result;
    },
    get load() {
      return { lagMs: Math.max(0, lag()), inFlight: inFlight.held };
    },
    close: () => clearInterval(timer),
  };
}
