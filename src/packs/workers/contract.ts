// The interfaces of workers: the record, the states, the registry. Only types.

import { UserError } from '../../common/user-error.ts';

/** When a worker that ended by itself is restarted. */
export type RestartPolicy = 'never' | 'on-failure' | 'always';

export type WorkerStatus =
  | 'starting'
  | 'running'
  /** Ended, and will be restarted. */
  | 'waiting'
  /** Ended by itself with exit code 0. */
  | 'exited'
  /** Ended by itself with an error, or could not be started. */
  | 'failed'
  /** Ended by stop_worker or a shutdown. */
  | 'stopped'
  /** It was running when an earlier server ended, and ended with it. */
  | 'lost';

/** What is stored about a worker, also after the server ends. */
export interface WorkerRecord {
  readonly id: string;
  readonly name: string;
  /** The caller it belongs to; only they see it. */
  readonly owner: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly restart: RestartPolicy;
  readonly status: WorkerStatus;
  readonly createdAt: string;
  readonly endedAt?: string;
  readonly exitCode?: number;
  readonly restarts: number;
  /** Why it is not running, if known. */
  readonly reason?: string;
  /** The server process that supervises it. */
  readonly serverPid: number;
}

/** Stores records. The app passes in a durable implementation. */
export interface WorkerRegistry {
  load(): readonly WorkerRecord[] | Promise<readonly WorkerRecord[]>;
  save(record: WorkerRecord): void | Promise<void>;
  remove(id: string): void | Promise<void>;
}

/** Stores records in memory: they are lost when the process ends. */
export function createMemoryRegistry(): WorkerRegistry {
  const records = new Map<string, WorkerRecord>();
  return {
    load: () => [...records.values()],
    save: (record) => void records.set(record.id, record),
    remove: (id) => void records.delete(id),
  };
}

/** A request that failed, with a message for the caller. */
export class WorkerError extends UserError {
  override readonly name = 'WorkerError';
}
