// Errors that plugins leave in timers and forgotten promises. The process ends on an error nobody caught; one of a
// plugin is that plugin's alone.

import { AsyncLocalStorage } from 'node:async_hooks';

interface Owner {
  /** Whether code of its own appears in a stack. */
  owns(stack: string): boolean;
  stray(error: unknown): void;
}

const running = new AsyncLocalStorage<Owner>();

/** Runs work so that whatever it starts is known to be the owner's. */
export function runAs<T>(owner: Owner, work: () => T): T {
  return running.run(owner, work);
}

const events = ['uncaughtException', 'unhandledRejection'] as const;
type Handler = (...args: unknown[]) => void;

/**
 * Stands before the handlers of the process that are there by now: an error of a plugin goes to the plugin, every
 * other one to them. Call it after the transport has begun; the result puts everything back.
 */
export function catchStrayErrors(owners: () => Iterable<Owner>): () => void {
  const undo = events.map((event) => {
    const others = process.listeners(event as 'uncaughtException') as unknown as Handler[];
    const mine: Handler = (error, ...rest) => {
      const owner = running.getStore() ?? ownerByStack(error, owners());
      if (owner !== undefined) owner.stray(error);
      else for (const other of others) other.call(process, error, ...rest);
    };
    process.removeAllListeners(event);
    process.on(event as 'uncaughtException', mine as never);
    return () => {
      process.off(event as 'uncaughtException', mine as never);
      for (const other of others) process.on(event as 'uncaughtException', other as never);
    };
  });
  return () => {
    for (const each of undo) each();
  };
}

/** Where the context is lost (a bare microtask), the stack still says whose code it was. */
function ownerByStack(error: unknown, owners: Iterable<Owner>): Owner | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const owner of owners) if (owner.owns(stack)) return owner;
  return undefined;
}
