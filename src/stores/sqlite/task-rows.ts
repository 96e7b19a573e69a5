// How the record of a task is laid out: a small row with what tasks are found by and what changes often, and a row for
// each larger part, so that a change writes only what it changed. tasks.ts reads and writes them.

import type { TaskInput, TaskRecord, TaskStep } from '../../engine/tasks/store/task-store.ts';
import { taskChecksum, taskPartChecksum } from './checksum.ts';
import type { SqlRow, SqlValue } from './driver.ts';

/** The columns of `tasks` that a record is made of. Texts of clients are JSON, as in the other tables. */
export const taskColumns = [
  ...(['id', 'service', 'owner', 'tool', 'dedupe', 'phase', 'created', 'updated', 'expires', 'due'] as const),
  ...(['holder', 'lease_until', 'version', 'fence', 'state', 'checksum'] as const),
];

export type TaskSqlRow = Readonly<Record<(typeof taskColumns)[number], SqlValue>>;

/** A part of a record in `task_parts`. Inputs and steps are numbered by `position`; of the others there is one. */
export interface TaskPart {
  readonly kind: 'arguments' | 'context' | 'outcome' | 'ticket' | 'input' | 'step';
  readonly position: number;
  /** JSON. */
  readonly value: string;
}

export function encodeTask(record: TaskRecord): TaskSqlRow {
  const { id, service, owner, tool, phase, createdAtMs, updatedAtMs, expiresAtMs, version, fence, ...others } = record;
  const { dedupeKey, dueAtMs, lease, arguments: _arguments, context: _c, inputs: _i, steps: _s, ...more } = others;
  // A new small field of the record is part of `state` and needs no column.
  const { outcome: _outcome, ticket: _ticket, ...state } = more;
  const row = {
    id,
    service: JSON.stringify(service),
    owner: JSON.stringify(owner),
    tool: JSON.stringify(tool),
    dedupe: dedupeKey === undefined ? null : JSON.stringify(dedupeKey),
    phase,
    created: createdAtMs,
    updated: updatedAtMs,
    expires: expiresAtMs,
    due: dueAtMs ?? null,
    holder: lease?.holder ?? null,
    lease_until: lease?.untilMs ?? null,
    version,
    fence,
    state: JSON.stringify(state),
  };
  return { ...row, checksum: taskChecksum(row) };
}

/**
 * The record of a row and its parts; undefined when one of them is missing or does not match its checksum. `isOutline`: arguments and
 * context were not read.
 */
export function decodeTask(row: SqlRow, parts: readonly SqlRow[], isOutline = false): TaskRecord | undefined {
  if (taskChecksum(row) !== row['checksum'] || parts.some((part) => taskPartChecksum(part) !== part['checksum'])) {
    return undefined;
  }
  const all = <T>(kind: TaskPart['kind']): T[] =>
    parts.filter((part) => part['kind'] === kind).map((part) => JSON.parse(part['value'] as string));
  const [given, context, outcome, ticket] = [all('arguments'), all('context'), all('outcome'), all('ticket')];
  if (!isOutline && (given.length === 0 || context.length === 0)) return undefined;
  const { dedupe, expires, due, holder } = row;
  return {
    ...JSON.parse(row['state'] as string),
    id: row['id'],
    service: JSON.parse(row['service'] as string),
    owner: JSON.parse(row['owner'] as string),
    tool: JSON.parse(row['tool'] as string),
    phase: row['phase'],
    createdAtMs: Number(row['created']),
    updatedAtMs: Number(row['updated']),
    expiresAtMs: expires === null ? null : Number(expires),
    version: Number(row['version']),
    fence: Number(row['fence']),
    ...(dedupe === null ? {} : { dedupeKey: JSON.parse(dedupe as string) }),
    ...(due === null ? {} : { dueAtMs: Number(due) }),
    ...(holder === null ? {} : { lease: { holder, untilMs: Number(row['lease_until']) } }),
    arguments: given[0],
    context: context[0],
    inputs: all<TaskInput>('input'),
    steps: all<TaskStep>('step'),
    ...(outcome.length === 0 ? {} : { outcome: outcome[0] }),
    ...(ticket.length === 0 ? {} : { ticket: ticket[0] }),
  };
}

/** The parts that differ from those of the record before; a change keeps the others as the same objects. */
export function changedParts(before: TaskRecord | undefined, after: TaskRecord): TaskPart[] {
  const parts: TaskPart[] = [];
  const add = (kind: TaskPart['kind'], position: number, old: unknown, value: unknown): void => {
    if (value !== undefined && value !== old) parts.push({ kind, position, value: JSON.stringify(value) });
  };
  for (const kind of ['arguments', 'context', 'outcome', 'ticket'] as const) {
    // Null is a value like any other, so a new record has all its parts.
    add(kind, 0, before === undefined ? undefined : before[kind], after[kind]);
  }
  for (const [position, input] of after.inputs.entries()) add('input', position, before?.inputs[position], input);
  for (const [position, step] of after.steps.entries()) add('step', position, before?.steps[position], step);
  return parts;
}
