import { expect, test } from 'vitest';
import { clientErrors } from '../errors.ts';
import { pauseMs, resolveRetry, transience } from './retry.ts';

test('a pause doubles up to its limit, has a random part, and heeds what the server asks for within the limit', () => {
  const retry = { maxAttempts: 9, baseDelayMs: 100, maxDelayMs: 1_000 };
  for (const [next, window] of [
    [2, 100],
    [3, 200],
    [9, 1_000],
  ] as const) {
    const ms = pauseMs(next, retry);
    expect(ms).toBeGreaterThanOrEqual(window / 2);
    expect(ms).toBeLessThanOrEqual(window);
  }
  const asks = (retryAfterMs: number) => clientErrors.http('x', 'y', { status: 429, retryAfterMs });
  expect(pauseMs(2, retry, asks(700))).toBe(700);
  expect(pauseMs(2, retry, asks(3_600_000))).toBe(1_000);
});

test('what certainly did not arrive is told from what may have, and from what will not pass', () => {
  expect(transience(clientErrors.unreachable('x', 'refused'))).toBe('unsent');
  expect(transience(clientErrors.http('x', 'y', { status: 429 }))).toBe('unsent');
  expect(transience(clientErrors.http('x', 'y', { status: 503 }))).toBe('unknown');
  expect(transience(clientErrors.lost('x', 'reset'))).toBe('unknown');
  expect(transience(clientErrors.http('x', 'y', { status: 400 }))).toBeUndefined();
  expect(transience(new Error('anything'))).toBeUndefined();
});

test('`false` means one attempt', () => {
  expect(resolveRetry(false).maxAttempts).toBe(1);
});
