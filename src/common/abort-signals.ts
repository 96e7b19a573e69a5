// A signal that is aborted with the first of two.

import type { CancelSignal } from './cancellation.ts';

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
