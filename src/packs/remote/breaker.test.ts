import { afterEach, expect, test, vi } from 'vitest';
import { Breaker } from './breaker.ts';

afterEach(() => void vi.useRealTimers());

function make() {
  const clock = { now: 1000 };
  const breaker = new Breaker({ threshold: 2, cooldownMs: 100, now: () => clock.now });
  return { breaker, clock };
}

test('consecutive failures open it, and a success in between resets the count', () => {
  const { breaker } = make();
  breaker.failed();
  breaker.succeeded();
  breaker.failed();
  expect(breaker.admit()).toBe(true);
  breaker.failed();
  expect(breaker.state).toBe('open');
  expect(breaker.admit()).toBe(false);
  expect(breaker.waitMs).toBe(100);
});

test('after the pause one call is admitted; the others wait for its outcome', () => {
  const { breaker, clock } = make();
  breaker.trip();
  clock.now += 100;
  expect(breaker.state).toBe('half-open');
  expect(breaker.admit()).toBe(true);
  expect(breaker.admit()).toBe(false);
  breaker.succeeded();
  expect(breaker.state).toBe('closed');
  expect(breaker.admit()).toBe(true);
});

test('a failed attempt opens it again; an aborted one admits another', () => {
  const { breaker, clock } = make();
  breaker.trip();
  clock.now += 100;
  breaker.admit();
  breaker.abandoned();
  expect(breaker.admit()).toBe(true);
  breaker.failed();
  expect(breaker.admit()).toBe(false);
  expect(breaker.waitMs).toBe(100);
});

test('a clock that is set back does not keep it open for longer', () => {
  vi.useFakeTimers();
  const breaker = new Breaker({ threshold: 1, cooldownMs: 100 });
  breaker.failed();
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(100);
  expect(breaker.admit()).toBe(true);
});
