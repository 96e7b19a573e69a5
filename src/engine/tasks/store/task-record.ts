// What each change does to the record of a task. Pure, so that every store gives the same result.

import type { Principal } from '../../../protocol/exchange.ts';
import type { Caller } from '../../ports.ts';
import { summaryOf } from './outcome-summary.ts';
import type { TaskChange, TaskGuard, TaskInput, TaskRecord } from './task-store.ts';

/** The record after the changes, or `conflict` if the guard does not hold or the task has ended. */
export function changeRecord(
  record: TaskRecord,
  guard: TaskGuard,
  changes: readonly TaskChange[],
  nowMs: number,
): TaskRecord | 'conflict' {
  if (record.phase === 'ended') return 'conflict';
  if (guard.version !== undefined && guard.version !== record.version) return 'conflict';
  if (guard.fence !== undefined && guard.fence !== record.fence) return 'conflict';
  const changed = changes.reduce((each, change) => applyChange(each, change, nowMs), record);
  return { ...changed, updatedAtMs: nowMs, version: record.version + 1 };
}

function applyChange(record: TaskRecord, change: TaskChange, nowMs: number): TaskRecord {
  switch (change.type) {
    case 'request-input':
      return { ...record, inputs: [...record.inputs, ...change.inputs.filter(({ key }) => !has(record.inputs, key))] };
    case 'answer-input':
      return wakeIfAnswered(
        {
          ...record,
          inputs: record.inputs.map((input) =>
            input.key === change.key && isOpen(input)
              ? { ...input, response: change.response, answeredAtMs: nowMs }
              : input,
          ),
        },
        nowMs,
      );
    case 'cancel-inputs': {
      const { keys, byHandler } = change;
      const cancelled = { cancelled: true as const, ...(byHandler && { byHandler }) };
      return wakeIfAnswered(
        {
          ...record,
          inputs: record.inputs.map((input) =>
            keys.includes(input.key) && isOpen(input) ? { ...input, ...cancelled } : input,
          ),
        },
        nowMs,
      );
    }
    case 'start-step':
      return { ...record, steps: [...record.steps, { key: change.key, state: 'started' }] };
    case 'finish-step': {
      const others = record.steps.filter(({ key }) => key !== change.key);
      return { ...record, steps: [...others, { key: change.key, state: 'done', value: change.value }] };
    }
    case 'set-message':
      return { ...record, message: change.message };
    case 'extend':
      return { ...record, expiresAtMs: change.expiresAtMs };
    case 'suspend': {
      const { lease: _lease, dueAtMs: _due, ...rest } = record;
      const suspended = { ...rest, phase: 'suspended', ...handedBack(record), ...due(change.dueAtMs) } as const;
      return wakeIfAnswered(suspended, nowMs);
    }
    case 'release': {
      const { lease: _lease, ...rest } = record;
      return { ...rest, phase: 'queued', ...handedBack(record), dueAtMs: change.dueAtMs };
    }
    case 'hand-over': {
      const { lease: _lease, dueAtMs: _due, ...rest } = record;
      const { ticket } = change;
      return { ...rest, phase: 'external', fence: record.fence + 1, ticket, ...due(change.dueAtMs) };
    }
    case 'request-cancel':
      return record.cancelRequestedAtMs === undefined ? { ...record, cancelRequestedAtMs: nowMs } : record;
    case 'end': {
      const { lease: _lease, dueAtMs: _due, ...rest } = record;
      const { outcome, expiresAtMs, summary = summaryOf(outcome) } = change;
      const inputs = record.inputs.map((input) => (isOpen(input) ? { ...input, cancelled: true as const } : input));
      const end = { phase: 'ended', fence: record.fence + 1, endedAtMs: nowMs, expiresAtMs } as const;
      return { ...rest, ...end, inputs, outcome, summary };
    }
  }
}

/** The record in the hands of a process that claimed it. */
export function claimRecord(record: TaskRecord, holder: string, leaseMs: number, nowMs: number): TaskRecord {
  const untilMs = nowMs + leaseMs;
  return {
    ...record,
    phase: record.phase === 'external' ? 'external' : 'running',
    attempt: record.attempt + (record.phase === 'external' ? 0 : 1),
    fence: record.fence + 1,
    version: record.version + 1,
    updatedAtMs: nowMs,
    lease: { holder, untilMs },
    dueAtMs: untilMs,
  };
}

/** A run that the process itself ended does not count as an attempt. */
function handedBack({ fence, attempt }: TaskRecord): Pick<TaskRecord, 'fence' | 'attempt'> {
  return { fence: fence + 1, attempt: Math.max(0, attempt - 1) };
}

/** The caller that created a task. */
export function callerOfTask({ context: { principal, sessionKey } }: TaskRecord): Caller {
  return {
    principal: principal as unknown as Principal | undefined,
    session: sessionKey === undefined ? undefined : { key: sessionKey },
  };
}

/** Whether an input request waits for its response. */
export function isOpen(input: TaskInput): boolean {
  return input.answeredAtMs === undefined && input.cancelled === undefined;
}

/** A suspended task runs again as soon as nothing is open. */
function wakeIfAnswered(record: TaskRecord, nowMs: number): TaskRecord {
  if (record.phase !== 'suspended' || record.inputs.some(isOpen)) return record;
  return { ...record, phase: 'queued', dueAtMs: nowMs };
}

const has = (inputs: readonly TaskInput[], key: string): boolean => inputs.some((input) => input.key === key);

const due = (dueAtMs: number | undefined): { readonly dueAtMs?: number } => (dueAtMs === undefined ? {} : { dueAtMs });
