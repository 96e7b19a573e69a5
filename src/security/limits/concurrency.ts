// How many requests run at the same time, and how many may wait. A slot is released when the handler is done. A handler
// that continues after its call has ended keeps the slot a little longer, so that cancelling does not bypass the limit.

import { assertKnownOptions } from '../../common/known-options.ts';
import { isThenable } from '../../engine/calls/run-call.ts';
import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { compileKey, compileTarget, type IsKnownTool, type LimitTarget, targetOptions } from './scope.ts';

/** How many requests may run at the same time, and how many may wait. */
export interface ConcurrencyRule extends LimitTarget {
  /** How many requests may run at a time. */
  readonly max: number;
  /** How many may wait; further requests are rejected. Default 0. */
  readonly queue?: number;
}

const ruleOptions: Record<keyof ConcurrencyRule, true> = { ...targetOptions, max: true, queue: true };

/** How requests are counted. */
export interface ConcurrencyOptions {
  /** Which tools exist; unknown names are counted together. Default: all. */
  readonly isKnown?: IsKnownTool;
  /** How long a handler whose call has ended may keep its slot. Default 10 s. */
  readonly releaseDelayMs?: number;
}

/** How long a rejected request should wait; when a slot will be free is unknown. */
const retryMs = 1_000;

/** Requests that are long-lived by design; they have their own limit. */
const longLived = 'subscriptions/listen';

const known: Record<keyof ConcurrencyOptions, true> = { isKnown: true, releaseDelayMs: true };

/** Limits how many requests run at the same time. Waiting in the queue counts as time of the call. */
export function limitConcurrency(rule: ConcurrencyRule, options: ConcurrencyOptions = {}): Middleware {
  assertKnownOptions('limitConcurrency', options, known);
  assertKnownOptions('limitConcurrency', rule, ruleOptions);
  const { max, queue = 0 } = rule;
  const { isKnown = () => true, releaseDelayMs = 10_000 } = options;
  if (!(max >= 1 && queue >= 0)) throw new RangeError('A concurrency limit needs a max of at least 1');
  const covers = compileTarget(rule);
  const keyOf = compileKey(rule.per, isKnown);
  const queues = new Map<string, SlotQueue>();

  const leave = (key: string, slots: SlotQueue): void => {
    slots.running--;
    while (slots.running < max) {
      const waiting = slots.line.values().next().value;
      if (waiting === undefined) break;
      slots.line.delete(waiting);
      waiting();
    }
    if (slots.running === 0 && slots.line.size === 0) queues.delete(key);
  };

  const enter = (key: string, slots: SlotQueue, request: RequestInfo, next: () => unknown): unknown => {
    slots.running++;
    let inside = true;
    const release = (): void => {
      if (!inside) return;
      inside = false;
      leave(key, slots);
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
      if (outcome === 'input-required') release();
      else setTimeout(release, releaseDelayMs).unref();
    });
    return result;
  };

  return (request, next) => {
    if (!covers(request) || request.method === longLived) return next();
    const key = keyOf(request);
    let slots = queues.get(key);
    if (slots === undefined) queues.set(key, (slots = { running: 0, line: new Set() }));
    if (slots.running < max) return enter(key, slots, request, next);
    if (slots.line.size >= queue) throw wireErrors.rateLimited(retryMs);
    const { line } = slots;
    return new Promise((resolve, reject) => {
      const start = (): void => {
        try {
          resolve(enter(key, slots, request, next));
        } catch (error) {
          reject(error);
        }
      };
      line.add(start);
      // Cancelled or timed out while waiting: the next one in the queue moves up.
      request.onEnd(() => line.delete(start));
    });
  };
}

interface SlotQueue {
  running: number;
  /** In the order of arrival. */
  readonly line: Set<() => void>;
}
