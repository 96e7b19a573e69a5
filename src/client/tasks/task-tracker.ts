// The tasks that one client follows: creates their handles, passes notifications to them, lists what the server has.

import { maxTimerMs } from '../../common/wait.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import type { JsonObject, ToolResult } from '../../protocol/model.ts';
import type { TaskState } from '../../protocol/task.ts';
import type { OutgoingCall } from '../calls/outgoing-call.ts';
import { clientErrors } from '../errors.ts';
import type { FeatureContext } from '../features/feature-context.ts';
import type { InputResponder } from '../input-requests.ts';
import type { CallOptions } from '../options.ts';
import type { TaskHandle } from '../task-handle.ts';
import { ActiveTask, type TaskSharing } from './active-task.ts';
import { ImmediateResult } from './immediate-result.ts';
import { TaskRequests } from './task-requests.ts';

/** Over HTTP each stream is a connection; tasks beyond this number are only polled. */
const maxStreams = 8;

export class TaskTracker {
  readonly #shared: TaskSharing;

  constructor(context: FeatureContext, inputs: InputResponder) {
    this.#shared = { context, inputs, requests: new TaskRequests(context), followed: new Map(), streams: maxStreams };
  }

  /** Throws unless the server declares tasks. */
  requireTasks(): void {
    this.#shared.requests.require();
  }

  /** The task that a call has become. */
  adopt(created: JsonObject, call: OutgoingCall): ActiveTask {
    const state = this.#shared.requests.created(created);
    return new ActiveTask(this.#shared, { state }, (result) => call.decode(result));
  }

  async attach(id: string, decode: (result: JsonObject) => unknown, { signal }: CallOptions): Promise<TaskHandle> {
    const { requests } = this.#shared;
    requests.require();
    return new ActiveTask(this.#shared, await requests.get(id, signal), decode);
  }

  /** The handle of a started call, also if the server returned its result at once. */
  toHandle(started: ActiveTask | ToolResult): TaskHandle {
    return started instanceof ActiveTask ? started : new ImmediateResult(started);
  }

  async list(options: CallOptions): Promise<TaskState[]> {
    const { requests, context } = this.#shared;
    requests.require('list');
    const tasks: TaskState[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await requests.page(cursor, options);
      for (const each of page.items) tasks.push(each);
      cursor = page.nextCursor;
      if (cursor !== undefined && seen.has(cursor)) {
        throw clientErrors.invalidResult('tasks/list', 'its cursors repeat');
      }
      if (seen.size >= context.limits.maxPages) {
        throw clientErrors.invalidResult('tasks/list', `it has more than ${context.limits.maxPages} pages`);
      }
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return tasks;
  }

  /** Passes a notification to the handles of its task; false if there is none. */
  notified(params: JsonObject): boolean {
    const { followed, requests } = this.#shared;
    const { taskId } = isObject(params) ? params : {};
    const tasks = typeof taskId === 'string' ? followed.get(taskId) : undefined;
    const task = tasks === undefined ? undefined : requests.notified(params);
    if (task !== undefined) for (const each of tasks ?? []) each.notified(task);
    return tasks !== undefined;
  }

  /** The client was closed: nothing is followed any more. The tasks continue. */
  close(): void {
    const { followed, context } = this.#shared;
    const error = clientErrors.closed(context.latest.transport.address);
    for (const tasks of [...followed.values()]) for (const each of [...tasks]) each.end(error);
  }

  /** Cancels a task whose call has failed already. */
  cancel(task: TaskHandle): void {
    task.cancel().catch((error: unknown) => {
      this.#shared.context.logger.warn('a task could not be cancelled', { task: task.id, error });
    });
  }

  /** Runs something after a time; the returned function prevents it. */
  after(ms: number, run: () => void): () => void {
    if (ms > maxTimerMs) return () => {};
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  }
}
