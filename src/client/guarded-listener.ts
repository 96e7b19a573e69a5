// Listeners of the application.

import type { Logger } from '../common/logger.ts';

/** A listener of the application that fails must not take the connection with it. */
export function guarded<A extends unknown[]>(
  listener: (...args: A) => void,
  name: string,
  logger: Logger,
): (...args: A) => void {
  return (...args) => {
    try {
      listener(...args);
    } catch (error) {
      logger.error(`${name} failed`, { error });
    }
  };
}
