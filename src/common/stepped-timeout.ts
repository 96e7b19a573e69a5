// A time limit for responses of other processes, which counts time in which this process was stopped or busy only in part.

/** How much of the time one such pause may count for: one step of so many. */
const steps = 12;

/**
 * Calls back after that time. It passes in steps, each of which follows the one before, so a process that is stopped for long counts
 * that as one step, and reads what has arrived meanwhile before it calls back. The result cancels it.
 */
export function setSteppedTimeout(ms: number, callback: () => void): () => void {
  let isCancelled = false;
  let left = steps;
  const timer = setInterval(() => {
    if (--left > 0) return;
    clearInterval(timer);
    // The last pause may have been just before this.
    setTimeout(() => {
      if (!isCancelled) callback();
    });
  }, ms / steps);
  return () => {
    isCancelled = true;
    clearInterval(timer);
  };
}

/** Settles like the promise, or after that time with what `late` returns or throws. */
export async function settleWithin<T>(ms: number, promise: Promise<T>, late: () => T): Promise<T> {
  let cancel: (() => void) | undefined;
  const over = new Promise<void>((resolve) => {
    cancel = setSteppedTimeout(ms, resolve);
  });
  try {
    return await Promise.race([promise, over.then(late)]);
  } finally {
    cancel?.();
  }
}
