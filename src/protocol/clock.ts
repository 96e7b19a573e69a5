// Time that never runs backwards, in ms.

/** The time of the monotonic clock. Faked with the other timers in tests. */
export const monotonicMs = (): number => performance.now();
