// Errors that are part of how a tool works, as opposed to bugs.

/**
 * Throw it from a handler when the caller should read the message: a city that does not exist, an account without
 * permission. It is neither logged as an error nor masked. Anything else that a handler throws is logged with its stack.
 *
 * @example
 * if (city === undefined) throw new UserError(`There is no city called ${name}`);
 */
export class UserError extends Error {
  override name = 'UserError';
}
