import { afterEach, expect, test, vi } from 'vitest';
import { monotonicMs } from '../../protocol/clock.ts';
import { WallClock } from './wall-clock.ts';

afterEach(() => void vi.useRealTimers());

test('a moment gets the time of day it happened at', () => {
  const clock = new WallClock();
  clock.adjust();
  expect(Math.abs(clock.at(monotonicMs()) - Date.now())).toBeLessThanOrEqual(100);
  expect(clock.at(1234.9) - clock.at(234.9)).toBe(1000);
});

test('lines never go back in time because two clocks tick differently', () => {
  const clock = new WallClock();
  let last = 0;
  for (let round = 0; round < 10_000; round++) {
    clock.adjust();
    const at = clock.at(monotonicMs());
    expect(at).toBeGreaterThanOrEqual(last);
    last = at;
  }
});

test('a clock that was set is followed, in both directions', () => {
  const clock = new WallClock();
  clock.adjust();
  for (const hours of [1, -1]) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hours * 3_600_000 });
    clock.adjust();
    expect(Math.abs(clock.at(monotonicMs()) - Date.now())).toBeLessThanOrEqual(100);
  }
});
