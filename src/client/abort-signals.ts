// Waiting that ends early when a signal is aborted.

import type { CancelSignal } from '../common/cancellation.ts';

/** Waits for a promise, or rejects with the signal's reason as soon as the signal is aborted. */
export function unlessAborted<T>(work: Promise<T>, signal: CancelSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

/**
 * Runs a task with a signal that is aborted with the first of two. Not `AbortSignal.any`: on Node 20 the signal that
 * lives as long as the client would keep a reference to every call that used it.
 */
export async function withEitherSignal<T>(
  given: CancelSignal | undefined,
  closing: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (given === undefined) return work(closing);
  const either = new AbortController();
  const unlink = [given, closing].map((signal) => {
    const stop = (): void => either.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    return () => signal.removeEventListener('abort', stop);
  });
  try {
    return await work(either.signal);
  } finally {
    for (const each of unlink) each();
  }
}
