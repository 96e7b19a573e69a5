// How the record of a task is laid out: a hash, with a field for each part that tasks are found by or that changes often, and one
// for each larger part, so that a change writes only what it changed. tasks.ts reads and writes them.

import { outlineOf } from '../../engine/tasks/store/outcome-summary.ts';
import type { TaskPhase, TaskRecord } from '../../engine/tasks/store/task-store.ts';
import { isObject } from '../../protocol/json-rpc.ts';

/** Larger parts, each as JSON in a field of its own. An absent one has no field. */
const parts = ['arguments', 'context', 'outcome', 'ticket', 'inputs', 'steps'] as const;

/** Names and values alternate. */
export type HashFields = string[];

/** What a new record is stored as. Texts of clients are JSON. */
export function encodeTask(record: TaskRecord): { readonly fields: HashFields; readonly bytes: number } {
  const { fields: larger, bytes } = changedParts(undefined, record);
  const { service, owner, tool, attempt, lease, dueAtMs } = record;
  const fields = [
    ...['service', JSON.stringify(service), 'owner', JSON.stringify(owner), 'tool', JSON.stringify(tool)],
    ...['attempt', String(attempt), 'holder', lease?.holder ?? '', 'until', numberOf(lease?.untilMs)],
    ...['due', numberOf(dueAtMs), 'bytes', String(bytes)],
    ...smallFields(record),
    ...larger,
  ];
  return { fields, bytes };
}

/** The fields that every change writes. */
function smallFields(record: TaskRecord): HashFields {
  const { phase, updatedAtMs, expiresAtMs, version, fence, attempt, dedupeKey, ...others } = record;
  const { service: _s, owner: _o, tool: _t, lease: _l, dueAtMs: _d, arguments: _a, context: _c, ...more } = others;
  // A new small field of the record is part of `state`.
  const { outcome: _outcome, ticket: _ticket, inputs: _inputs, steps: _steps, ...state } = more;
  return [
    ...['phase', phase, 'updated', String(updatedAtMs), 'expires', numberOf(expiresAtMs ?? undefined)],
    ...['version', String(version), 'fence', String(fence), 'attempt', String(attempt)],
    ...['dedupe', dedupeKey === undefined ? '' : dedupeField(record), 'state', JSON.stringify(state)],
    ...(dedupeKey === undefined ? [] : ['dedupeKey', JSON.stringify(dedupeKey)]),
  ];
}

/** The fields that differ after a change, and by how much they have grown. Lease and due time are not among them. */
export function changedFields(
  before: TaskRecord,
  after: TaskRecord,
): { readonly fields: HashFields; readonly bytes: number } {
  const { fields, bytes } = changedParts(before, after);
  return { fields: [...smallFields(after), ...fields], bytes };
}

/** A change keeps the parts that it does not change as the same objects. */
function changedParts(
  before: TaskRecord | undefined,
  after: TaskRecord,
): { readonly fields: HashFields; readonly bytes: number } {
  const fields: HashFields = [];
  let bytes = 0;
  for (const part of parts) {
    const value = after[part];
    if (value === undefined || (before !== undefined && value === before[part])) continue;
    const text = JSON.stringify(value);
    fields.push(part, text);
    bytes += text.length - (before?.[part] === undefined ? 0 : JSON.stringify(before[part]).length);
  }
  return { fields, bytes };
}

/** The record of a hash; undefined for one that is empty. Throws if another program has damaged it. */
export function decodeTask(fields: readonly string[]): TaskRecord | undefined {
  if (fields.length === 0) return undefined;
  const record = recordOf(fields);
  if (isRecord(record)) return record;
  throw new Error('A task in Redis is damaged: another program has changed it');
}

/** The same for lists, which do not show damaged tasks; reading one reports the damage. `isOutline`: some parts were not read. */
export function decodeListed(fields: readonly string[], isOutline = false): TaskRecord | undefined {
  if (fields.length === 0) return undefined;
  try {
    const record = recordOf(fields);
    const shown = isOutline ? outlineOf(record) : record;
    return isRecord(shown) ? shown : undefined;
  } catch {
    return undefined;
  }
}

const phases: readonly unknown[] = ['queued', 'running', 'suspended', 'external', 'ended'] satisfies TaskPhase[];

/** Whether it has what the code that works with records relies on. */
function isRecord({ id, phase, inputs, steps, context, outcome, version, fence }: TaskRecord): boolean {
  return (
    typeof id === 'string' &&
    phases.includes(phase) &&
    [inputs, steps].every((list) => Array.isArray(list) && list.every(isObject)) &&
    isObject(context) &&
    (phase !== 'ended' || isObject(outcome)) &&
    Number.isInteger(version) &&
    Number.isInteger(fence)
  );
}

function recordOf(fields: readonly string[]): TaskRecord {
  const all = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 2) all.set(fields[at] as string, fields[at + 1] as string);
  const text = (name: string): string => all.get(name) ?? '';
  const json = (name: string): unknown => JSON.parse(text(name));
  const [expires, due, holder] = [text('expires'), text('due'), text('holder')];
  return {
    ...(json('state') as object),
    service: json('service'),
    owner: json('owner'),
    tool: json('tool'),
    phase: text('phase'),
    updatedAtMs: Number(text('updated')),
    expiresAtMs: expires === '' ? null : Number(expires),
    version: Number(text('version')),
    fence: Number(text('fence')),
    attempt: Number(text('attempt')),
    ...(all.has('dedupeKey') ? { dedupeKey: json('dedupeKey') } : {}),
    ...(due === '' ? {} : { dueAtMs: Number(due) }),
    ...(holder === '' ? {} : { lease: { holder, untilMs: Number(text('until')) } }),
    ...Object.fromEntries(parts.filter((part) => all.has(part)).map((part) => [part, json(part)])),
  } as TaskRecord;
}

/** Under which unfinished tasks are found by their `dedupeKey`. */
export function dedupeField({ service, owner, tool, dedupeKey }: TaskRecord): string {
  return dedupeKey === undefined ? '' : JSON.stringify([service, owner, tool, dedupeKey]);
}

/** A number as Redis sorts by it; the empty text stands for none. */
export const numberOf = (value: number | undefined): string => (value === undefined ? '' : String(value));
