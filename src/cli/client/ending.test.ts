import { afterEach, expect, test, vi } from 'vitest';
import { Ending } from './ending.ts';

const { exitCode } = process;
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  process.exitCode = exitCode;
});

test('a command does not end before its exit code is known', () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockImplementation((() => {}) as never);
  vi.spyOn(process.stdout, 'write').mockImplementation(((_text: string, done: () => void) => done()) as never);
  process.exitCode = undefined;
  new Ending(undefined).done();
  vi.advanceTimersByTime(2_000);
  expect(exit).not.toHaveBeenCalled();
  process.exitCode = 1;
  vi.advanceTimersByTime(2_000);
  expect(exit).toHaveBeenCalledTimes(1);
});
