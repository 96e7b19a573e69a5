// How many requests run at a time, and how many may wait for their turn. A place is given back when the handler is
// done; one whose call is over but who does not stop keeps it a little longer, so that cancelling is no way around.

import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { isThenable } from '../../engine/run-call.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { compileKey, compileTarget, type KnownName, type LimitTarget } from './scope.ts';

/** So many at a time, so many in line. */
export interface ConcurrencyRule extends LimitTarget {
  readonly max: number;
  /** How many may wait; beyond it requests are refused. Default 0. */
  readonly queue?: number;
}

export interface ConcurrencyOptions {
  readonly isKnown?: KnownName;
  /** How long a handler whose call is over may keep its place. Default 10 s. */
  readonly lingerMs?: number;
}

/** What a refused request is told to wait; nobody knows when a place will be free. */
const retryMs = 1_000;

/** Requests that stay open by their nature; they have a limit of their own. */
const longLived = 'subscriptions/listen';

/** Limits how many requests run at a time. A place in the queue counts as time of the call. */
export function limitConcurrency(rule: ConcurrencyRule, options: ConcurrencyOptions = {}): Middleware {
  const { max, queue = 0 } = rule;
  const { isKnown = () => true, lingerMs = 10_000 } = options;
  if (!(max >= 1 && queue >= 0)) throw new RangeError('A concurrency limit needs a max of at least 1');
  const covers = compileTarget(rule);
  const keyOf = compileKey(rule.per, isKnown);
  const gates = new Map<string, Gate>();

  const leave = (key: string, gate: Gate): void => {
    gate.running--;
    while (gate.running < max) {
      const waiting = gate.line.values().next().value;
      if (waiting === undefined) break;
      gate.line.delete(waiting);
      waiting();
    }
    if (gate.running === 0 && gate.line.size === 0) gates.delete(key);
  };

  const enter = (key: string, gate: Gate, request: RequestInfo, next: () => unknown): unknown => {
    gate.running++;
    let inside = true;
    const release = (): void => {
      if (!inside) return;
      inside = false;
      leave(key, gate);
    };
    let result: unknown;
    try {
      result = next();
    } catch (error) {
      release();
      throw error;
    }
    if (!isThenable(result)) {
      release();
      return result;
    }
    result.then(release, release);
    request.onEnd((outcome) => {
      if (!inside) return;
      // A handler that waits for a retry of its client never returns.
      if (outcome === 'asked') release();
      else setTimeout(release, lingerMs).unref();
    });
    return result;
  };

  return (request, next) => {
    if (!covers(request) || request.method === longLived) return next();
    const key = keyOf(request);
    let gate = gates.get(key);
    if (gate === undefined) gates.set(key, (gate = { running: 0, line: new Set() }));
    if (gate.running < max) return enter(key, gate, request, next);
    if (gate.line.size >= queue) throw wireErrors.rateLimited(retryMs);
    const { line } = gate;
    return new Promise((resolve, reject) => {
      const start = (): void => {
        try {
          resolve(enter(key, gate, request, next));
        } catch (error) {
          reject(error);
        }
      };
      line.add(start);
      // Cancelled or out of time while waiting: the next in line moves up.
      request.onEnd(() => line.delete(start));
    });
  };
}

interface Gate {
  running: number;
  /** In the order of arrival. */
  readonly line: Set<() => void>;
}
