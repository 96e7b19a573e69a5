// Time and room of single calls: the shortest limit that covers a request holds. The engine keeps the clock and counts
// the bytes; here is only who gets how much.

import { gate } from '../../engine/layers.ts';
import type { Middleware } from '../../engine/ports.ts';
import { compileTarget, type LimitTarget } from './scope.ts';

/** How long requests may take and how much they may answer. */
export interface CallLimit extends Omit<LimitTarget, 'per'> {
  readonly timeoutMs?: number;
  /** Bytes of the result on the wire. */
  readonly maxResultBytes?: number;
}

/** Requests that stay open until one side ends them. */
const longLived = 'subscriptions/listen';

/** Limits time and results. */
export function limitCalls(limits: readonly CallLimit[]): Middleware {
  const compiled = limits.map((limit) => ({ ...limit, covers: compileTarget(limit) }));
  return gate((request) => {
    if (request.method === longLived) return;
    for (const { covers, timeoutMs, maxResultBytes } of compiled) {
      if (!covers(request)) continue;
      if (timeoutMs !== undefined) request.limitTime(timeoutMs);
      if (maxResultBytes !== undefined) request.limitResult(maxResultBytes);
    }
  });
}
