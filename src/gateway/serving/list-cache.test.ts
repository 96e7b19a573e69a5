import { expect, test } from 'vitest';
import type { CacheHint } from '../../protocol/model.ts';
import type { UpstreamLists } from '../contract.ts';
import { joinCacheHints } from './list-cache.ts';

const lists = (cache?: CacheHint): UpstreamLists => ({
  ...{ tools: [], prompts: [], resources: [], resourceTemplates: [] },
  ...(cache && { cache }),
});
const open = (ttlMs: number): CacheHint => ({ ttlMs, cacheScope: 'public' });
const closed = (ttlMs: number): CacheHint => ({ ttlMs, cacheScope: 'private' });

test('the shortest time counts, and lists are public only if all are', () => {
  expect(joinCacheHints([lists(open(500)), lists(open(200))], undefined)).toEqual(open(200));
  expect(joinCacheHints([lists(open(500)), lists(closed(900))], undefined)).toEqual(closed(500));
  expect(joinCacheHints([lists(open(500))], open(100))).toEqual(open(100));
  expect(joinCacheHints([lists(open(500))], closed(900))).toEqual(closed(500));
});

test('a server without a hint, or one that is not known yet, allows what the gateway allows', () => {
  expect(joinCacheHints([lists(open(500)), lists()], undefined)).toEqual(closed(0));
  expect(joinCacheHints([lists(open(500)), lists()], open(100))).toEqual(open(100));
  expect(joinCacheHints([lists(open(500)), undefined], open(100))).toEqual(closed(0));
  expect(joinCacheHints([], undefined)).toEqual(closed(0));
});
