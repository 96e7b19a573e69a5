import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createConsoleLogger } from './console-logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('warnings and errors are written, with their fields and the error', () => {
  const error = vi.fn();
  const logger = createConsoleLogger({ error }).child({ tool: 'greet' });
  const cause = new Error('no network');
  logger.debug('quiet');
  logger.warn('slow', { ms: 5 });
  logger.error('failed', { error: cause });
  expect(error.mock.calls).toEqual([['warning: slow tool="greet" ms=5'], ['error: failed tool="greet"', cause]]);
});

test('a flood of lines is counted instead of written', () => {
  const error = vi.fn();
  const logger = createConsoleLogger({ error });
  for (let n = 0; n < 1_000; n++) logger.error('failed');
  expect(error).toHaveBeenCalledTimes(100);
  vi.advanceTimersByTime(1_000);
  logger.error('again');
  expect(error.mock.calls.slice(100)).toEqual([['warning: 900 lines were not logged'], ['error: again']]);
});
