// The interfaces of tasks in the client. The code behind them is in tasks/ and is loaded with the first task.

import type { ToolResult } from '../protocol/model.ts';
import type { WireInputRequest } from '../protocol/revisions/client-revisions.ts';
import type { TaskState, TaskStatus } from '../protocol/task.ts';

/** What is known of a task. */
export interface TaskInfo extends TaskState {
  /** What the server waits for, where input requests are part of the task (2026-07-28). */
  readonly inputRequests?: Readonly<Record<string, WireInputRequest>>;
}

/** A call that runs on the server, detached from the request that started it. */
export interface TaskHandle {
  /** Continue with it in another process: `client.tasks.attach(id)`. Undefined: the server returned the result at once. */
  readonly id: string | undefined;
  /** As far as it is known: `wait` and `poll` update it. */
  readonly status: TaskStatus;
  /** What the server last said about the task. Undefined: the server returned the result at once. */
  readonly info: TaskInfo | undefined;
  /**
   * Waits for the result and handles input requests meanwhile. `signal` ends only the wait; the task continues. Rejects with
   * code `task-cancelled`, or `task-gone` if the server does not have the task any more.
   */
  wait(options?: { readonly signal?: AbortSignal | undefined }): Promise<ToolResult>;
  /** Requests the status once. */
  poll(): Promise<TaskStatus>;
  /** Has the handlers of the client answer what the task waits for now, and returns the status after that. */
  answerInput(options?: { readonly signal?: AbortSignal | undefined }): Promise<TaskStatus>;
  /** Asks the server to stop it. It may end in another way if it was about to end. */
  cancel(): Promise<void>;
  /** Calls the listener whenever `wait` or `poll` notices a change; the returned function ends that. */
  onChange(listener: (task: TaskHandle) => void): () => void;
}
