import { expect, test } from 'vitest';
import { charsOf, maxCharsPerSecond, maxPerSecond, NotificationLimit } from './notification-limit.ts';

test('beyond the number or the length of a second nothing is passed on, until the next', () => {
  const limit = new NotificationLimit();
  for (let n = 0; n < maxPerSecond; n++) expect(limit.admit(1, 0)).toBe(true);
  expect(limit.admit(1, 999)).toBe(false);
  expect(limit.admit(maxCharsPerSecond - 10, 1_000)).toBe(true);
  expect(limit.admit(11, 1_001)).toBe(false);
  expect(limit.admit(10, 1_002)).toBe(true);
  expect(limit.admit(maxCharsPerSecond + 1, 5_000)).toBe(false);
});

test('the length of data is that of its JSON', () => {
  expect([charsOf('text'), charsOf({ a: 1 }), charsOf(undefined)]).toEqual([4, 7, 0]);
});
