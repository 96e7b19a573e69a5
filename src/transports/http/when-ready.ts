// Values that may be available already. Stores and sealers return a value or a promise; a call that can continue
// synchronously must not wait for a promise.

/** Calls `next` with a value: now if it is available, otherwise when its promise resolves. */
export function whenReady<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
