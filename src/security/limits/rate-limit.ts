// Rate limits as middleware: a request over the limit is rejected before anything runs, with the time to wait.
// Initialization, pings, notifications and cancellations always pass, and no connection is ever closed for it.

import { assertKnownOptions } from '../../common/known-options.ts';
import { checkMiddleware } from '../../engine/calls/middleware.ts';
import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { requireRules } from '../rule-checks.ts';
import { type Bucket, type BucketStore, type Buckets, createMemoryBuckets } from './bucket.ts';
import { compileKey, compileTarget, type IsKnownTool, isExempt, type LimitTarget, targetOptions } from './scope.ts';

/** How many requests are allowed in which time. */
export interface RateRule extends LimitTarget {
  /** How many requests are allowed in one window. */
  readonly requests: number;
  /** The length of the window in milliseconds. */
  readonly windowMs: number;
  /** How many may arrive at the same time. Default: `requests`. */
  readonly burst?: number;
  /**
   * Where processes share a store: each request waits for it, so that not one too many is admitted. Default false: processes
   * decide by themselves and exchange what was used ten times a second.
   */
  readonly exact?: boolean;
}

const ruleOptions: Record<keyof RateRule, true> = {
  ...targetOptions,
  requests: true,
  windowMs: true,
  burst: true,
  exact: true,
};
const example = "rateLimit([{ per: 'principal', requests: 100, windowMs: 60_000 }])";

/** How requests are counted. */
export interface RateLimitOptions {
  /** Default: in memory. */
  readonly store?: BucketStore;
  /** Which tools exist; unknown names share one bucket. Default: all. */
  readonly isKnown?: IsKnownTool;
  /** The clock, in milliseconds. Default: that of this process. */
  readonly now?: () => number;
}

/** The buckets that a request takes from; undefined if no rule covers it. */
type BucketsOf = (request: RequestInfo) => Buckets | undefined;
/** The same as descriptions. */
type Describe = (request: RequestInfo) => readonly Bucket[];

const known: Record<keyof RateLimitOptions, true> = { store: true, isKnown: true, now: true };

/**
 * Limits the rate of requests. A request must pass every rule that covers it; a rejected request uses no token.
 *
 * @example
 * server.around(rateLimit([{ per: 'principal', requests: 100, windowMs: 60_000, burst: 20 }]));
 */
export function rateLimit(rules: readonly RateRule[], options: RateLimitOptions = {}): Middleware {
  assertKnownOptions('rateLimit', options, known);
  requireRules('rateLimit', rules, ruleOptions, example);
  const { store = createMemoryBuckets(), isKnown = () => true, now } = options;
  const bucketsOf = compileRules(rules, store, isKnown);
  const rejectIfLimited = (waitMs: number): void => {
    if (waitMs > 0) throw wireErrors.rateLimited(waitMs);
  };
  return checkMiddleware((request) => {
    if (isExempt(request)) return;
    const buckets = bucketsOf(request);
    if (buckets === undefined) return;
    const waitMs = buckets.take(now === undefined ? request.startedAtMs : now());
    return typeof waitMs === 'number' ? rejectIfLimited(waitMs) : waitMs.then(rejectIfLimited);
  });
}

/** Callers send many requests: buckets that depend only on the caller are looked up once per caller. */
function compileRules(rules: readonly RateRule[], store: BucketStore, isKnown: IsKnownTool): BucketsOf {
  const finders = rules.map((rule, index) => compileRule(rule, index, isKnown));
  const find: BucketsOf = (request) => {
    const buckets = finders.flatMap((describe) => describe(request));
    return buckets.length === 0 ? undefined : store.find(buckets);
  };
  return rules.every(isPerCallerOnly) ? remember(find) : find;
}

function compileRule(rule: RateRule, index: number, isKnown: IsKnownTool): Describe {
  const { requests, windowMs, burst = requests, exact = false } = rule;
  if (!(requests > 0 && windowMs > 0 && burst >= 1)) {
    throw new RangeError('A rate limit needs requests and windowMs above 0 and a burst of at least 1');
  }
  const keyOf = compileKey(rule.per, isKnown);
  const covers = compileTarget(rule);
  const intervalMs = windowMs / requests;
  const rate = { intervalMs, burst, ...(exact ? { exact } : {}) };
  return (request) => (covers(request) ? [{ key: `${index} ${keyOf(request)}`, ...rate }] : none);
}

const none: readonly Bucket[] = [];

/** Whether a rule depends only on the caller. */
const isPerCallerOnly = ({ per, tools, methods }: RateRule): boolean =>
  tools === undefined && methods === undefined && ![per].flat().includes('tool');

/** Addresses whose buckets are cached; stops a botnet from filling memory. */
const maxRemembered = 10_000;

function remember(find: BucketsOf): BucketsOf {
  const named = new WeakMap<object, Buckets | undefined>();
  const nameless = new Map<string, Buckets | undefined>();
  const look = (caller: object | string, request: RequestInfo): Buckets | undefined => {
    const known = typeof caller === 'string' ? nameless.get(caller) : named.get(caller);
    const buckets = known ?? find(request);
    if (known === undefined && typeof caller === 'string') {
      if (nameless.size >= maxRemembered) nameless.clear();
      nameless.set(caller, buckets);
    } else if (known === undefined) named.set(caller as object, buckets);
    return buckets;
  };
  // Consecutive requests often come from the same caller.
  let last: object | string | undefined;
  let lastBuckets: Buckets | undefined;
  return (request) => {
    const { peer } = request;
    const caller = peer.principal ?? peer.address ?? peer.transport;
    if (last !== caller) {
      lastBuckets = look(caller, request);
      last = caller;
    }
    return lastBuckets;
  };
}
