// The interface of a task store, and the record of a task. The memory store is beside this file, durable ones are in
// stores/. task-record.ts says what a change does to a record, so that all stores agree.

import type { Capabilities, Implementation, Json, LogLevel, ProgressToken } from '../../../protocol/model.ts';

/**
 * Where a task is: `queued` waits for a process to run it, `running` has one (see `lease`), `suspended` waits for input
 * responses and holds no process, `external` is run by another system, `ended` has an outcome. The status on the wire is
 * derived from it.
 */
export type TaskPhase = 'queued' | 'running' | 'suspended' | 'external' | 'ended';

/** The one outcome of a task, independent of revisions. */
export type TaskOutcome =
  /** A tool result in the neutral model. */
  | { readonly type: 'result'; readonly result: Json; readonly isError: boolean }
  | { readonly type: 'error'; readonly code: number; readonly message: string; readonly data?: Json }
  | { readonly type: 'cancelled'; readonly reason?: string };

/** An input request of a task. It stays in the record after its response, so that a handler that runs again finds it. */
export interface TaskInput {
  /** Unique for the life of the task. */
  readonly key: string;
  /** The kind of the request, as `kindOf` returns it: a response is reused only for the same kind. */
  readonly kind: string;
  readonly method: string;
  /** Encoded for the revision that created the task; the newest form that all revisions with tasks share. */
  readonly params: Json;
  readonly requestedAtMs: number;
  readonly response?: Json;
  /** `response` is what the handler gets, in the form of a journal: it was answered before the task existed. */
  readonly decoded?: true;
  readonly answeredAtMs?: number;
  /** No longer needed: the task or the request was cancelled, or the deadline of the request has passed. */
  readonly cancelled?: true;
  /** The handler cancelled it: one that runs again sees the same. */
  readonly byHandler?: true;
}

export interface TaskStep {
  readonly key: string;
  /** `started` without `done`: the process ended within the step, and its effect is unknown. Only for `once` steps. */
  readonly state: 'started' | 'done';
  readonly value?: Json;
}

/** What the handler needs of the request that created the task. Never a token, a header or a cookie. */
export interface TaskContext {
  readonly principal?: Json;
  readonly clientInfo?: Implementation;
  readonly capabilities: Capabilities;
  readonly revision: string;
  readonly logLevel?: LogLevel;
  readonly progressToken?: ProgressToken;
  readonly traceparent?: string;
  /** The client cannot ask its user, and its model may answer forms instead. */
  readonly modelAnswers?: true;
  readonly sessionKey?: string;
}

/** The right of one process to run a task for a while. */
export interface TaskLease {
  /** The process that holds it. */
  readonly holder: string;
  readonly untilMs: number;
}

export interface TaskRecord {
  /** 24 random bytes in base64url, so it cannot be guessed. */
  readonly id: string;
  /** The server that may run it: several may share a store. */
  readonly service: string;
  /** `principalKey` of the caller, `local` on a private connection, or empty: then the id is the only credential. */
  readonly owner: string;
  readonly tool: string;
  readonly arguments: Json;
  /** SHA-256 of tool and arguments: a task whose arguments changed or got lost does not run. */
  readonly digest: string;
  readonly phase: TaskPhase;
  readonly message?: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When it may be deleted; null: never. */
  readonly expiresAtMs: number | null;
  readonly endedAtMs?: number;
  readonly cancelRequestedAtMs?: number;
  readonly inputs: readonly TaskInput[];
  readonly steps: readonly TaskStep[];
  readonly outcome?: TaskOutcome;
  /** The outcome without its contents, for lists. */
  readonly summary?: TaskOutcome;
  readonly context: TaskContext;
  /** The id of the work in the other system. */
  readonly ticket?: Json;
  /** How often the handler was started. Runs that ended by `suspend` or `release` do not count. */
  readonly attempt: number;
  /** Increases with each change. */
  readonly version: number;
  /** Increases whenever another process takes over the right to write; a writer with an older value is rejected. */
  readonly fence: number;
  readonly lease?: TaskLease;
  /** When a process may claim it: a queued task, one with a lease that ended, an external task to poll. */
  readonly dueAtMs?: number;
  readonly dedupeKey?: string;
  /** Whether the handler runs again after the process that ran it died, and how often it may start in all. */
  readonly recover: 'fail' | 'replay';
  readonly maxAttempts: number;
  /** How often clients may poll, if it is not the tool that says it. */
  readonly pollMs?: number;
  /** Its contents are encrypted with a key that this server does not have: the task fails, and never runs. */
  readonly sealed?: true;
}

/** A small change of a record. Several are applied together or not at all. */
export type TaskChange =
  | { readonly type: 'request-input'; readonly inputs: readonly TaskInput[] }
  | { readonly type: 'answer-input'; readonly key: string; readonly response: Json }
  /** `cancelled`: by the handler. */
  | { readonly type: 'cancel-inputs'; readonly keys: readonly string[]; readonly byHandler?: true }
  | { readonly type: 'start-step'; readonly key: string }
  | { readonly type: 'finish-step'; readonly key: string; readonly value: Json }
  | { readonly type: 'set-message'; readonly message: string }
  | { readonly type: 'extend'; readonly expiresAtMs: number | null }
  /** The handler waits for input and is dropped; the lease ends. It is due once its inputs are answered. */
  | { readonly type: 'suspend'; readonly dueAtMs?: number }
  /** Gives the lease back: another process may claim it from `dueAtMs` on. */
  | { readonly type: 'release'; readonly dueAtMs: number }
  /** Run by another system from now on. */
  | { readonly type: 'hand-over'; readonly ticket: Json; readonly dueAtMs?: number }
  | { readonly type: 'request-cancel' }
  /** Ends the task. Increases `fence`: no earlier holder can write any more. */
  | {
      readonly type: 'end';
      readonly outcome: TaskOutcome;
      readonly expiresAtMs: number | null;
      /** Default: that of the outcome. */
      readonly summary?: TaskOutcome;
    };

/** What a change requires of the record; otherwise it is a `conflict`. */
export interface TaskGuard {
  readonly version?: number;
  readonly fence?: number;
}

export interface TaskPage {
  readonly tasks: readonly TaskRecord[];
  /** Where the next page starts; undefined: this was the last. */
  readonly next?: string;
}

/** Selects the tasks of a page. Newest first. */
export interface TaskQuery {
  readonly owner?: string;
  readonly tool?: string;
  readonly phase?: TaskPhase;
  readonly after?: string;
  readonly limit: number;
  /** The records are those of `outlineOf`: what may be large is not read. */
  readonly outline?: boolean;
}

/**
 * Stores tasks. A promise resolves when the write is as durable as the store is. Ended tasks never change again: every
 * change of them is a `conflict`. Times of leases are on the clock of the store.
 */
export interface TaskStore {
  /** Whether tasks outlive the process; for start-up messages and `doctor`. */
  readonly durable: boolean;
  /** `existing`: an unfinished task of the same service, owner, tool and `dedupeKey`. Throws when the store is full. */
  create(record: TaskRecord): Promise<{ readonly created: true } | { readonly existing: TaskRecord }>;
  /** Undefined for an unknown or expired task. Not a promise if it is in memory, because clients poll often. */
  read(id: string): TaskRecord | undefined | Promise<TaskRecord | undefined>;
  change(id: string, guard: TaskGuard, changes: readonly TaskChange[]): Promise<TaskRecord | 'conflict' | 'gone'>;
  /**
   * Claims tasks that are due for a process: `fence` and `attempt` increase, and the process gets the lease. Running
   * tasks whose lease ended count as due.
   */
  claim(holder: string, services: readonly string[], leaseMs: number, max: number): Promise<readonly TaskRecord[]>;
  /** Prolongs the leases of a process; returns the ids that it still holds. */
  renew(holder: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]>;
  list(query: TaskQuery): Promise<TaskPage>;
  /** How many tasks of an owner (or in all) have not ended, and how many are kept. */
  count(owner?: string): Promise<{ readonly active: number; readonly kept: number }>;
  /** Deletes ended tasks that have expired, and returns expired tasks that have not ended: they are cancelled first. */
  sweep(max: number): Promise<{ readonly deleted: number; readonly expired: readonly TaskRecord[] }>;
  /** Notifies of changes that other processes may have made. It may miss some. Returns a function that stops it. */
  watch?(listener: (id: string) => void): () => void;
  close?(): void | Promise<void>;
}
