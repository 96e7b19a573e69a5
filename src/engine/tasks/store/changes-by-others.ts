// Finds the changes that other processes make to tasks of this one, in a store that they share.

import { monotonicMs } from '../../../common/clock.ts';
import type { Logger } from '../../../common/logger.ts';
import type { TaskFollowers } from '../clients/task-followers.ts';
import type { TaskRun } from '../runs/task-run.ts';
import type { TaskRecord, TaskStore } from './task-store.ts';

/** The part of a server's tasks that it uses. */
interface ChangedTasks {
  readonly store: Pick<TaskStore, 'read' | 'watch'>;
  readonly runs: ReadonlyMap<string, TaskRun>;
  readonly followers: Pick<TaskFollowers, 'has' | 'ids'>;
  /** Undefined unless other processes tell this one what they change. */
  readonly shared: object | undefined;
  readonly server: { readonly logger: Logger | undefined };
  mayBeDue(): void;
  /** Shows a state to everything in this process that it concerns. */
  changed(record: TaskRecord): void;
  graceOf(record: TaskRecord): void;
}

/** How often a task is read although other processes report their changes. */
const refreshEveryMs = 15_000;

export class ChangesByOthers {
  readonly #tasks: ChangedTasks;
  readonly #unwatch: (() => void) | undefined;
  #refreshedAtMs = Number.NEGATIVE_INFINITY;

  constructor(tasks: ChangedTasks) {
    this.#tasks = tasks;
    // Processes on a bus tell each other more than the store could.
    if (tasks.shared === undefined) this.#unwatch = tasks.store.watch?.((id) => this.#reported(id));
  }

  close(): void {
    this.#unwatch?.();
  }

  /** Reads the tasks that run or are followed here, if it is time to. */
  async refresh(): Promise<void> {
    const { runs, followers, shared } = this.#tasks;
    const nowMs = monotonicMs();
    const isTold = this.#unwatch !== undefined || shared !== undefined;
    if (isTold && nowMs - this.#refreshedAtMs < refreshEveryMs) return;
    this.#refreshedAtMs = nowMs;
    for (const id of new Set([...runs.keys(), ...followers.ids])) await this.readAgain(id);
  }

  /** The store reports that another process may have changed a task. */
  #reported(id: string): void {
    const { runs, followers, server } = this.#tasks;
    if (!runs.has(id) && !followers.has(id)) return this.#tasks.mayBeDue();
    this.readAgain(id).catch((error: unknown) => {
      server.logger?.warn('a task could not be read', { task: id, error });
    });
  }

  /** Shows the stored state of a task to everything in this process that it concerns. */
  async readAgain(id: string): Promise<void> {
    const { store, runs } = this.#tasks;
    const record = await store.read(id);
    if (record === undefined) return runs.get(id)?.stop('lease-lost');
    const run = runs.get(id);
    const isNew = run !== undefined && record.cancelRequestedAtMs !== undefined && !run.signal.aborted;
    this.#tasks.changed(record);
    if (isNew && record.phase !== 'ended') this.#tasks.graceOf(record);
  }
}
