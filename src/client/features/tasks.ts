// Tasks: calls that continue without the request that started them. What follows them is in ../tasks/ and is loaded with
// the first task, so that other clients do not pay for it.

import type { JsonObject } from '../../protocol/model.ts';
import type { TaskState } from '../../protocol/task.ts';
import type { OutgoingCall } from '../calls/outgoing-call.ts';
import { ClientError, clientErrors } from '../errors.ts';
import type { InputResponder } from '../input-requests.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { CallOptions, StartTaskOptions, ToolCallOptions } from '../options.ts';
import type { TaskHandle } from '../task-handle.ts';
import type { TaskTracker } from '../tasks/task-tracker.ts';
import type { FeatureContext } from './feature-context.ts';
import { requireArguments } from './method-arguments.ts';
import { type Tools, toToolResult } from './tools.ts';

/** Failures after which nothing would answer the task any more, so that it is cancelled. */
const inputFailures: readonly unknown[] = ['input-unavailable', 'input-declined'];

/** Calls that outlive their request, and their connection. */
export interface ClientTasks {
  /**
   * Calls a tool as a task and returns without waiting for its result. On 2026-07-28 the server decides whether there is a
   * task: it may also return the result at once.
   *
   * @example
   * const task = await client.tasks.start('render', { scene: 'harbour' });
   * console.log(task.id, await task.wait());
   */
  start(name: string, args?: JsonObject, options?: StartTaskOptions): Promise<TaskHandle>;
  /** A task that was started before, maybe by another process. Rejects with code `task-gone` if there is none. */
  attach(id: string, options?: CallOptions): Promise<TaskHandle>;
  /** The tasks of this user, on revisions and servers that list them (2025-11-25). */
  list(options?: CallOptions): Promise<TaskState[]>;
}

/** The tasks of one client. */
export class Tasks implements ClientTasks {
  readonly #context: FeatureContext;
  readonly #inputs: InputResponder;
  readonly #tools: Tools;
  #loading: Promise<TaskTracker> | undefined;
  #loaded: TaskTracker | undefined;

  constructor(context: FeatureContext, inputs: InputResponder, tools: Tools) {
    this.#context = context;
    this.#inputs = inputs;
    this.#tools = tools;
  }

  async start(name: string, args?: JsonObject, options: StartTaskOptions = {}): Promise<TaskHandle> {
    requireArguments('tasks.start', name, args);
    assertCallOptions('tasks.start', options, 'startTask');
    const tracker = await this.#load();
    tracker.requireTasks();
    const started = await this.#tools.start(name, args, options, (call, created) => tracker.adopt(created, call));
    return tracker.toHandle(started);
  }

  async attach(id: string, options: CallOptions = {}): Promise<TaskHandle> {
    assertCallOptions('tasks.attach', options);
    return (await this.#load()).attach(id, toToolResult, options);
  }

  async list(options: CallOptions = {}): Promise<TaskState[]> {
    assertCallOptions('tasks.list', options);
    return (await this.#load()).list(options);
  }

  /** Waits for the task that a call has become. Aborting the call cancels the task. */
  async finish(call: OutgoingCall, created: JsonObject): Promise<unknown> {
    const endProgress = call.progressToken === 0 ? undefined : call.connection?.keepProgress(call);
    try {
      const tracker = await this.#load();
      return await this.#waitFor(tracker.adopt(created, call), call, tracker);
    } finally {
      endProgress?.();
    }
  }

  async #waitFor(task: TaskHandle, call: OutgoingCall, tracker: TaskTracker): Promise<unknown> {
    const options: ToolCallOptions = call.options;
    const { signal, maxTimeoutMs } = options;
    const stopping = new AbortController();
    const stop = (): void => stopping.abort(clientErrors.cancelled(call.method, signal?.reason));
    if (signal?.aborted) stop();
    signal?.addEventListener('abort', stop, { once: true });
    // The limits of the client are for requests; a task may take longer, unless this call has a limit of its own.
    const endTimer =
      maxTimeoutMs === undefined
        ? undefined
        : tracker.after(maxTimeoutMs, () => stopping.abort(clientErrors.timeout(call.method, maxTimeoutMs, '')));
    try {
      options.onTask?.(task);
      return await task.wait({ signal: stopping.signal });
    } catch (error) {
      const { aborted } = stopping.signal;
      if (aborted || (error instanceof ClientError && inputFailures.includes(error.code))) tracker.cancel(task);
      throw aborted ? stopping.signal.reason : error;
    } finally {
      endTimer?.();
      signal?.removeEventListener('abort', stop);
    }
  }

  /** Passes a notification to the task it is about; false if there is none. */
  notified(params: JsonObject): boolean {
    return this.#loaded?.notified(params) === true;
  }

  close(): void {
    this.#loaded?.close();
  }

  #load(): Promise<TaskTracker> {
    this.#loading ??= import('../tasks/task-tracker.ts').then(({ TaskTracker }) => {
      this.#loaded = new TaskTracker(this.#context, this.#inputs);
      return this.#loaded;
    });
    return this.#loading;
  }
}
