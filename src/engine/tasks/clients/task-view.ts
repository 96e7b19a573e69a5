// A stored task as clients see it, before a revision encodes it.

import type { ToolResult } from '../../../protocol/model.ts';
import type { EncodedOutcome, TaskView } from '../../../protocol/revisions/tasks.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import { clipMessage, firstText } from '../store/outcome-summary.ts';
import { isOpen } from '../store/task-record.ts';
import type { TaskOutcome, TaskRecord } from '../store/task-store.ts';

/** `tool`: its current definition, if it still exists. `pollMs`: how often to poll. */
export function viewOf(record: TaskRecord, tool: ToolEntry | undefined, pollMs: number): TaskView {
  const { id, createdAtMs, updatedAtMs, expiresAtMs, outcome } = record;
  const statusMessage = messageOf(record);
  return {
    taskId: id,
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt: new Date(createdAtMs).toISOString(),
    lastUpdatedAt: new Date(updatedAtMs).toISOString(),
    // An integer on the wire, also where an option of the tool has a fraction.
    ttlMs: expiresAtMs === null ? null : Math.ceil(expiresAtMs - createdAtMs),
    pollIntervalMs: pollMs,
    inputRequests: openInputs(record),
    outcome: outcome && encodedOutcome(outcome, tool),
  };
}

const none = {};

function openInputs({ inputs, phase }: TaskRecord): TaskView['inputRequests'] {
  if (inputs.length === 0 || phase === 'ended') return none;
  return Object.fromEntries(inputs.filter(isOpen).map(({ key, method, params }) => [key, { method, params }]));
}

function encodedOutcome(outcome: TaskOutcome, tool: ToolEntry | undefined): EncodedOutcome {
  if (outcome.type !== 'result') return outcome;
  return { type: 'result', result: outcome.result as unknown as ToolResult, outputSchema: tool?.output?.json };
}

/** For a failed task, some clients show only this message. */
function messageOf({ outcome, message }: TaskRecord): string | undefined {
  if (outcome === undefined) return message;
  if (outcome.type === 'cancelled') return outcome.reason ?? 'The task was cancelled';
  if (outcome.type === 'error') return clipMessage(outcome.message);
  if (!outcome.isError) return undefined;
  const text = firstText(outcome.result as unknown as ToolResult);
  return text === undefined ? undefined : clipMessage(text);
}
