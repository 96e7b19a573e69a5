import { afterEach, expect, test, vi } from 'vitest';
import { CautiousClock, Moment } from './clock.ts';

afterEach(() => void vi.useRealTimers());

test('a forward jump of the wall clock is ignored until it has lasted a week; a backward jump is followed', () => {
  const day = 24 * 60 * 60_000;
  let [wall, ms] = [1_000 * day, 0];
  const clock = new CautiousClock(
    () => wall,
    () => ms,
  );
  const pass = (byMs: number): void => {
    wall += byMs;
    ms += byMs;
  };
  expect(clock.now()).toBe(1_000 * day);
  pass(day);
  expect(clock.now()).toBe(1_001 * day);
  wall += 400 * day;
  expect(clock.now()).toBe(1_001 * day);
  pass(3 * day);
  expect(clock.now()).toBe(1_004 * day);
  wall -= 400 * day;
  expect(clock.now()).toBe(1_004 * day);
  wall -= 10 * day;
  expect(clock.now()).toBe(994 * day);
  wall += 10 * day;
  expect(clock.now()).toBe(994 * day);
  pass(7 * day - 1);
  expect(clock.now()).toBe(1_001 * day - 1);
  pass(1);
  expect(clock.now()).toBe(1_011 * day);
});

test('an age goes on when the wall clock is set back, and counts the time that a machine slept', () => {
  vi.useFakeTimers();
  const moment = new Moment();
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(500);
  expect(moment.ageMs).toBe(500);
  vi.setSystemTime(Date.now() + 2 * 3_600_000);
  expect(moment.ageMs).toBe(3_600_500);
});
