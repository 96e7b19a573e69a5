import { expect, test } from 'vitest';
import { type Bucket, createMemoryBuckets } from './bucket.ts';

const bucket = (key: string, burst = 2, intervalMs = 100): Bucket => ({ key, burst, intervalMs });

test('a full bucket gives its burst, then one token per interval', () => {
  const store = createMemoryBuckets();
  expect(store.find([bucket('a')]).take(0)).toBe(0);
  expect(store.find([bucket('a')]).take(0)).toBe(0);
  expect(store.find([bucket('a')]).take(0)).toBe(100);
  expect(store.find([bucket('a')]).take(60)).toBe(40);
  expect(store.find([bucket('a')]).take(100)).toBe(0);
  expect(store.find([bucket('a')]).take(100)).toBe(100);
});

test('a token is available after the returned wait', () => {
  const store = createMemoryBuckets();
  for (let now = 0, granted = 0; granted < 50; ) {
    const waitMs = store.find([bucket('a', 3, 37.5)]).take(now) as number;
    if (waitMs === 0) granted++;
    else {
      now += waitMs;
      expect(store.find([bucket('a', 3, 37.5)]).take(now)).toBe(0);
      granted++;
    }
  }
});

test('an idle bucket fills up to its burst and not beyond', () => {
  const store = createMemoryBuckets();
  store.find([bucket('a')]).take(0);
  const later = 1_000_000;
  expect([0, 1, 2].map(() => store.find([bucket('a')]).take(later))).toEqual([0, 0, 100]);
});

test('either all of several buckets give a token, or none does', () => {
  const store = createMemoryBuckets();
  store.find([bucket('narrow', 1)]).take(0);
  expect(store.find([bucket('wide'), bucket('narrow', 1)]).take(0)).toBe(100);
  expect([0, 1].map(() => store.find([bucket('wide')]).take(0))).toEqual([0, 0]);
});

test('ever new keys do not fill memory, and buckets in use outlive full ones', () => {
  const store = createMemoryBuckets(100);
  for (let n = 0; n < 2; n++) store.find([bucket('busy', 2, 1_000_000)]).take(1_000);
  for (let n = 0; n < 10_000; n++) store.find([bucket(`caller ${n}`, 2, 0.01)]).take(1_000 + n);
  expect(store.find([bucket('busy', 2, 1_000_000)]).take(12_000)).toBeGreaterThan(0);
});

test('evicted buckets are recreated and shared by key', () => {
  const store = createMemoryBuckets(10);
  const kept = store.find([bucket('a', 2, 1_000)]);
  for (let n = 0; n < 2; n++) expect(kept.take(0)).toBe(0);
  for (let n = 0; n < 100; n++) store.find([bucket(`caller ${n}`, 2, 1_000_000)]).take(0);
  expect(kept.take(0)).toBe(0);
  expect(store.find([bucket('a', 2, 1_000)]).take(0)).toBe(0);
  expect(kept.take(0)).toBeGreaterThan(0);
});

test('a bucket gives its token even if another bucket of the same request causes an eviction', () => {
  const store = createMemoryBuckets(10);
  const busy = bucket('busy', 2, 1_000_000);
  expect(store.find([busy]).take(0)).toBe(0);
  for (let n = 0; n < 9; n++) store.find([bucket(`soon full ${n}`, 2, 1)]).take(0);
  expect(store.find([busy, bucket('new')]).take(1_000)).toBe(0);
  expect(store.find([busy]).take(1_000)).toBeGreaterThan(0);
});

test('many unknown callers do not evict a busy bucket, however old it is', () => {
  const store = createMemoryBuckets(100);
  const everybody = bucket('everybody', 50, 1_000);
  let granted = 0;
  for (let n = 0; n < 5_000; n++) if (store.find([everybody, bucket(`caller ${n}`)]).take(n / 1_000) === 0) granted++;
  expect(granted).toBe(50);
});

test('two new buckets of one request fit together, even into a store full of busy buckets', () => {
  const store = createMemoryBuckets(10);
  for (let n = 0; n < 10; n++) store.find([bucket(`busy ${n}`, 1, 1_000_000)]).take(0);
  const both = store.find([bucket('a', 1), bucket('b', 1)]);
  expect(both.take(0)).toBe(0);
  expect(both.take(0)).toBe(100);
});

test('a store that is smaller than one request still stores its buckets', () => {
  const both = createMemoryBuckets(1).find([bucket('a', 1), bucket('b', 1)]);
  expect([both.take(0), both.take(0), both.take(100)]).toEqual([0, 100, 0]);
});
