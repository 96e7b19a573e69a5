// All workers of a server: creates them, finds them for their owners only, lists them for a while after their end, and
// records them.

import { randomBytes } from 'node:crypto';
import type { Logger } from '../../common/logger.ts';
import { type RestartPolicy, WorkerError, type WorkerRecord, type WorkerRegistry } from './contract.ts';
import { type RestartLimits, type Spawn, Worker, type WorkerListener } from './worker.ts';

export interface WorkerSupervisorOptions {
  readonly spawn: Spawn;
  readonly registry: WorkerRegistry;
  readonly supervision: RestartLimits;
  /** Running at the same time, per owner. */
  readonly maxAlive: number;
  /** Listed after their end, per owner. */
  readonly maxEnded: number;
  readonly logger: Logger;
}

export interface WorkerSupervisorListener {
  listChanged(): void;
  workerChanged(id: string): void;
}

export interface NewWorker {
  readonly owner: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly name?: string;
  readonly cwd?: string;
  readonly restart: RestartPolicy;
}

/** A worker can print thousands of times a second; listeners are notified at this interval. */
const notifyEveryMs = 100;

export class WorkerSupervisor implements WorkerListener {
  readonly #options: WorkerSupervisorOptions;
  readonly #listener: WorkerSupervisorListener;
  readonly #workers = new Map<string, Worker>();
  readonly #unreported = new Set<string>();
  /** Pending writes to the registry, which may be closed after us. */
  readonly #writing = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #closing = false;

  constructor(options: WorkerSupervisorOptions, listener: WorkerSupervisorListener) {
    this.#options = options;
    this.#listener = listener;
  }

  /** Loads the records of earlier servers. Workers of ended servers are marked as lost; those of other servers are kept. */
  async load(): Promise<void> {
    const { registry, spawn, supervision } = this.#options;
    const records = [...(await registry.load())].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
    for (const record of records) {
      if (record.serverPid !== process.pid && isRunning(record.serverPid)) continue;
      const wasAlive = ['starting', 'running', 'waiting'].includes(record.status);
      const kept: WorkerRecord = wasAlive
        ? {
            ...record,
            status: 'lost',
            reason: 'the server that started it has ended',
            endedAt: new Date().toISOString(),
          }
        : record;
      this.#workers.set(record.id, new Worker(kept, spawn, supervision, this));
      if (wasAlive) this.#save(kept);
    }
  }

  /** The workers of one owner, oldest first. */
  list(owner: string): Worker[] {
    return [...this.#workers.values()].filter(({ record }) => record.owner === owner);
  }

  /** A worker of another owner looks as if it did not exist. */
  find(id: string, owner: string): Worker | undefined {
    const worker = this.#workers.get(id);
    return worker?.record.owner === owner ? worker : undefined;
  }

  async start(wish: NewWorker): Promise<Worker> {
    const { spawn, supervision, maxAlive } = this.#options;
    if (this.#closing) throw new WorkerError('The server is closing');
    const mine = this.list(wish.owner);
    if (mine.filter((worker) => worker.isAlive).length >= maxAlive) {
      throw new WorkerError(`${maxAlive} workers are already running; stop one first`);
    }
    const { name, cwd, ...rest } = wish;
    const record: WorkerRecord = {
      id: randomBytes(6).toString('hex'),
      name: name ?? `${wish.program}-${mine.length + 1}`,
      ...rest,
      ...(cwd === undefined ? {} : { cwd }),
      status: 'starting',
      createdAt: new Date().toISOString(),
      restarts: 0,
      serverPid: process.pid,
    };
    const worker = new Worker(record, spawn, supervision, this);
    this.#workers.set(record.id, worker);
    this.#forgetOldest(wish.owner);
    try {
      await worker.start();
    } catch (error) {
      // A program that never ran is not listed as a worker; the caller gets the error.
      this.#workers.delete(record.id);
      this.#recorded(() => this.#options.registry.remove(record.id));
      throw error;
    }
    this.#listener.listChanged();
    return worker;
  }

  /** Removes an ended worker from the list. */
  forget(worker: Worker): void {
    const { id } = worker.record;
    if (worker.isAlive) throw new WorkerError(`Worker ${id} is running; stop it first`);
    this.#workers.delete(id);
    this.#recorded(() => this.#options.registry.remove(id));
    this.#listener.listChanged();
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await Promise.all([...this.#workers.values()].map((worker) => worker.kill()));
    await Promise.all(this.#writing);
  }

  statusChanged(worker: Worker): void {
    const { record } = worker;
    this.#save(record);
    this.#options.logger.debug('worker', { id: record.id, name: record.name, status: record.status });
    this.#listener.workerChanged(record.id);
  }

  printed({ record }: Worker): void {
    this.#unreported.add(record.id);
    this.#timer ??= setTimeout(() => this.#notify(), notifyEveryMs).unref();
  }

  #notify(): void {
    this.#timer = undefined;
    for (const id of this.#unreported) this.#listener.workerChanged(id);
    this.#unreported.clear();
  }

  #forgetOldest(owner: string): void {
    const ended = this.list(owner).filter((worker) => !worker.isAlive);
    for (const worker of ended.slice(0, Math.max(0, ended.length - this.#options.maxEnded))) {
      this.#workers.delete(worker.record.id);
      this.#recorded(() => this.#options.registry.remove(worker.record.id));
    }
  }

  #save(record: WorkerRecord): void {
    this.#recorded(() => this.#options.registry.save(record));
  }

  /** A registry that fails must not stop a running worker; the error is logged. */
  #recorded(work: () => void | Promise<void>): void {
    const writing = (async () => work())()
      .catch((error: unknown) => this.#options.logger.error('the worker registry failed', { error }))
      .then(() => void this.#writing.delete(writing));
    this.#writing.add(writing);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
