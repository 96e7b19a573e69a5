// `server.tasks`: tasks for programs, such as an operator's page or the system that does the work of external tasks.

import type { Json } from '../../protocol/model.ts';
import type { TaskEvent } from '../ports.ts';
import type { TaskPhase, TaskRecord } from './store/task-store.ts';
import type { ExternalState } from './task-options.ts';
import type { Tasks } from './tasks.ts';

/** Selects tasks. */
export interface TaskFilter {
  /** See `principalKey`; `local` for a private connection. */
  readonly owner?: string;
  /** The name of the tool. */
  readonly tool?: string;
  /** Only tasks in this phase. */
  readonly phase?: TaskPhase;
  /** `next` of the page before. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

/** The tasks of a server, of all owners. Loads the code of tasks with the first use. */
export class TaskApi {
  readonly #load: () => Promise<Tasks>;

  constructor(load: () => Promise<Tasks>) {
    this.#load = load;
  }

  /** The record of a task of any owner; undefined if there is none or it has expired. */
  async get(id: string): Promise<TaskRecord | undefined> {
    return (await this.#load()).store.read(id);
  }

  /** Newest first. */
  async list(filter: TaskFilter = {}): Promise<{ readonly tasks: readonly TaskRecord[]; readonly next?: string }> {
    return (await this.#load()).store.list({ limit: 100, ...filter });
  }

  /** Cancels a task without waiting for its handler. False: it had ended, or does not exist. */
  async cancel(id: string, reason?: string): Promise<boolean> {
    const tasks = await this.#load();
    const record = await tasks.store.read(id);
    return record !== undefined && (await tasks.cancelNow(record, reason)) !== undefined;
  }

  /** Responds to an input request of a task. False: nothing waits for that. */
  async answer(id: string, key: string, response: Json): Promise<boolean> {
    return (await (await this.#load()).change(id, [{ type: 'answer-input', key, response }])) !== undefined;
  }

  /** Ends a task with the outcome that another system reports. False: it had ended, or does not exist. */
  async settle(id: string, outcome: Exclude<ExternalState, { readonly status: 'working' }>): Promise<boolean> {
    return (await (await this.#load()).settle(id, outcome)) !== undefined;
  }

  /** Sets the message that clients see, or prolongs the time that the task is stored. */
  async touch(
    id: string,
    { message, ttlMs }: { readonly message?: string; readonly ttlMs?: number },
  ): Promise<boolean> {
    const changed = await (await this.#load()).change(id, [
      ...(message === undefined ? [] : [{ type: 'set-message' as const, message }]),
      ...(ttlMs === undefined ? [] : [{ type: 'extend' as const, expiresAtMs: Date.now() + ttlMs }]),
    ]);
    return changed !== undefined;
  }

  /** Calls the listener with every change that is made in this process. Returns a function that ends it. */
  onChange(listener: (event: TaskEvent) => void): () => void {
    let isEnded = false;
    let end = (): void => {};
    this.#load().then(
      (tasks) => {
        if (!isEnded) end = tasks.events.onChange(listener);
      },
      () => {
        // A server without tasks has no changes of them.
      },
    );
    return () => {
      isEnded = true;
      end();
    };
  }

  /** False when tasks could not be checked for 15 s, because their store fails or hangs. `/readyz` reports it. */
  async isHealthy(): Promise<boolean> {
    return (await this.#load()).isHealthy;
  }
}
