import { expect, test } from 'vitest';
import { TtlCache } from './ttl-cache.ts';

test('an entry is removed when it expires', () => {
  let now = 0;
  const cache = new TtlCache<number>({ ttlMs: 10, maxEntries: 5, now: () => now });
  cache.set('a', 1);
  now = 9;
  expect(cache.get('a')).toBe(1);
  now = 10;
  expect(cache.get('a')).toBeUndefined();
  expect(cache.size).toBe(0);
});

test('the oldest entry is evicted, and setting an entry again makes it the newest', () => {
  const cache = new TtlCache<number>({ ttlMs: 1000, maxEntries: 2 });
  cache.set('a', 1);
  cache.set('b', 2);
  cache.set('a', 3);
  cache.set('c', 4);
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([3, undefined, 4]);
});

test('a lifetime of zero disables the cache', () => {
  const cache = new TtlCache<number>({ ttlMs: 0, maxEntries: 2 });
  cache.set('a', 1);
  expect(cache.get('a')).toBeUndefined();
});
