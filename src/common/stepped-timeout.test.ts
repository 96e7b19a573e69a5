import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setSteppedTimeout } from './stepped-timeout.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('calls back once, after that time', () => {
  const callback = vi.fn();
  setSteppedTimeout(240, callback);
  vi.advanceTimersByTime(239);
  expect(callback).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10);
  expect(callback).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(1_000);
  expect(callback).toHaveBeenCalledOnce();
});

test('a pause of the process counts as one step, however long it is', () => {
  const ticks: (() => void)[] = [];
  vi.stubGlobal('setInterval', (tick: () => void) => ticks.push(tick));
  const callback = vi.fn();
  setSteppedTimeout(240, callback);
  vi.unstubAllGlobals();
  const tick = ticks[0] as () => void;
  for (let n = 0; n < 11; n++) {
    vi.advanceTimersByTime(1_000);
    tick();
  }
  vi.advanceTimersByTime(1_000);
  expect(callback).not.toHaveBeenCalled();
  tick();
  vi.advanceTimersByTime(1);
  expect(callback).toHaveBeenCalledOnce();
});

test('does not call back when it was cancelled, not even after the last step', () => {
  const callback = vi.fn();
  const cancel = setSteppedTimeout(240, callback);
  vi.advanceTimersByTime(230);
  cancel();
  vi.runAllTimers();
  const cancelLast = setSteppedTimeout(240, callback);
  vi.advanceTimersByTime(240);
  // What has arrived by now is read before the callback.
  cancelLast();
  vi.runAllTimers();
  expect(callback).not.toHaveBeenCalled();
});
