// How many calls use remote services at a time, for all packs together.

import type { Context } from '../../engine/context.ts';
import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../protocol/callers/caller-turns.ts';

/**
 * Calls at a time, of all callers and of each: a response is in memory until it is decoded, which takes up to a few hundred
 * milliseconds. Stops hundreds of simultaneous searches from filling the memory and blocking all other callers.
 */
const turns = new CallerTurns(8, 4);

/** Does the work when it is the turn of the caller. */
export const inServiceTurn = <T>({ principal, signal }: Context, work: () => Promise<T>): Promise<T> =>
  turns.run(callerKey({ principal }), signal, work);
