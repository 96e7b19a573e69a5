import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { withEitherSignal } from './abort-signals.ts';
import { pause, unlessAborted } from './wait.ts';

const never = (signal: AbortSignal): Promise<void> => pause(60_000, signal);

test('a task ends with the first of two signals, with its reason, and no listener is left', async () => {
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

test('a signal that was aborted before ends the task at once', async () => {
  const closing = new AbortController().signal;
  await expect(withEitherSignal(AbortSignal.abort(new Error('before')), closing, never)).rejects.toThrow('before');
});

test('waiting for a promise ends with the signal, and a later failure of the promise is handled', async () => {
  const controller = new AbortController();
  let fail = (_error: Error): void => {};
  const work = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  const waiting = unlessAborted(work, controller.signal);
  controller.abort(new Error('aborted'));
  await expect(waiting).rejects.toThrow('aborted');
  fail(new Error('late'));
  await expect(work).rejects.toThrow('late');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});
