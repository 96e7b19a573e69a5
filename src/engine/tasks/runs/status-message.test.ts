import { afterEach, expect, test, vi } from 'vitest';
import { StatusMessage } from './status-message.ts';

afterEach(() => void vi.useRealTimers());

test('the last message is written after a second although the clock was set back', () => {
  vi.useFakeTimers();
  const written: string[] = [];
  const status = new StatusMessage((message) => void written.push(message));
  status.set('one');
  vi.setSystemTime(Date.now() - 3_600_000);
  status.set('two');
  expect(written).toEqual(['one']);
  vi.advanceTimersByTime(1_000);
  expect(written).toEqual(['one', 'two']);
});
