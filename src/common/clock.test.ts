import { expect, test } from 'vitest';
import { CautiousClock } from './clock.ts';

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
