// How a server encodes tasks: 2025-11-25 (the client requests a task, and gets its result by tasks/result) and the extension
// io.modelcontextprotocol/tasks of 2026-07-28 (the server decides, and the result is part of the task). Loaded with the
// first tool that runs as a task.

import { isObject, notificationText, requestText } from '../json-rpc.ts';
import { metaKeys } from '../meta.ts';
import type { JsonObject, LogLevel, ProgressToken, RequestId, ToolResult } from '../model.ts';
import type { TaskState, TaskStatus } from '../task.ts';
import type { Codec } from './codec.ts';
import { tasksExtension } from './extensions.ts';

/** How a task ended, independent of revisions. */
export type EncodedOutcome =
  | { readonly type: 'result'; readonly result: ToolResult; readonly outputSchema: JsonObject | undefined }
  | { readonly type: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly type: 'cancelled' };

/** A task before it is encoded. Its status depends on the revision once it has ended. */
export interface TaskView extends Omit<TaskState, 'status'> {
  /** Input requests without a response, by key. */
  readonly inputRequests: { readonly [key: string]: { readonly method: string; readonly params: unknown } };
  readonly outcome: EncodedOutcome | undefined;
}

/** What a client must declare before it can be answered with a task. */
export const requiredForTasks = { extensions: { [tasksExtension]: {} } } as const;

/** The status on a revision: 2025-11-25 counts results that report an error as failed, the extension as completed. */
export function taskStatus({ inputRequests, outcome }: TaskView, codec: Codec): TaskStatus {
  if (outcome === undefined) return Object.keys(inputRequests).length > 0 ? 'input_required' : 'working';
  if (outcome.type === 'cancelled') return 'cancelled';
  if (outcome.type === 'error') return 'failed';
  return outcome.result.isError === true && codec.dialect.tasks === 'requested' ? 'failed' : 'completed';
}

/** The members that all messages about a task share. */
function stateOf(task: TaskView, codec: Codec): JsonObject {
  const { taskId, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = task;
  const isRequested = codec.dialect.tasks === 'requested';
  return {
    taskId,
    status: taskStatus(task, codec),
    ...(statusMessage === undefined ? {} : { statusMessage }),
    createdAt,
    lastUpdatedAt,
    ...(isRequested ? { ttl: ttlMs, pollInterval: pollIntervalMs } : { ttlMs, pollIntervalMs }),
  };
}

/** The result of a call that became a task. */
export function encodeCreatedTask(task: TaskView, codec: Codec): string {
  const state = stateOf(task, codec);
  if (codec.dialect.tasks === 'requested') return codec.result(`"task":${JSON.stringify(state)}`);
  return codec.result(JSON.stringify({ resultType: 'task', ...state }).slice(1, -1));
}

/** The result of `tasks/get`, and of `tasks/cancel` where that returns the task. */
export function encodeTask(task: TaskView, codec: Codec): string {
  return codec.result(members(task, codec));
}

/** The members of a task as JSON without braces, with what its status adds. */
function members(task: TaskView, codec: Codec): string {
  const state = JSON.stringify(stateOf(task, codec)).slice(1, -1);
  const { outcome, inputRequests } = task;
  if (codec.dialect.tasks === 'requested') return state;
  if (outcome === undefined) {
    return Object.keys(inputRequests).length === 0
      ? state
      : `${state},"inputRequests":${JSON.stringify(inputRequests)}`;
  }
  if (outcome.type === 'cancelled') return state;
  if (outcome.type === 'result') return `${state},"result":${codec.toolResult(outcome.result, outcome.outputSchema)}`;
  const { type: _type, ...error } = outcome;
  return `${state},"error":${JSON.stringify(error)}`;
}

export function encodeTaskList(tasks: readonly TaskView[], nextCursor: string | undefined, codec: Codec): string {
  const list = JSON.stringify(tasks.map((task) => stateOf(task, codec)));
  return codec.result(
    `"tasks":${list}${nextCursor === undefined ? '' : `,"nextCursor":${JSON.stringify(nextCursor)}`}`,
  );
}

/** The result of `tasks/result`. */
export function encodeTaskResult(
  taskId: string,
  { result, outputSchema }: EncodedOutcome & { readonly type: 'result' },
  codec: Codec,
): string {
  return codec.toolResult({ ...result, _meta: { ...result._meta, ...related(taskId) } }, outputSchema);
}

/** Notifies of a change. `subscription`: the listen request that it belongs to, on revisions that have one. */
export function taskNotification(task: TaskView, codec: Codec, subscription?: RequestId): string {
  if (subscription === undefined) return notificationText('notifications/tasks/status', stateOf(task, codec));
  const meta = JSON.stringify({ [metaKeys.subscriptionId]: subscription });
  return `{"jsonrpc":"2.0","method":"notifications/tasks","params":{${members(task, codec)},"_meta":${meta}}}`;
}

/** An input request of a task that is sent as a request. */
export function taskInputRequest(taskId: string, id: string, method: string, params: JsonObject): string {
  const { _meta } = params;
  return requestText(id, method, { ...params, _meta: { ...(isObject(_meta) ? _meta : {}), ...related(taskId) } });
}

export function taskProgress(
  taskId: string,
  progressToken: ProgressToken,
  progress: number,
  total: number | undefined,
  message: string | undefined,
): string {
  return notificationText('notifications/progress', {
    progressToken,
    progress,
    ...(total === undefined ? {} : { total }),
    ...(message === undefined ? {} : { message }),
    _meta: related(taskId),
  });
}

export function taskLog(taskId: string, level: LogLevel, logger: string | undefined, data: unknown): string {
  const name = logger === undefined ? {} : { logger };
  return notificationText('notifications/message', { level, ...name, data, _meta: related(taskId) });
}

/** Says to which task a message belongs. */
function related(taskId: string): JsonObject {
  return { [metaKeys.relatedTask]: { taskId } };
}
