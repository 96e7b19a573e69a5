import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FailureLog } from './failure-log.ts';
import { type LogFields, type Logger, silentLogger } from './logger.ts';

let lines: string[];
let logger: Logger;

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const add =
    (level: string) =>
    (message: string, { error: _error, ...fields }: LogFields = {}) =>
      void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  logger = { ...silentLogger, info: add('info'), warn: add('warn'), error: add('error') };
});

afterEach(() => {
  vi.useRealTimers();
});

test('the first failure is logged, then one per minute with the number of all, and the recovery', () => {
  const log = new FailureLog(logger, { failed: 'it failed', recovered: 'it works' });
  for (let second = 0; second < 90; second++) {
    log.failed(new Error('down'));
    vi.advanceTimersByTime(1_000);
  }
  log.succeeded();
  log.succeeded();
  expect(lines).toEqual([
    'error it failed {}',
    'error it failed {"failures":61,"forMs":60000}',
    'info it works {"failures":90,"afterMs":90000}',
  ]);
});

test('successes between failures are not the recovery if there must be a time without failures', () => {
  const log = new FailureLog(logger, { failed: 'it failed', recovered: 'it works', level: 'warn', quietMs: 60_000 });
  for (let second = 0; second < 30; second++) {
    log.failed(new Error('down'));
    log.succeeded();
    vi.advanceTimersByTime(1_000);
  }
  expect(lines).toEqual(['warn it failed {}']);
  vi.advanceTimersByTime(60_000);
  log.succeeded();
  log.failed(new Error('down again'));
  expect(lines.slice(1)).toEqual(['info it works {"failures":30,"afterMs":90000}', 'warn it failed {}']);
});

test('a clock that is set back does not silence failures, nor the recovery', () => {
  const log = new FailureLog(logger, { failed: 'it failed', recovered: 'it works' });
  log.failed(new Error('down'));
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  log.failed(new Error('down'));
  vi.setSystemTime(Date.now() - 3_600_000);
  log.succeeded();
  expect(lines).toEqual([
    'error it failed {}',
    'error it failed {"failures":2,"forMs":60000}',
    'info it works {"failures":2,"afterMs":60000}',
  ]);
});
