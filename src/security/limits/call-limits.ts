// Time and result size of single calls: the smallest limit that covers a request applies. The engine measures the time
// and counts the bytes; this file only chooses the limits.

import { checkMiddleware } from '../../engine/calls/middleware.ts';
import type { Middleware } from '../../engine/ports.ts';
import { requireRules } from '../rule-checks.ts';
import { compileTarget, type LimitTarget } from './scope.ts';

/** How long requests may take and how large their results may be. */
export interface CallLimit extends Omit<LimitTarget, 'per'> {
  /** The time limit of a call in milliseconds. */
  readonly timeoutMs?: number;
  /** Bytes of the result on the wire. */
  readonly maxResultBytes?: number;
}

const limitOptions: Record<keyof CallLimit, true> = {
  tools: true,
  methods: true,
  timeoutMs: true,
  maxResultBytes: true,
};

/** Requests that stay open until one side ends them. */
const longLived = 'subscriptions/listen';

/** Limits time and result size. */
export function limitCalls(limits: readonly CallLimit[]): Middleware {
  requireRules('limitCalls', limits, limitOptions, 'limitCalls([{ tools: ["render"], timeoutMs: 10_000 }])');
  const compiled = limits.map((limit) => ({ ...limit, covers: compileTarget(limit) }));
  return checkMiddleware((request) => {
    if (request.method === longLived) return;
    for (const { covers, timeoutMs, maxResultBytes } of compiled) {
      if (!covers(request)) continue;
      if (timeoutMs !== undefined) request.limitTime(timeoutMs);
      if (maxResultBytes !== undefined) request.limitResult(maxResultBytes);
    }
  });
}
