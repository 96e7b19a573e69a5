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
  readonly bucketOf: (request: RequestInfo) => Bucket;
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
    for (const { covers, bucketOf } of compiled) if (covers(request)) buckets.push(bucketOf(request));
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
  const keyOf = compileKey(rule.per, isKnown);
  const intervalMs = windowMs / requests;
  const make = (request: RequestInfo): Bucket => ({ key: `${index} ${keyOf(request)}`, intervalMs, burst });
  return { covers: compileTarget(rule), bucketOf: remember(rule.per, make) };
}

/** Addresses whose buckets are remembered; stops a botnet from filling memory. */
const maxRemembered = 10_000;

/** Callers come again and again; putting a key together takes longer than using it. */
function remember(per: RateRule['per'], make: (request: RequestInfo) => Bucket): (request: RequestInfo) => Bucket {
  if (per !== 'principal' && per !== 'global') return make;
  let everybody: Bucket | undefined;
  if (per === 'global') return (request) => (everybody ??= make(request));
  const named = new WeakMap<object, Bucket>();
  const nameless = new Map<string, Bucket>();
  return (request) => {
    const { principal, address } = request.peer;
    const known = principal === undefined ? nameless.get(address ?? '') : named.get(principal);
    if (known !== undefined) return known;
    const bucket = make(request);
    if (principal !== undefined) named.set(principal, bucket);
    else if (address !== undefined) {
      if (nameless.size >= maxRemembered) nameless.clear();
      nameless.set(address, bucket);
    }
    return bucket;
  };
}
