// How many tasks are being read at a time for requests.

import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../../protocol/callers/caller-turns.ts';
import type { Call } from '../../contract.ts';

/**
 * Reads at a time, for all callers and for each: a task with its arguments and result may have megabytes. Stops hundreds of
 * requests, or one that names hundreds of tasks, from having all of them in memory, and from blocking other callers.
 */
const turns = new CallerTurns(16, 4);

/** Reads when it is the turn of the caller. */
export const inTaskTurn = <T>(call: Call, read: () => T | Promise<T>): T | Promise<T> =>
  turns.runInline(callerKey(call.peer), call, read);
