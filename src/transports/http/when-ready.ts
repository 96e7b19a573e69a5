// Values that may be there already. Stores and sealers answer at once or later; a call that can go on at once must
// not pay for a promise.

/** Goes on with a value now if it is there, or when it is. */
export function whenReady<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
