// The lines about tasks: who created, answered and cancelled them, and how they ended. A task outlives its call, so the line
// of the call does not say this. Contents are not recorded: arguments are in the line of the call.

import type { TaskEvent } from '../../engine/ports.ts';
import { isOpen } from '../../engine/tasks/store/task-record.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import type { AuditRecord } from './contract.ts';

/** The changes that have a line. Messages, steps and changes of the process that runs a task have none. */
const recorded: ReadonlySet<TaskEvent['type']> = new Set([
  'created',
  'input-requested',
  'input-answered',
  'cancel-requested',
  'recovered',
  'ended',
]);

/** The line of a change; undefined if it has none. */
export function taskLine({ type, task, key, peer }: TaskEvent): AuditRecord | undefined {
  if (!recorded.has(type)) return undefined;
  const { id, tool, attempt, createdAtMs, endedAtMs, outcome, inputs } = task;
  // Without a caller it is the server that acts, for the caller who created the task.
  const principal = peer === undefined ? (task.context.principal as Principal | undefined) : peer.principal;
  const isEnd = type === 'ended' && outcome !== undefined;
  return {
    event: 'task',
    ctx: { principal, session: undefined },
    details: {
      change: type,
      task: id,
      tool,
      ...(key === undefined ? {} : { key }),
      ...(type === 'input-requested' ? { keys: inputs.filter(isOpen).map((input) => input.key) } : {}),
      ...(type === 'recovered' ? { attempt } : {}),
      ...(isEnd && outcome.type === 'error' ? { code: outcome.code, ...reasonOf(outcome.data) } : {}),
      by: peer === undefined ? 'server' : 'caller',
    },
    ...(isEnd ? { outcome: outcomeOf(outcome), durationMs: (endedAtMs ?? createdAtMs) - createdAtMs } : {}),
  };
}

/** Why the server ended it, such as `interrupted`. Other data may be of the tool, and is not recorded. */
function reasonOf(data: unknown): { readonly reason?: string } {
  const reason = (data as { reason?: unknown } | null | undefined)?.reason;
  return typeof reason === 'string' && /^[a-z-]{1,30}$/.test(reason) ? { reason } : {};
}

/** In the words of calls. */
function outcomeOf(outcome: NonNullable<TaskEvent['task']['outcome']>): string {
  switch (outcome.type) {
    case 'result':
      return outcome.isError ? 'failed' : 'ok';
    case 'error':
      return 'rejected';
    case 'cancelled':
      return 'cancelled';
  }
}
