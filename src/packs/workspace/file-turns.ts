// How many calls work with files at a time, for resources and tools together.

import type { Context } from '../../engine/context.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';

/**
 * Calls at a time, of all callers and of each: what a call has read is in memory until it is the response, and becomes one
 * in one go; two of the largest files in one turn of the event loop would delay all others by 100 ms. Stops hundreds of
 * simultaneous reads, lists and searches from filling the memory and blocking all other callers.
 */
const turns = new CallerTurns(8, 1);

/** Searches may take long, and must not delay the other calls of their caller. */
const searches = new CallerTurns(8, 2);

/** Does the work when it is the turn of the caller. One call takes one turn: within it there must be no second one. */
export type FileTurn = <T>(ctx: Context, work: () => Promise<T>) => Promise<T>;

export const inFileTurn: FileTurn = ({ principal, signal }, work) => turns.run(callerKey({ principal }), signal, work);

export const inSearchTurn: FileTurn = ({ principal, signal }, work) =>
  searches.run(callerKey({ principal }), signal, work);
