// Uncaught errors of plugins, in timers and unhandled promises. By default an uncaught error ends the process; one of a
// plugin must not.

import { AsyncLocalStorage } from 'node:async_hooks';

interface ErrorOwner {
  /** Whether its code appears in a stack. */
  owns(stack: string): boolean;
  onUncaughtError(error: unknown): void;
}

const running = new AsyncLocalStorage<ErrorOwner>();

/** Runs `work`; everything it starts is attributed to the owner. */
export function runAs<T>(owner: ErrorOwner, work: () => T): T {
  return running.run(owner, work);
}

const events = ['uncaughtException', 'unhandledRejection'] as const;
type Handler = (...args: unknown[]) => void;

/**
 * Runs before the existing handlers of the process: an error of a plugin goes to the plugin, all others to these
 * handlers, or ends the process if there are none. Handlers that are added later also get the errors of plugins, so call it
 * again then; the returned function undoes it.
 */
export function catchUncaughtErrors(owners: () => Iterable<ErrorOwner>): () => void {
  const undo = events.map((event) => {
    const others = process.listeners(event as 'uncaughtException') as unknown as Handler[];
    const mine: Handler = (error, ...rest) => {
      const owner = running.getStore() ?? ownerByStack(error, owners());
      if (owner !== undefined) owner.onUncaughtError(error);
      else if (others.length > 0) for (const other of others) other.call(process, error, ...rest);
      else endProcess(error);
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

/** As Node.js does without a handler: prints the error, exit code 1. */
function endProcess(error: unknown): void {
  for (const event of events) process.removeAllListeners(event);
  setImmediate(() => {
    throw error;
  });
}

/** Without an async context, the stack shows whose code failed. */
function ownerByStack(error: unknown, owners: Iterable<ErrorOwner>): ErrorOwner | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  for (const owner of owners) if (owner.owns(stack)) return owner;
  return undefined;
}
