// Keeps the tasks of this process going: renews their leases, takes over tasks of processes that ended, polls other systems,
// and deletes what has expired. One timer, which exists only while there is something to do.

import { Moment } from '../../../common/clock.ts';
import { FailureLog } from '../../../common/failure-log.ts';
import type { Logger } from '../../../common/logger.ts';
import type { TaskRecord, TaskStore } from '../store/task-store.ts';
import type { TaskRun } from './task-run.ts';

/** What the runner uses of the tasks of its server. */
export interface RunnerHost {
  readonly store: TaskStore;
  readonly service: string;
  readonly leaseMs: number;
  readonly logger: Logger | undefined;
  /** Whether there is anything to do for a store that ends with the process. */
  isNeeded(): boolean;
  readonly runs: ReadonlyMap<string, TaskRun>;
  /** Runs, fails or polls a task that was claimed. */
  resume(record: TaskRecord): void;
  /** Ends a task that has expired while it ran. */
  expire(record: TaskRecord): Promise<void>;
  /** Prolongs the time that running tasks are stored. */
  extend(): Promise<void>;
  /** Looks for changes by other processes. */
  refresh(): Promise<void>;
}

const longestTickMs = 1_000;
const sweepEveryMs = 30_000;
const maxClaimed = 50;
/** Tasks that are deleted at a time, so that a store with many is not blocked. */
const maxSwept = 500;
/** While the store fails, runs continue until this long before their leases end. */
const leaseMarginMs = 5_000;

export class TaskRunner {
  readonly #host: RunnerHost;
  readonly #failures: FailureLog;
  /** Names this process in leases. */
  readonly holder: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #renewed: Moment | undefined;
  #swept: Moment | undefined;
  #isClosed = false;
  #isClaiming = true;
  /** When the timer last ran without a failure, or had nothing to do; health checks read it. */
  lastTick: Moment | undefined;

  constructor(host: RunnerHost, holder: string) {
    this.#host = host;
    this.holder = holder;
    this.#failures = new FailureLog(host.logger, {
      failed: 'the tasks of this process could not be checked',
      recovered: 'the tasks of this process are checked again',
    });
  }

  /** Starts the timer, if there is something to do. */
  wake(): void {
    if (this.#timer !== undefined) return;
    this.lastTick = undefined;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    if (!this.#host.store.durable && !this.#host.isNeeded()) return;
    this.lastTick ??= new Moment();
    this.#renewed ??= new Moment();
    this.#swept ??= new Moment();
    this.#timer = setTimeout(() => void this.#tick(), Math.min(longestTickMs, this.#host.leaseMs / 4));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  /** Takes no more tasks. */
  stopClaiming(): void {
    this.#isClaiming = false;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  async #tick(): Promise<void> {
    try {
      if ((this.#renewed as Moment).ageMs >= this.#host.leaseMs / 3) await this.#renew();
      await this.#host.extend();
      await this.#host.refresh();
      if (this.#isClaiming) await this.claim();
      if ((this.#swept as Moment).ageMs >= sweepEveryMs) await this.#sweep();
      this.lastTick = new Moment();
      this.#failures.succeeded();
    } catch (error) {
      this.#failures.failed(error);
    }
    this.#timer = undefined;
    this.#schedule();
  }

  async #renew(): Promise<void> {
    const { store, runs, leaseMs } = this.#host;
    const ids = [...runs.keys()];
    try {
      const held = new Set(ids.length === 0 ? [] : await store.renew(this.holder, ids, leaseMs));
      this.#renewed = new Moment();
      for (const id of ids) if (!held.has(id)) runs.get(id)?.stop('lease-lost');
    } catch (error) {
      // Another process may take the tasks over when the leases end, so this one must stop before that.
      if ((this.#renewed as Moment).ageMs < leaseMs - leaseMarginMs) throw error;
      for (const run of [...runs.values()]) run.stop('lease-lost');
      throw error;
    }
  }

  /** Takes over tasks that are due. */
  async claim(): Promise<void> {
    const { store, service, leaseMs } = this.#host;
    const claimed = await store.claim(this.holder, [service], leaseMs, maxClaimed);
    for (const record of claimed) this.#host.resume(record);
  }

  async #sweep(): Promise<void> {
    this.#swept = new Moment();
    const { store } = this.#host;
    for (;;) {
      const { deleted, expired } = await store.sweep(maxSwept);
      for (const record of expired) await this.#host.expire(record);
      if (deleted + expired.length < maxSwept || this.#isClosed) return;
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }
}
