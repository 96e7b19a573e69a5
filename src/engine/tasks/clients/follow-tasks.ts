// Notifies a subscription of the changes of tasks.

import type { Call } from '../../contract.ts';
import type { TaskFollowers } from './task-followers.ts';
import type { TaskReader } from './task-reader.ts';
import { inTaskTurns } from './task-turns.ts';

/** From the current state of the tasks on. Returns a function that ends it. */
export function followTasks(
  reader: Pick<TaskReader, 'read'>,
  followers: Pick<TaskFollowers, 'subscribe' | 'unsubscribe'>,
  call: Call,
  ids: readonly string[],
): () => void {
  let isOpen = true;
  const follow = async (id: string): Promise<void> => {
    try {
      const record = isOpen ? await reader.read(id) : undefined;
      if (isOpen && record !== undefined) followers.subscribe(record, call);
    } catch (error) {
      call.server.logger?.error('a task could not be followed', { task: id, error });
    }
  };
  // Fails only if the call has ended.
  inTaskTurns(call, ids, follow).catch(() => {});
  return () => {
    isOpen = false;
    for (const id of ids) followers.unsubscribe(id, call);
  };
}
