import { afterEach, expect, test, vi } from 'vitest';
import { ResponseCache } from './cache.ts';

afterEach(() => void vi.useRealTimers());

test('a response expires in time although the clock was set back', () => {
  vi.useFakeTimers();
  const cache = new ResponseCache();
  cache.set('tools', 1, 60_000);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(59_999);
  expect(cache.get('tools')).toBe(1);
  vi.advanceTimersByTime(1);
  expect(cache.get('tools')).toBeUndefined();
});
