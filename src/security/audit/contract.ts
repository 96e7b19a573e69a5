// The options of an audit log and the interface of an open one. Types only.

import type { Logger } from '../../common/logger.ts';
import type { Context } from '../../engine/context.ts';
import type { Pack, RequestInfo } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { PartStatus } from '../../protocol/monitor.ts';
import type { Authenticate } from '../auth/contract.ts';
import type { Sandbox } from '../sandbox/contract.ts';

/** When lines are forced to the disk itself. */
export type SyncPolicy =
  /** Before the response is sent: every response a client received is in the log, even after a crash. */
  | 'always'
  /** Written within a tenth of a second, forced to the disk every second: a crash loses at most the last second. */
  | 'interval'
  /** Written within a tenth of a second; the operating system decides when they reach the disk. */
  | 'never';

/** What happens to calls while lines cannot be written, for instance because the disk is full. */
export type FailureMode =
  /** They are rejected before they run. */
  | 'closed'
  /** They run without being recorded; health, metrics and the server log say so. */
  | 'open';

/** Arguments of some tools that are never written, whatever their values. */
export interface FieldRule {
  /** Globs. */
  readonly tools: readonly string[];
  /** Names of arguments at any depth; `*` is all of them. */
  readonly hide: readonly string[];
}

/** Where the log is, and its limits. */
export interface AuditOptions {
  /** The folder of the files. Created with mode 0700 if it is missing. */
  readonly directory: string;
  /** Begins every file name. Default `audit`. */
  readonly name?: string;
  /** Default `interval`. */
  readonly sync?: SyncPolicy;
  /** Default `closed`. When the log is opened it must be writable in both modes. */
  readonly failureMode?: FailureMode;
  /** A file of this size is finished and a new one begins. Default 64 MiB. */
  readonly maxFileBytes?: number;
  /**
   * All files of the log together; the oldest are deleted, and the log says so. Stops callers from filling the disk with
   * lines. Default 1 GiB, at least 2 `maxFileBytes`.
   */
  readonly maxTotalBytes?: number;
  /** Finished files that are kept, within `maxTotalBytes`. Default: all. */
  readonly maxFiles?: number;
  /** The arguments of a longer line are truncated. Stops a caller from writing documents to the log. Default 32 KiB. */
  readonly maxLineBytes?: number;
  /**
   * Limit of the lines that wait to be written: above half of it `failureMode` applies to calls, above all of it lines
   * are dropped and counted. Stops callers from filling memory while the disk is slow or full. Default 16 MiB.
   */
  readonly maxQueuedBytes?: number;
  /**
   * With less free space on the disk `failureMode` applies to calls: the remaining space is for the lines of calls that
   * are already running. Default 1 MiB.
   */
  readonly minFreeBytes?: number;
  /** How arguments are written: without secrets (default), as a digest, or not at all. */
  readonly arguments?: 'redacted' | 'digest' | 'none';
  /** In addition to clipboard texts, which are never written. */
  readonly fields?: readonly FieldRule[];
  /** More names and shapes of secrets. */
  readonly secretKeys?: readonly string[];
  /** Shapes of secrets in texts, in addition to the built-in ones. */
  readonly secretPatterns?: readonly RegExp[];
  /** Where failures of the log itself are reported. Default: nowhere. */
  readonly logger?: Logger;
}

/** A line about something other than a request: the start of a program, a decision. */
export interface AuditRecord {
  /** The `event` of the line. */
  readonly event: string;
  /** The call that it belongs to: its principal and session are written. */
  readonly ctx?: Pick<Context, 'principal' | 'session'>;
  /** Written without secrets. */
  readonly details?: JsonObject;
  /** The `outcome` of the line. */
  readonly outcome?: string;
  /** The `ms` of the line. */
  readonly durationMs?: number;
}

/** The end of the chain. Store it elsewhere to detect later whether lines were cut off. */
export interface AuditHead {
  /** The number of the last line. */
  readonly seq: number;
  /** The hash of the last group of lines, which has that of the group before it. */
  readonly hash: string;
}

/** Whether lines can be written. */
export interface AuditStatus {
  /** Why they cannot; undefined while they can. */
  readonly failure: string | undefined;
  /** What happens to calls while lines cannot be written. */
  readonly failureMode: FailureMode;
  /** Bytes of lines that wait to be written. */
  readonly queuedBytes: number;
  /** Calls that were rejected because they could not be recorded, since the log was opened. */
  readonly rejectedCalls: number;
  /** Lines that were dropped because too many waited, since the log was opened. */
  readonly droppedLines: number;
}

/** An open log: a pack, whose last line is written when its server closes. */
export interface AuditLog extends Pack<Server> {
  /** The file lines go to. */
  readonly path: string;
  /** The end of the chain now. */
  readonly head: AuditHead;
  /** Whether lines can be written now. */
  readonly status: AuditStatus;
  /** The same for `serveHttp({ monitors })`. */
  monitor(): PartStatus;
  /**
   * Starts to record every call, rejection and read of a server; `server.use` calls it. `upstreamOf` says which server
   * behind a gateway a request is for.
   */
  install(server: Server, upstreamOf?: (request: RequestInfo) => string | undefined): void;
  /** Records the requests that an authenticator rejects. */
  authentication(authenticate: Authenticate): Authenticate;
  /** A sandbox whose starts are recorded, for the call that `ctx` belongs to. */
  sandbox(sandbox: Sandbox, ctx?: Pick<Context, 'principal' | 'session'>): Sandbox;
  /** Adds a line of your own. */
  record(record: AuditRecord): void;
  /** Resolves when everything recorded so far is written as `sync` requires. */
  flush(): Promise<void>;
  /** Writes the remaining lines and a last one. */
  close(): Promise<void>;
}
