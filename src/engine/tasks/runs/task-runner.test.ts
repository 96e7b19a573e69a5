// Leases of running tasks, and what a change of the clock does to them.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TaskStore } from '../store/task-store.ts';
import type { TaskRun } from './task-run.ts';
import { type RunnerHost, TaskRunner } from './task-runner.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A runner with one running task, whose store calls are recorded. */
function setUp() {
  const calls: string[] = [];
  const stopped: string[] = [];
  let isDown = false;
  const store = {
    durable: true,
    renew: async (_holder: string, ids: readonly string[]) => {
      if (isDown) throw new Error('down');
      calls.push('renew');
      return ids;
    },
    claim: async () => {
      calls.push('claim');
      return [];
    },
    sweep: async () => ({ deleted: 0, expired: [] }),
  };
  const run = { stop: (reason: string) => void stopped.push(reason) };
  const host: RunnerHost = {
    store: store as unknown as TaskStore,
    service: 'shop',
    leaseMs: 30_000,
    logger: undefined,
    isNeeded: () => true,
    runs: new Map([['task', run as unknown as TaskRun]]),
    resume: () => {},
    expire: async () => {},
    extend: async () => {},
    refresh: async () => {},
  };
  const runner = new TaskRunner(host, 'me');
  runner.wake();
  const down = (): void => {
    isDown = true;
  };
  return { runner, calls, stopped, down };
}

const renewals = (calls: readonly string[]): number => calls.filter((call) => call === 'renew').length;

test('leases are renewed in time although the clock was set back', async () => {
  const { runner, calls } = setUp();
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(31_000);
  expect(renewals(calls)).toBeGreaterThanOrEqual(2);
  runner.close();
});

test('leases are renewed before tasks are claimed when the clock was set forward', async () => {
  const { runner, calls } = setUp();
  vi.setSystemTime(Date.now() + 3_600_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(calls).toEqual(['renew', 'claim']);
  runner.close();
});

test('runs end before their leases although the clock was set back while the store fails', async () => {
  const { runner, stopped, down } = setUp();
  down();
  vi.setSystemTime(Date.now() - 3_600_000);
  await vi.advanceTimersByTimeAsync(30_000);
  expect(stopped).toContain('lease-lost');
  runner.close();
});
