import { expect, test } from 'vitest';
import { type Bucket, createMemoryBuckets } from './bucket.ts';

const bucket = (key: string, burst = 2, intervalMs = 100): Bucket => ({ key, burst, intervalMs });

test('a full bucket gives its burst, then one token per interval', () => {
  const store = createMemoryBuckets();
  expect(store.take([bucket('a')], 0)).toBe(0);
  expect(store.take([bucket('a')], 0)).toBe(0);
  expect(store.take([bucket('a')], 0)).toBe(100);
  expect(store.take([bucket('a')], 60)).toBe(40);
  expect(store.take([bucket('a')], 100)).toBe(0);
  expect(store.take([bucket('a')], 100)).toBe(100);
});

test('what was told to wait for is there after that time', () => {
  const store = createMemoryBuckets();
  for (let now = 0, granted = 0; granted < 50; ) {
    const waitMs = store.take([bucket('a', 3, 37.5)], now) as number;
    if (waitMs === 0) granted++;
    else {
      now += waitMs;
      expect(store.take([bucket('a', 3, 37.5)], now)).toBe(0);
      granted++;
    }
  }
});

test('an idle bucket fills up to its burst and not beyond', () => {
  const store = createMemoryBuckets();
  store.take([bucket('a')], 0);
  const later = 1_000_000;
  expect([0, 1, 2].map(() => store.take([bucket('a')], later))).toEqual([0, 0, 100]);
});

test('of several buckets all give a token or none does', () => {
  const store = createMemoryBuckets();
  store.take([bucket('narrow', 1)], 0);
  expect(store.take([bucket('wide'), bucket('narrow', 1)], 0)).toBe(100);
  expect([0, 1].map(() => store.take([bucket('wide')], 0))).toEqual([0, 0]);
});

test('ever new keys do not fill memory, and buckets that are in use outlive full ones', () => {
  const store = createMemoryBuckets(100);
  for (let n = 0; n < 2; n++) store.take([bucket('busy', 2, 1_000_000)], 1_000);
  for (let n = 0; n < 10_000; n++) store.take([bucket(`stranger ${n}`, 2, 0.01)], 1_000 + n);
  expect(store.take([bucket('busy', 2, 1_000_000)], 12_000)).toBeGreaterThan(0);
});

test('a bucket that lost its place to others and comes back shares the new one with its namesakes', () => {
  const store = createMemoryBuckets(10);
  const kept = bucket('a', 2, 1_000_000);
  for (let n = 0; n < 2; n++) expect(store.take([kept], 0)).toBe(0);
  for (let n = 0; n < 100; n++) store.take([bucket(`stranger ${n}`, 2, 1_000_000)], 0);
  expect(store.take([kept], 0)).toBe(0);
  expect(store.take([bucket('a', 2, 1_000_000)], 0)).toBe(0);
  expect(store.take([kept], 0)).toBeGreaterThan(0);
});

test('a bucket gives its token also when another of the same request makes room', () => {
  const store = createMemoryBuckets(10);
  const busy = bucket('busy', 2, 1_000_000);
  expect(store.take([busy], 0)).toBe(0);
  for (let n = 0; n < 9; n++) store.take([bucket(`soon full ${n}`, 2, 1)], 0);
  expect(store.take([busy, bucket('new')], 1_000)).toBe(0);
  expect(store.take([busy], 1_000)).toBeGreaterThan(0);
});
