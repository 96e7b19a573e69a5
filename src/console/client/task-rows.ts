// The tasks of a server as the page shows them.

import { isOpen } from '../../engine/tasks/store/task-record.ts';
import type { TaskRecord } from '../../engine/tasks/store/task-store.ts';
import type { TaskRow } from '../api.ts';
import type { Capture } from '../feed/capture.ts';

/** Without arguments: they are in the timeline, and may be large. */
export function taskRow(record: TaskRecord, capture: Capture): TaskRow {
  const { id, tool, owner, message, attempt, createdAtMs, updatedAtMs, expiresAtMs, steps, inputs, outcome } = record;
  return {
    id,
    tool,
    status: statusOf(record),
    ...(message === undefined ? {} : { message: capture.text(message).text }),
    // The owner key starts with the issuer.
    ...(owner === '' ? {} : { owner: owner.slice(owner.indexOf('\u0000') + 1) }),
    attempt,
    createdAt: new Date(createdAtMs).toISOString(),
    updatedAt: new Date(updatedAtMs).toISOString(),
    ttlMs: expiresAtMs === null ? null : expiresAtMs - createdAtMs,
    steps: steps.map(({ key, state }) => (state === 'done' ? key : `${key} (started)`)),
    inputs: inputs.map((input) => ({ key: input.key, method: input.method, open: isOpen(input) })),
    ...(outcome === undefined ? {} : { outcomeText: capture.message(outcome, undefined).text }),
  };
}

/** The status that clients see. */
function statusOf({ outcome, inputs, phase }: TaskRecord): string {
  if (outcome === undefined) return phase !== 'ended' && inputs.some(isOpen) ? 'input_required' : 'working';
  if (outcome.type === 'cancelled') return 'cancelled';
  return outcome.type === 'error' ? 'failed' : 'completed';
}
