// Whether one more task may be created.

import { CallerBudget, callerKey } from '../../protocol/caller-budget.ts';
import { wireErrors } from '../../protocol/errors.ts';
import type { Peer } from '../../protocol/exchange.ts';
import type { TaskLimits } from './task-options.ts';
import type { TaskStore } from './task-store.ts';

export class TaskSpace {
  readonly #store: TaskStore;
  readonly #limits: TaskLimits;
  /** Tasks that run in this process, by caller. */
  readonly #running: CallerBudget;
  readonly #callers = new Map<object, string>();

  constructor(store: TaskStore, limits: TaskLimits) {
    this.#store = store;
    this.#limits = limits;
    this.#running = new CallerBudget(limits.maxActive, limits.maxActivePerCaller);
  }

  /** Throws if there are too many tasks. */
  async check(peer: Peer, owner: string): Promise<void> {
    const { maxActivePerCaller, maxActive, maxStored } = this.#limits;
    if (this.#running.isFull(callerKey(peer))) throw wireErrors.tooManyTasks(maxActivePerCaller);
    const { active, kept } = await this.#count();
    if (active >= maxActive || kept >= maxStored) throw wireErrors.tooManyTasks(Math.min(maxActive, maxStored));
    // Anonymous callers share an owner, so they are only limited by address.
    if (owner === '' || active < maxActivePerCaller) return;
    if ((await this.#count(owner)).active >= maxActivePerCaller) throw wireErrors.tooManyTasks(maxActivePerCaller);
  }

  #count(owner?: string): ReturnType<TaskStore['count']> {
    return this.#store.count(owner).catch((cause: unknown) => {
      throw wireErrors.tasksUnavailable(cause);
    });
  }

  add(run: object, caller: string): void {
    this.#callers.set(run, caller);
    this.#running.charge(caller);
  }

  remove(run: object): void {
    const caller = this.#callers.get(run);
    if (caller === undefined) return;
    this.#callers.delete(run);
    this.#running.release(caller);
  }
}
