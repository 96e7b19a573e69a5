import { expect } from 'vitest';

/** The same promise. If the test fails before it is awaited, its rejection is not reported beside the failure. */
export function awaitedLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/** The error that a promise is rejected with. Fails if the promise is fulfilled, or the error is of another class. */
export async function rejectionOf<T extends Error>(
  promise: Promise<unknown>,
  type: abstract new (...args: never[]) => T,
): Promise<T> {
  const error = await promise.then(
    (value) => expect.unreachable(`should have failed, but returned ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(type);
  return error as T;
}
