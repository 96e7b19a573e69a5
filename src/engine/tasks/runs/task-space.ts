// Whether one more task may be created, and how much memory those that run take.

import { CallerBudget, callerKey } from '../../../protocol/callers/caller-budget.ts';
import { wireErrors } from '../../../protocol/errors.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { PendingRequests, RunningRequest } from '../../calls/pending-requests.ts';
import type { TaskStore } from '../store/task-store.ts';
import type { TaskLimits } from '../task-options.ts';

export class TaskSpace {
  readonly #store: TaskStore;
  readonly #limits: TaskLimits;
  /** Tasks that run in this process, by caller. */
  readonly #running: CallerBudget;
  readonly #runs = new Map<object, { readonly caller: string; readonly request: RunningRequest }>();
  readonly #pending: PendingRequests;

  /** `pending`: where requests that are running count. */
  constructor(store: TaskStore, limits: TaskLimits, pending: PendingRequests) {
    this.#store = store;
    this.#limits = limits;
    this.#pending = pending;
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

  /** A task runs from now on. Its arguments stay in memory, though its request was answered, so they count as before. */
  add(run: object, request: RunningRequest): void {
    const caller = callerKey(request.peer);
    this.#runs.set(run, { caller, request });
    this.#running.charge(caller);
    this.#pending.add(request);
  }

  remove(run: object): void {
    const found = this.#runs.get(run);
    if (found === undefined) return;
    this.#runs.delete(run);
    this.#running.release(found.caller);
    this.#pending.delete(found.request);
  }
}
