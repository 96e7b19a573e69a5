// How many tasks are being read at a time for requests.

import type { Awaitable } from '../../../common/awaitable.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { CallerTurns } from '../../../protocol/callers/caller-turns.ts';
import type { Call } from '../../contract.ts';

/**
 * Reads at a time, for all callers and for each: a task with its arguments and result may have megabytes. Stops hundreds of
 * requests, or one that names hundreds of tasks, from having all of them in memory, and from blocking other callers.
 */
const maxReads = 4;
const turns = new CallerTurns(16, maxReads);

/** Reads when it is the turn of the caller. */
export const inTaskTurn = <T>(call: Call, read: () => Awaitable<T>): Awaitable<T> =>
  turns.runInline(callerKey(call.peer), call, read);

/** Reads several tasks. Those that would have to wait are not started: each would listen to the signal of the call. */
export async function inTaskTurns<T>(
  call: Call,
  ids: readonly string[],
  read: (id: string) => Awaitable<T>,
): Promise<T[]> {
  const results: T[] = [];
  const remaining = ids.entries();
  const readNext = async (): Promise<void> => {
    for (const [at, id] of remaining) results[at] = await inTaskTurn(call, () => read(id));
  };
  await Promise.all(Array.from({ length: maxReads }, readNext));
  return results;
}
