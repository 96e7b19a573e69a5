import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { clientErrors } from './errors.ts';
import { pause, pauseMs, resolveRetry, transience, withEitherSignal } from './retry.ts';

const never = (signal: AbortSignal): Promise<void> => pause(60_000, signal);

test('work ends with either of two signals, with its reason, and nobody goes on listening', async () => {
  for (const which of [0, 1] as const) {
    const controllers = [new AbortController(), new AbortController()] as const;
    const [given, closing] = controllers.map(({ signal }) => signal) as [AbortSignal, AbortSignal];
    const working = withEitherSignal(given, closing, never);
    controllers[which].abort(new Error(`signal ${which}`));
    await expect(working).rejects.toThrow(`signal ${which}`);
    expect(getEventListeners(given, 'abort')).toEqual([]);
    expect(getEventListeners(closing, 'abort')).toEqual([]);
  }
});

test('a signal that has fired already does not let work begin to wait', async () => {
  const closing = new AbortController().signal;
  await expect(withEitherSignal(AbortSignal.abort(new Error('before')), closing, never)).rejects.toThrow('before');
});

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
