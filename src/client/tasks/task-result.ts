// The result of a task that is requested by `tasks/result` (2025-11-25). The server may send the input requests of the task
// with that request, so it is kept open while the task waits for input.

import type { JsonObject } from '../../protocol/model.ts';
import type { TaskState } from '../../protocol/task.ts';
import { ClientError, clientErrors } from '../errors.ts';
import type { TaskPause } from './task-pause.ts';
import type { TaskRequests } from './task-requests.ts';

/** How long an open request for the result may take to return it once the task has ended. */
const openRequestMs = 1_000;

export class TaskResult {
  readonly #id: string;
  readonly #requests: TaskRequests;
  readonly #pause: TaskPause;
  #open: Promise<void> | undefined;
  /** What the open request returned. */
  value: JsonObject | undefined;

  constructor(id: string, requests: TaskRequests, pause: TaskPause) {
    this.#id = id;
    this.#requests = requests;
    this.#pause = pause;
  }

  /** Sends a request that waits for the result without a time limit, unless one is open. */
  open(signal: AbortSignal): void {
    this.#open ??= this.#requests
      .result(this.#id, signal, true)
      .then(
        (result) => {
          this.value = result;
          this.#pause.wake();
        },
        // Polling finds out why; the request is made again after the next poll.
        () => {},
      )
      .finally(() => {
        this.#open = undefined;
      });
  }

  /** The result of a task that has ended. */
  async fetch({ status, statusMessage }: TaskState, giveUpAt: () => number, signal: AbortSignal): Promise<JsonObject> {
    if (this.value === undefined && this.#open !== undefined) await this.#pause.wait(openRequestMs, signal);
    if (this.value !== undefined) return this.value;
    const fetch = (): Promise<JsonObject> => this.#requests.result(this.#id, signal, false);
    return this.#requests.persist(fetch, giveUpAt, signal).catch((error: unknown) => {
      const { code, message = '', data } = (error instanceof ClientError ? error.serverError : undefined) ?? {};
      if (code === undefined || status !== 'failed') throw error;
      throw clientErrors.taskFailed(this.#id, statusMessage, {
        code,
        message,
        ...(data === undefined ? {} : { data }),
      });
    });
  }
}
