// Load shedding: when the process falls behind, new work is refused at once so that what runs can finish and pings,
// cancels and health probes are still answered. Measures how late the event loop is and counts what is in flight.

import type { Middleware } from '../../engine/ports.ts';
import { isThenable } from '../../engine/run-call.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { isExempt } from './scope.ts';

export interface SheddingOptions {
  /** How late the event loop may be before new work is refused. Default 250. */
  readonly maxLagMs?: number;
  /** Requests of all clients in flight before new work is refused. Default 10,000. */
  readonly maxInFlight?: number;
  /** What refused clients are told to wait. Default 1000. */
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
  let lastTick = now();
  let measured = 0;
  let inFlight = 0;
  const timer = setInterval(() => {
    const at = now();
    measured = Math.max(0, at - lastTick - tickMs);
    lastTick = at;
  }, tickMs);
  timer.unref();

  // In the middle of a long turn the clock has not ticked yet: its silence counts as well.
  const lag = (): number => Math.max(measured, now() - lastTick - tickMs);
  const done = (): void => {
    inFlight--;
  };

  return {
    middleware(request, next) {
      if (isExempt(request)) return next();
      if (inFlight >= maxInFlight || lag() > maxLagMs) throw wireErrors.overloaded(retryAfterMs);
      const result = next();
      if (!isThenable(result)) return result;
      inFlight++;
      request.onEnd(done);
      return result;
    },
    get load() {
      return { lagMs: Math.max(0, lag()), inFlight };
    },
    close: () => clearInterval(timer),
  };
}
