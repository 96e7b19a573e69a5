import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClientDeadlines, PausableTimeout } from './deadline.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('time that was held does not count, however many hold it', () => {
  const expired = vi.fn();
  const deadline = new PausableTimeout(100, expired);
  vi.advanceTimersByTime(60);
  const [first, second] = [deadline.hold(), deadline.hold()];
  vi.advanceTimersByTime(10_000);
  first();
  first();
  vi.advanceTimersByTime(10_000);
  expect(expired).not.toHaveBeenCalled();
  second();
  vi.advanceTimersByTime(39);
  expect(expired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(expired).toHaveBeenCalledTimes(1);
});

test('once cleared, nothing starts it again', () => {
  const expired = vi.fn();
  const deadline = new PausableTimeout(100, expired);
  const release = deadline.hold();
  deadline.clear();
  release();
  vi.advanceTimersByTime(1_000);
  expect(expired).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a limit longer than any timer does not end at once', () => {
  const expired = vi.fn();
  const deadline = new PausableTimeout(Number.POSITIVE_INFINITY, expired);
  vi.advanceTimersByTime(60_000);
  expect(expired).not.toHaveBeenCalled();
  deadline.clear();
});

test('limits of a group stand still together, those that begin meanwhile too', () => {
  const deadlines = new ClientDeadlines();
  const [first, second, ended] = [vi.fn(), vi.fn(), vi.fn()];
  deadlines.start(100, first);
  deadlines.start(100, ended)();
  const [one, two] = [deadlines.hold(), deadlines.hold()];
  deadlines.start(50, second);
  vi.advanceTimersByTime(10_000);
  one();
  one();
  vi.advanceTimersByTime(10_000);
  expect(first).not.toHaveBeenCalled();
  expect(second).not.toHaveBeenCalled();
  two();
  vi.advanceTimersByTime(50);
  expect(second).toHaveBeenCalledTimes(1);
  expect(first).not.toHaveBeenCalled();
  vi.advanceTimersByTime(50);
  expect(first).toHaveBeenCalledTimes(1);
  expect(ended).not.toHaveBeenCalled();
});
