import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { resolveLimits } from './limits.ts';
import { startWatchdog } from './watchdog.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const isLinux = process.platform === 'linux';

test.runIf(isLinux)('a tree that has no /tmp of its own yet is not stopped because of the files of the host', () => {
  const stop = vi.fn();
  // This process is a tree whose /tmp is that of the host.
  const limits = resolveLimits({ maxTmpFiles: 1, maxMemoryBytes: 2 ** 40, maxProcesses: 10_000 });
  const end = startWatchdog(
    { root: process.pid, limits, writable: [], privateTmp: true, controlGroup: undefined },
    stop,
  );
  vi.advanceTimersByTime(1_000);
  end();
  expect(stop).not.toHaveBeenCalled();
});
