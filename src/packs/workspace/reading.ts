// How many files are being read at a time, for resources and tools together.

import type { Context } from '../../engine/context.ts';
import { callerKey } from '../../protocol/caller-budget.ts';
import { CallerTurns } from '../../protocol/caller-turns.ts';

/**
 * Files being read at a time, by all callers and by each: a file is in memory while it is read, and becomes a response in
 * one go; two of the largest in one turn of the event loop would delay all others by 100 ms. Stops hundreds of
 * simultaneous reads from filling the memory and blocking all other callers.
 */
const reading = new CallerTurns(8, 1);

/** Reads when it is the turn of the caller. */
export const inReadingTurn = <T>({ principal, signal }: Context, read: () => Promise<T>): Promise<T> =>
  reading.run(callerKey({ principal }), signal, read);
