// What a worker is to those outside: its record, its states, where records are kept. Types alone.

/** When a worker that ended by itself is started again. */
export type RestartPolicy = 'never' | 'on-failure' | 'always';

export type WorkerStatus =
  | 'starting'
  | 'running'
  /** Ended, and will be started again. */
  | 'waiting'
  /** Ended by itself with exit code 0. */
  | 'exited'
  /** Ended by itself otherwise, or could not be started. */
  | 'failed'
  /** Ended because somebody asked for it. */
  | 'stopped'
  /** It was alive when an earlier server ended, and went with it. */
  | 'lost';

/** What is kept about a worker beyond the life of the server. */
export interface WorkerRecord {
  readonly id: string;
  readonly name: string;
  /** Whose it is; only they see it. */
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
  /** Why it is not running, where that is known. */
  readonly reason?: string;
  /** The server process that looks after it. */
  readonly serverPid: number;
}

/** Keeps records. The workers pack asks for nothing else; the app hands in one that is durable. */
export interface WorkerRegistry {
  load(): readonly WorkerRecord[] | Promise<readonly WorkerRecord[]>;
  save(record: WorkerRecord): void | Promise<void>;
  remove(id: string): void | Promise<void>;
}

/** Records in memory: gone with the process. */
export function createMemoryRegistry(): WorkerRegistry {
  const records = new Map<string, WorkerRecord>();
  return {
    load: () => [...records.values()],
    save: (record) => void records.set(record.id, record),
    remove: (id) => void records.delete(id),
  };
}

/** A request that can not be served, in words for the one who made it. */
export class WorkerError extends Error {
  override readonly name = 'WorkerError';
}
