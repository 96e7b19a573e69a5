// Rate limits as middleware: who comes too often is told when to come back, and nothing of his request is run.
// Greetings, pings, notifications and cancels always pass, and no connection is ever dropped for it.

import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { type Bucket, type BucketStore, createMemoryBuckets } from './bucket.ts';
import { compileKey, compileTarget, isExempt, type KnownName, type LimitTarget } from './scope.ts';

/** So many requests in so much time. */
export interface RateRule extends LimitTarget {
  readonly requests: number;
  readonly windowMs: number;
  /** How many may come at once. Default: `requests`. */
  readonly burst?: number;
}

export interface RateLimitOptions {
  /** Default: in memory. */
  readonly store?: BucketStore;
  /** Which tools exist; made-up names share one bucket. Default: all. */
  readonly isKnown?: KnownName;
  readonly now?: () => number;
}

interface CompiledRule {
  readonly covers: (request: RequestInfo) => boolean;
  readonly keyOf: (request: RequestInfo) => string;
  readonly prefix: string;
  readonly intervalMs: number;
  readonly burst: number;
}

/**
 * Limits how often requests come. A request must pass every rule that covers it; one that is refused costs nothing.
 *
 * @example
 * server.around(rateLimit([{ per: 'principal', requests: 100, windowMs: 60_000, burst: 20 }]));
 */
export function rateLimit(rules: readonly RateRule[], options: RateLimitOptions = {}): Middleware {
  const { store = createMemoryBuckets(), isKnown = () => true, now = () => performance.now() } = options;
  const compiled = rules.map((rule, index) => compileRule(rule, index, isKnown));
  return (request, next) => {
    if (isExempt(request)) return next();
    const buckets: Bucket[] = [];
    for (const { covers, keyOf, prefix, intervalMs, burst } of compiled) {
      if (covers(request)) buckets.push({ key: prefix + keyOf(request), intervalMs, burst });
    }
    if (buckets.length === 0) return next();
    const waitMs = store.take(buckets, now());
    if (typeof waitMs !== 'number') return waitMs.then((settled) => pass(settled, next));
    return pass(waitMs, next);
  };
}

function pass(waitMs: number, next: () => unknown): unknown {
  if (waitMs > 0) throw wireErrors.rateLimited(waitMs);
  return next();
}

function compileRule(rule: RateRule, index: number, isKnown: KnownName): CompiledRule {
  const { requests, windowMs, burst = requests } = rule;
  if (!(requests > 0 && windowMs > 0 && burst >= 1)) {
    throw new RangeError('A rate limit needs requests and windowMs above 0 and a burst of at least 1');
  }
  return {
    covers: compileTarget(rule),
    keyOf: compileKey(rule.per, isKnown),
    prefix: `${index} `,
    intervalMs: windowMs / requests,
    burst,
  };
}
