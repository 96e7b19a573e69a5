// How a client decodes tasks: 2025-11-25 (the client requests a task, and gets its result by a request) and the extension
// io.modelcontextprotocol/tasks of 2026-07-28 (the server decides, and the result is part of the task). Loaded with the
// first task.

import { isErrorObject, isObject, type JsonRpcErrorObject } from '../json-rpc.ts';
import type { Capabilities, JsonObject } from '../model.ts';
import type { TaskState, TaskStatus } from '../task.ts';
import type { TaskDialect, WireInputRequest } from './client-codec.ts';
import { readInputRequests } from './client-stateless.ts';
import { tasksExtension } from './extensions.ts';

/** A task with what its status adds. */
export interface DecodedTask {
  readonly state: TaskState;
  /** `input_required`, where input requests are part of the task. */
  readonly inputRequests?: Readonly<Record<string, WireInputRequest>>;
  /** `completed`, where the result is part of the task. */
  readonly result?: JsonObject;
  /** `failed`, likewise. */
  readonly error?: JsonRpcErrorObject;
}

const statuses: readonly unknown[] = [
  'working',
  'input_required',
  'completed',
  'failed',
  'cancelled',
] satisfies TaskStatus[];

/** The names of the fields that differ. */
const fieldNames = {
  requested: { ttl: 'ttl', pollInterval: 'pollInterval' },
  'server-directed': { ttl: 'ttlMs', pollInterval: 'pollIntervalMs' },
} as const;

/** Decodes the result that creates a task; a string says what is wrong with it. */
export function decodeCreatedTask(result: JsonObject, dialect: TaskDialect): TaskState | string {
  const fields = dialect === 'requested' ? result['task'] : result;
  return isObject(fields) ? decodeState(fields, dialect) : '"task" is not an object';
}

/** Decodes what `tasks/get` returns, or the params of a notification; a string says what is wrong with it. */
export function decodeTask(fields: JsonObject, dialect: TaskDialect): DecodedTask | string {
  const state = decodeState(fields, dialect);
  if (typeof state === 'string') return state;
  if (dialect === 'requested') return { state };
  const { inputRequests, result, error } = fields;
  switch (state.status) {
    case 'input_required': {
      const requests = isObject(inputRequests) ? readInputRequests(inputRequests) : 'inputRequests is not an object';
      return typeof requests === 'string' ? requests : { state, inputRequests: requests };
    }
    case 'completed':
      return isObject(result) ? { state, result } : 'the status is completed, but "result" is not an object';
    case 'failed':
      return isErrorObject(error) ? { state, error } : 'the status is failed, but "error" has no code and message';
    default:
      return { state };
  }
}

/** Decodes a page of `tasks/list`; a string says what is wrong with it. */
export function decodeTaskPage(
  result: JsonObject,
  dialect: TaskDialect,
): { readonly items: readonly TaskState[]; readonly nextCursor?: string } | string {
  const { tasks, nextCursor } = result;
  if (!Array.isArray(tasks)) return '"tasks" is not an array';
  const items: TaskState[] = [];
  for (const each of tasks as unknown[]) {
    const state = isObject(each) ? decodeState(each, dialect) : 'an item of "tasks" is not an object';
    if (typeof state === 'string') return state;
    items.push(state);
  }
  return typeof nextCursor === 'string' ? { items, nextCursor } : { items };
}

/** Whether a server declares tasks, or a method of them. */
export function offersTasks(capabilities: Capabilities, dialect: TaskDialect, what?: 'list' | 'cancel'): boolean {
  if (dialect === 'server-directed') {
    const { extensions } = capabilities;
    return what !== 'list' && isObject(extensions) && isObject(extensions[tasksExtension]);
  }
  const { tasks } = capabilities;
  return isObject(tasks) && (what === undefined || isObject(tasks[what]));
}

function decodeState(fields: JsonObject, dialect: TaskDialect): TaskState | string {
  const names = fieldNames[dialect];
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt } = fields;
  const { [names.ttl]: ttlMs, [names.pollInterval]: pollIntervalMs } = fields;
  if (typeof taskId !== 'string' || taskId === '') return '"taskId" is not a string';
  if (!statuses.includes(status)) return `the status ${JSON.stringify(status)} is not known`;
  if (typeof createdAt !== 'string' || typeof lastUpdatedAt !== 'string') {
    return '"createdAt" and "lastUpdatedAt" must be strings';
  }
  if (ttlMs !== null && typeof ttlMs !== 'number') return `"${names.ttl}" is neither a number nor null`;
  if (pollIntervalMs !== undefined && typeof pollIntervalMs !== 'number') {
    return `"${names.pollInterval}" is not a number`;
  }
  return {
    taskId,
    status: status as TaskStatus,
    ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
    createdAt,
    lastUpdatedAt,
    ttlMs,
    ...(pollIntervalMs === undefined ? {} : { pollIntervalMs }),
  };
}
