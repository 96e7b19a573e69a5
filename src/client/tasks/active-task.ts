// One task that a client follows: polls it, listens for changes, handles its input requests and returns its result, in
// both dialects.

import { unlessAborted } from '../../common/wait.ts';
import type { JsonObject, ToolResult } from '../../protocol/model.ts';
import type { DecodedTask } from '../../protocol/revisions/client-tasks.ts';
import { hasEnded, type TaskStatus } from '../../protocol/task.ts';
import { clientErrors } from '../errors.ts';
import type { FeatureContext } from '../features/feature-context.ts';
import type { InputResponder } from '../input-requests.ts';
import { assertCallOptions } from '../known-call-options.ts';
import type { TaskHandle, TaskInfo } from '../task-handle.ts';
import { maxPollMs, pollPauseMs } from './poll-interval.ts';
import { TaskInputs } from './task-inputs.ts';
import { TaskPause } from './task-pause.ts';
import type { TaskRequests } from './task-requests.ts';
import { TaskResult } from './task-result.ts';
import { listenToTask } from './task-stream.ts';

/** A task that takes longer than this is worth a stream for its notifications. */
const listenAfterMs = 2_000;
/** How long a server may be unreachable after the task may have been deleted. */
const graceMs = 60_000;
/** How long a server may be unreachable if it keeps the task forever. Stops a wait that cannot end. */
const maxUnreachableMs = 3_600_000;

/** What tasks of one client share. */
export interface TaskSharing {
  readonly context: FeatureContext;
  readonly requests: TaskRequests;
  readonly inputs: InputResponder;
  /** Followed tasks by id, for notifications. */
  readonly followed: Map<string, Set<ActiveTask>>;
  /** How many more streams may be opened for notifications. Stops many tasks from using up all connections. */
  streams: number;
}

/** A task on the server. */
export class ActiveTask implements TaskHandle {
  readonly id: string;
  readonly #shared: TaskSharing;
  readonly #decode: (result: JsonObject) => unknown;
  readonly #inputs: TaskInputs;
  readonly #result: TaskResult;
  /** Between two polls. */
  readonly #pause = new TaskPause();
  readonly #listeners = new Set<(task: TaskHandle) => void>();
  #task: DecodedTask;
  readonly #seenAt = performance.now();
  #polledAt = this.#seenAt;
  /** When a stream for notifications is opened. */
  #listenAt = this.#seenAt + listenAfterMs;
  #waiting = 0;
  #following: { readonly controller: AbortController; readonly result: Promise<JsonObject> } | undefined;
  #failure: { readonly error: unknown } | undefined;
  #stream: 'none' | 'opening' | 'open' | 'unavailable' = 'none';

  constructor(shared: TaskSharing, task: DecodedTask, decode: (result: JsonObject) => unknown) {
    this.id = task.state.taskId;
    this.#shared = shared;
    this.#task = task;
    this.#decode = decode;
    this.#result = new TaskResult(this.id, shared.requests, this.#pause);
    this.#inputs = new TaskInputs(this.id, shared.inputs, (responses, signal) =>
      shared.requests.persist(() => shared.requests.update(this.id, responses, signal), this.#giveUpAt, signal),
    );
  }

  get status(): TaskStatus {
    return this.#task.state.status;
  }

  get info(): TaskInfo {
    const { state, inputRequests } = this.#task;
    return inputRequests === undefined ? state : { ...state, inputRequests };
  }

  async wait(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<ToolResult> {
    assertCallOptions('wait', options, 'wait');
    const { signal } = options;
    if (signal?.aborted) throw clientErrors.cancelled('the wait for a task', signal.reason);
    this.#waiting++;
    try {
      const result = await unlessAborted(this.#follow(), signal).catch((error: unknown) => {
        throw signal?.aborted ? clientErrors.cancelled('the wait for a task', signal.reason) : error;
      });
      return (await this.#decode(result)) as ToolResult;
    } finally {
      if (--this.#waiting === 0) this.#stopFollowing();
    }
  }

  async poll(): Promise<TaskStatus> {
    if (!hasEnded(this.status) || this.#isPartial) this.#changed(await this.#shared.requests.get(this.id));
    return this.status;
  }

  async answerInput(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<TaskStatus> {
    assertCallOptions('answerInput', options, 'wait');
    const { signal = new AbortController().signal } = options;
    await this.poll();
    if (this.status !== 'input_required') return this.status;
    const stopping = new AbortController();
    const stop = (): void => stopping.abort(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (this.#task.inputRequests !== undefined) await this.#answerNow(stopping.signal);
      else {
        this.#result.open(stopping.signal);
        while (this.status === 'input_required') await this.#pollAfterPause(stopping.signal);
      }
      return await this.poll();
    } catch (error) {
      throw signal.aborted ? clientErrors.cancelled('the input of a task', signal.reason) : error;
    } finally {
      signal.removeEventListener('abort', stop);
      stopping.abort(new Error('the input was answered'));
      if (this.#following === undefined) this.#inputs.close();
    }
  }

  async cancel(): Promise<void> {
    const { requests } = this.#shared;
    const task = await requests.cancel(this.id);
    if (task !== undefined) this.#changed(task);
  }

  onChange(listener: (task: TaskHandle) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The server sent a notification about this task. */
  notified(task: DecodedTask): void {
    this.#polledAt = performance.now();
    this.#changed(task);
  }

  /** Ends every wait with an error. */
  end(error: unknown): void {
    this.#following?.controller.abort(error);
  }

  // Following.

  #follow(): Promise<JsonObject> {
    if (this.#following === undefined) {
      const controller = new AbortController();
      this.#failure = undefined;
      const result = this.#run(controller.signal);
      // Each wait handles it; without one there is no reader.
      result.catch(() => {});
      this.#following = { controller, result };
    }
    return this.#following.result;
  }

  #stopFollowing(): void {
    this.#following?.controller.abort(new Error('the wait for the task has ended'));
    this.#following = undefined;
  }

  async #run(signal: AbortSignal): Promise<JsonObject> {
    this.#register();
    try {
      if (this.#isPartial) await this.#get(signal);
      while (!hasEnded(this.status) && this.#result.value === undefined) {
        await this.#pollAfterPause(signal, this.#attend(signal));
        if (this.#failure !== undefined) throw this.#failure.error;
      }
      return await this.#outcome(signal);
    } finally {
      this.#unregister();
      this.#inputs.close();
    }
  }

  /** Starts what the status requires. Returns when there will be more to start. */
  #attend(signal: AbortSignal): number {
    const { inputRequests } = this.#task;
    const { codec } = this.#shared.requests;
    this.#inputs.attend(inputRequests ?? {}, codec, (error) => this.#fail(error));
    if (codec.tasks !== 'requested') return this.#listenWhenDue(signal);
    if (this.status === 'input_required') this.#result.open(signal);
    return Number.POSITIVE_INFINITY;
  }

  /** Waits for the time of the next poll and polls, or until something else changes the task or is to be started. */
  async #pollAfterPause(signal: AbortSignal, startAt = Number.POSITIVE_INFINITY): Promise<void> {
    const interval = this.#stream === 'open' ? maxPollMs : this.#task.state.pollIntervalMs;
    const pollAt = this.#polledAt + pollPauseMs(interval);
    const until = Math.min(pollAt, startAt);
    const wokenEarly = await this.#pause.wait(until - performance.now(), signal);
    if (!wokenEarly && until === pollAt) await this.#get(signal);
  }

  async #get(signal: AbortSignal): Promise<void> {
    const { requests } = this.#shared;
    const task = await requests.persist(() => requests.get(this.id, signal), this.#giveUpAt, signal);
    this.#polledAt = performance.now();
    this.#changed(task);
  }

  /** The result that creates a task has only its status: what belongs to the status must be requested. */
  get #isPartial(): boolean {
    const { state, inputRequests, result, error } = this.#task;
    if (this.#shared.requests.codec.tasks === 'requested' || ['working', 'cancelled'].includes(state.status))
      return false;
    return inputRequests === undefined && result === undefined && error === undefined;
  }

  /** Until when an unreachable server is tried. */
  readonly #giveUpAt = (): number => {
    const { ttlMs } = this.#task.state;
    return ttlMs === null ? this.#polledAt + maxUnreachableMs : this.#seenAt + ttlMs + graceMs;
  };

  #changed(task: DecodedTask): void {
    const before = this.#task.state;
    const { state } = task;
    // An ended task never changes again; a late response may be older than what is known.
    if (hasEnded(before.status) && !this.#isPartial) return;
    this.#task = task;
    this.#pause.wake();
    const same =
      before.status === state.status &&
      before.statusMessage === state.statusMessage &&
      before.lastUpdatedAt === state.lastUpdatedAt;
    if (same) return;
    for (const listener of this.#listeners) {
      try {
        listener(this);
      } catch (error) {
        this.#shared.context.logger.error('a listener of a task failed', { task: this.id, error });
      }
    }
  }

  #fail(error: unknown): void {
    this.#failure = { error };
    this.#pause.wake();
  }

  // Input.

  async #answerNow(signal: AbortSignal): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    this.#inputs.attend(this.#task.inputRequests ?? {}, this.#shared.requests.codec, (error) => {
      failure ??= { error };
    });
    await unlessAborted(this.#inputs.settled(), signal);
    if (failure !== undefined) throw failure.error;
  }

  // Notifications.

  /** Returns when a stream for notifications is due, infinite if it is open or cannot be opened. */
  #listenWhenDue(signal: AbortSignal): number {
    if (this.#stream !== 'none') return Number.POSITIVE_INFINITY;
    if (performance.now() < this.#listenAt) return this.#listenAt;
    if (this.#shared.streams > 0) this.#listen(signal);
    return Number.POSITIVE_INFINITY;
  }

  #listen(signal: AbortSignal): void {
    const shared = this.#shared;
    this.#stream = 'opening';
    shared.streams--;
    void listenToTask(shared.context, this.id, signal).then(async (stream) => {
      this.#stream = stream === undefined ? 'unavailable' : 'open';
      this.#pause.wake();
      await stream?.over;
      shared.streams++;
      if (stream === undefined) return;
      this.#stream = 'none';
      this.#listenAt = performance.now() + maxPollMs;
      this.#pause.wake();
    });
  }

  #register(): void {
    const { followed } = this.#shared;
    const same = followed.get(this.id);
    if (same === undefined) followed.set(this.id, new Set([this]));
    else same.add(this);
  }

  #unregister(): void {
    const { followed } = this.#shared;
    const same = followed.get(this.id);
    same?.delete(this);
    if (same?.size === 0) followed.delete(this.id);
  }

  // Results.

  async #outcome(signal: AbortSignal): Promise<JsonObject> {
    const { state, result, error } = this.#task;
    if (state.status === 'cancelled') throw clientErrors.taskCancelled(this.id, state.statusMessage);
    if (error !== undefined) throw clientErrors.taskFailed(this.id, state.statusMessage, error);
    if (result !== undefined) return result;
    const found = await this.#result.fetch(state, this.#giveUpAt, signal);
    if (!hasEnded(this.status)) {
      const status = found['isError'] === true ? 'failed' : 'completed';
      this.#changed({ state: { ...this.#task.state, status } });
    }
    return found;
  }
}
