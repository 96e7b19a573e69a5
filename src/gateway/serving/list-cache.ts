// How long clients of a view may cache its lists: as long as all its servers allow.

import type { CacheHint } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';

/** For servers without cache hints: nothing may be cached. */
const none: CacheHint = { ttlMs: 0, cacheScope: 'private' };

/** `own`: what the program around the gateway allows; undefined: it leaves that to the servers. */
export function joinCacheHints(lists: readonly (UpstreamLists | undefined)[], own: CacheHint | undefined): CacheHint {
  const hints = lists.map((each) => (each === undefined ? none : (each.cache ?? own ?? none)));
  const all = own === undefined ? hints : [...hints, own];
  if (all.length === 0) return none;
  return {
    ttlMs: Math.min(...all.map(({ ttlMs }) => ttlMs)),
    cacheScope: all.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  };
}
