import { expect, test } from 'vitest';
import { Latencies } from './latencies.ts';

test('nothing is known before the first call', () => {
  expect(new Latencies().percentiles).toBeUndefined();
});

test('half of the calls took at most p50, and 99 of 100 at most p99', () => {
  const latencies = new Latencies();
  for (let ms = 100; ms >= 1; ms--) latencies.add(ms);
  expect(latencies.percentiles).toEqual({ p50Ms: 50, p99Ms: 99 });
});

test('one call is all there is', () => {
  const latencies = new Latencies();
  latencies.add(1.234_5);
  expect(latencies.percentiles).toEqual({ p50Ms: 1.23, p99Ms: 1.23 });
});

test('only the last calls count', () => {
  const latencies = new Latencies();
  for (let i = 0; i < 100; i++) latencies.add(1_000);
  for (let i = 0; i < 512; i++) latencies.add(2);
  expect(latencies.percentiles).toEqual({ p50Ms: 2, p99Ms: 2 });
});
