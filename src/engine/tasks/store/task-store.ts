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
  /** The method of the input request. */
  readonly method: string;
  /** Encoded for the revision that created the task; the newest form that all revisions with tasks share. */
  readonly params: Json;
  /** Milliseconds since 1970. */
  readonly requestedAtMs: number;
  /** What the client answered; absent while it is open. */
  readonly response?: Json;
  /** `response` is what the handler gets, in the form of a journal: it was answered before the task existed. */
  readonly decoded?: true;
  /** Milliseconds since 1970. */
  readonly answeredAtMs?: number;
  /** No longer needed: the task or the request was cancelled, or the deadline of the request has passed. */
  readonly cancelled?: true;
  /** The handler cancelled it: one that runs again sees the same. */
  readonly byHandler?: true;
}

/** A step of a handler, recorded by `ctx.step`. */
export interface TaskStep {
  /** The key that the handler gave it. */
  readonly key: string;
  /** `started` without `done`: the process ended within the step, and its effect is unknown. Only for `once` steps. */
  readonly state: 'started' | 'done';
  /** What the step returned, once it is done. */
  readonly value?: Json;
}

/** What the handler needs of the request that created the task. Never a token, a header or a cookie. */
export interface TaskContext {
  /** The caller, with the claims that `TasksOptions.claims` names. */
  readonly principal?: Json;
  /** Name and version that the client reports. Unverified. */
  readonly clientInfo?: Implementation;
  /** What the client declared. */
  readonly capabilities: Capabilities;
  /** The protocol revision of the request. */
  readonly revision: string;
  /** The mildest log messages that the client wants. */
  readonly logLevel?: LogLevel;
  /** Where progress is sent to. */
  readonly progressToken?: ProgressToken;
  /** The trace that the request belongs to. */
  readonly traceparent?: string;
  /** The client cannot ask its user, and its model may answer forms instead. */
  readonly modelAnswers?: true;
  /** The session of the request; absent for a stateless one. */
  readonly sessionKey?: string;
}

/** The right of one process to run a task for a while. */
export interface TaskLease {
  /** The process that holds it. */
  readonly holder: string;
  /** When it ends, on the clock of the store. */
  readonly untilMs: number;
}

/** A task as it is stored. */
export interface TaskRecord {
  /** 24 random bytes in base64url, so it cannot be guessed. */
  readonly id: string;
  /** The server that may run it: several may share a store. */
  readonly service: string;
  /** `principalKey` of the caller, `local` on a private connection, or empty: then the id is the only credential. */
  readonly owner: string;
  /** The name of the tool. */
  readonly tool: string;
  /** The arguments of the call. */
  readonly arguments: Json;
  /** SHA-256 of tool and arguments: a task whose arguments changed or got lost does not run. */
  readonly digest: string;
  /** How far it is. */
  readonly phase: TaskPhase;
  /** The last status message of the handler. */
  readonly message?: string;
  /** Milliseconds since 1970. */
  readonly createdAtMs: number;
  /** Milliseconds since 1970. */
  readonly updatedAtMs: number;
  /** When it may be deleted; null: never. */
  readonly expiresAtMs: number | null;
  /** Milliseconds since 1970; absent while it has not ended. */
  readonly endedAtMs?: number;
  /** When a cancellation was requested: milliseconds since 1970. */
  readonly cancelRequestedAtMs?: number;
  /** Its input requests, with the responses so far. */
  readonly inputs: readonly TaskInput[];
  /** The steps that its handler has recorded. */
  readonly steps: readonly TaskStep[];
  /** How it ended; absent while it has not ended. */
  readonly outcome?: TaskOutcome;
  /** The outcome without its contents, for lists. */
  readonly summary?: TaskOutcome;
  /** What the handler needs of the request. */
  readonly context: TaskContext;
  /** The id of the work in the other system. */
  readonly ticket?: Json;
  /** How often the handler was started. Runs that ended by `suspend` or `release` do not count. */
  readonly attempt: number;
  /** Increases with each change. */
  readonly version: number;
  /** Increases whenever another process takes over the right to write; a writer with an older value is rejected. */
  readonly fence: number;
  /** The process that runs it; absent if none does. */
  readonly lease?: TaskLease;
  /** When a process may claim it: a queued task, one with a lease that ended, an external task to poll. */
  readonly dueAtMs?: number;
  /** What `dedupe` of the tool returned. */
  readonly dedupeKey?: string;
  /** Whether the handler runs again after the process that ran it died, and how often it may start in all. */
  readonly recover: 'fail' | 'replay';
  /** How often the handler may start in all, with `replay`. */
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
  /** The version that the record must have. */
  readonly version?: number;
  /** The fence that the record must have. */
  readonly fence?: number;
}

/** A page of tasks. */
export interface TaskPage {
  /** Newest first. */
  readonly tasks: readonly TaskRecord[];
  /** Where the next page starts; undefined: this was the last. */
  readonly next?: string;
}

/** Selects the tasks of a page. Newest first. */
export interface TaskQuery {
  /** Only tasks of this owner. */
  readonly owner?: string;
  /** Only tasks of this tool. */
  readonly tool?: string;
  /** Only tasks in this phase. */
  readonly phase?: TaskPhase;
  /** `next` of the page before. */
  readonly after?: string;
  /** The most tasks of a page. */
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
  /** Applies all changes or none. `conflict`: the guard does not match, or the task has ended. `gone`: there is no such task. */
  change(id: string, guard: TaskGuard, changes: readonly TaskChange[]): Promise<TaskRecord | 'conflict' | 'gone'>;
  /**
   * Claims tasks that are due for a process: `fence` and `attempt` increase, and the process gets the lease. Running
   * tasks whose lease ended count as due.
   */
  claim(holder: string, services: readonly string[], leaseMs: number, max: number): Promise<readonly TaskRecord[]>;
  /** Prolongs the leases of a process; returns the ids that it still holds. */
  renew(holder: string, ids: readonly string[], leaseMs: number): Promise<readonly string[]>;
  /** A page of the tasks that match. */
  list(query: TaskQuery): Promise<TaskPage>;
  /** How many tasks of an owner (or in all) have not ended, and how many are kept. */
  count(owner?: string): Promise<{ readonly active: number; readonly kept: number }>;
  /** Deletes ended tasks that have expired, and returns expired tasks that have not ended: they are cancelled first. */
  sweep(max: number): Promise<{ readonly deleted: number; readonly expired: readonly TaskRecord[] }>;
  /** Notifies of changes that other processes may have made. It may miss some. Returns a function that stops it. */
  watch?(listener: (id: string) => void): () => void;
  /** Releases what the store holds. */
  close?(): void | Promise<void>;
}
