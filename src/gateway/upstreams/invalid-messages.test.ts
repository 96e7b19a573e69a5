import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { InvalidMessages } from './invalid-messages.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function counted() {
  const changes: boolean[] = [];
  const invalid: InvalidMessages = new InvalidMessages(
    () => changes.push(invalid.areTooMany),
    () => Date.now(),
  );
  return { invalid, changes };
}

test('ten within a minute are too many, until a minute has passed without another', () => {
  const { invalid, changes } = counted();
  for (let i = 0; i < 9; i++) invalid.add();
  expect(changes).toEqual([]);
  invalid.add();
  expect(changes).toEqual([true]);
  vi.advanceTimersByTime(60_000);
  expect(changes).toEqual([true, false]);
  expect(invalid.total).toBe(10);
});

test('ten in a longer time are not', () => {
  const { invalid, changes } = counted();
  for (let i = 0; i < 30; i++) {
    invalid.add();
    vi.advanceTimersByTime(7_000);
  }
  expect(changes).toEqual([]);
});
