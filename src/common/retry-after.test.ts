import { afterEach, expect, test, vi } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

afterEach(() => void vi.useRealTimers());

test.each([
  ['3', 3_000],
  [' 0 ', 0],
  ['9'.repeat(400), 999_999_999_999_000],
  ['Thu, 01 Jan 1970 00:00:10 GMT', 6_000],
  ['Thu, 01 Jan 1970 00:00:01 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
  [undefined, undefined],
])('Retry-After %j', (header, ms) => {
  vi.useFakeTimers({ now: 4_000 });
  expect(retryAfterMs(header)).toBe(ms);
});
