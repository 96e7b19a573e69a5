// Waiting that ends early when it is not needed any more.

/** Resolves after that time, or when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    (timer as { unref?: () => void }).unref?.();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
