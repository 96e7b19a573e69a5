// Load shedding: when the process falls behind, new work is rejected at once so that what runs can finish and pings,
// cancels and health probes are still answered. Measures how late the event loop is and counts what is in flight.

import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { isThenable } from '../../engine/run-call.ts';
import { CallerBudget, callerKey } from '../../protocol/caller-budget.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { isExempt } from './scope.ts';

export interface SheddingOptions {
  /** How late the event loop may be before new work is rejected. Default 250. */
  readonly maxLagMs?: number;
  /** Requests of all callers in flight before new work is rejected. Default 10,000. */
  readonly maxInFlight?: number;
  /**
   * How many of them one caller may have in flight: slow calls of one caller must not take the place of everyone else's.
   * Default: half of `maxInFlight`, but at least 100.
   */
  readonly maxInFlightPerCaller?: number;
  /** What rejected clients are told to wait. Default 1000. */
  readonly retryAfterMs?: number;
  readonly now?: () => number;
}

/** Watches the load of this process. */
export interface LoadShedding {
  readonly middleware: Middleware;
  /** What was found last, for metrics and health pages. */
  readonly load: { readonly lagMs: number; readonly inFlight: number };
  /** Stops the clock. */
  close(): void;
}

const tickMs = 50;

/** Begins to watch the load. */
export function shedLoad(options: SheddingOptions = {}): LoadShedding {
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

  // In the middle of a long turn the clock has not ticked yet: its silence counts as well.
  const lag = (): number => Math.max(measured, now() - lastTick - tickMs);
  const isFull = ({ peer }: RequestInfo): boolean => {
    if (inFlight.held >= maxInFlight) return true;
    // No caller can hold its share before that much is held in all.
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
