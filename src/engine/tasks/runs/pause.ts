// Delays that end early when they are no longer needed.

/** Resolves after that time, or when the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    (timer as { unref?: () => void }).unref?.();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The delays before the second and later attempts: the cause of the first failure may be temporary. */
const pausesMs = [0, 1_000, 5_000, 25_000];

/** The pause before an attempt to run a handler; the first one has none. */
export async function pauseBefore(attempt: number, signal: AbortSignal): Promise<void> {
  const ms = pausesMs[Math.min(attempt, pausesMs.length) - 1] ?? 0;
  if (ms > 0) await pause(ms, signal);
}
