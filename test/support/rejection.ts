import { expect } from 'vitest';

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
