// What an audit log takes and what its lines hold. Types alone.

import type { Context } from '../../engine/context.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { Logger } from '../../protocol/logger.ts';
import type { PartStatus } from '../../protocol/monitor.ts';
import type { Authenticate } from '../auth/contract.ts';
import type { Sandbox } from '../sandbox/contract.ts';

/** When lines are forced to the disk itself. */
export type SyncPolicy =
  /** Before the response is sent: what a client was told is in the log, whatever happens then. */
  | 'always'
  /** Written within a tenth of a second, forced to the disk every second: a crash loses the last moment. */
  | 'interval'
  /** Written within a tenth of a second; the system decides the rest. */
  | 'never';

/** What happens to calls while lines cannot be written, for instance because the disk is full. */
export type FailureMode =
  /** They are rejected before they run. */
  | 'closed'
  /** They run without being recorded; health, metrics and the server log say so. */
  | 'open';

/** Arguments of some tools that are never written, whatever they hold. */
export interface FieldRule {
  /** Globs. */
  readonly tools: readonly string[];
  /** Names of arguments at any depth; `*` is all of them. */
  readonly hide: readonly string[];
}

export interface AuditOptions {
  /** Where the files are. Made with mode 0700 where it is missing. */
  readonly directory: string;
  /** Begins every file name. Default `audit`. */
  readonly name?: string;
  /** Default `interval`. */
  readonly sync?: SyncPolicy;
  /** Default `closed`. When the log is opened it must be writable in both modes. */
  readonly failureMode?: FailureMode;
  /** Beyond it a new file begins. Default 64 MiB. */
  readonly maxFileBytes?: number;
  /**
   * All files of the log together; the oldest are deleted, and the log says so. Stops callers from filling the disk with
   * lines. Default 1 GiB, at least 2 `maxFileBytes`.
   */
  readonly maxTotalBytes?: number;
  /** Finished files that are kept, within `maxTotalBytes`. Default: all. */
  readonly maxFiles?: number;
  /** Beyond it the arguments of a line are truncated. Stops a caller from writing documents to the log. Default 32 KiB. */
  readonly maxLineBytes?: number;
  /**
   * Lines that wait for the disk: from half of it on calls fail as `failureMode` says, beyond it lines are dropped and
   * counted. Stops callers from filling memory while the disk is slow or full. Default 16 MiB.
   */
  readonly maxQueuedBytes?: number;
  /**
   * With less room on the disk calls fail as `failureMode` says: what is left is for the lines of calls that run already.
   * Default 1 MiB.
   */
  readonly minFreeBytes?: number;
  /** How arguments are written: without secrets (default), as a digest, or not at all. */
  readonly arguments?: 'redacted' | 'digest' | 'none';
  /** In addition to clipboard texts, which are never written. */
  readonly fields?: readonly FieldRule[];
  /** More names and shapes of secrets. */
  readonly secretKeys?: readonly string[];
  readonly secretPatterns?: readonly RegExp[];
  readonly logger?: Logger;
}

/** Something to be written that is no request: a start of a program, a decision. */
export interface AuditRecord {
  readonly event: string;
  readonly ctx?: Pick<Context, 'principal' | 'session'>;
  /** Written without secrets. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly outcome?: string;
  readonly durationMs?: number;
}

/** The end of the chain: whoever keeps it elsewhere can tell later whether lines were cut off. */
export interface AuditHead {
  readonly seq: number;
  readonly hash: string;
}

/** Whether lines can be written. */
export interface AuditStatus {
  /** Why they cannot; undefined while they can. */
  readonly failure: string | undefined;
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
  readonly head: AuditHead;
  readonly status: AuditStatus;
  /** The same for `serveHttp({ monitors })`. */
  monitor(): PartStatus;
  /** Records every call, refusal and read of a server from here on; `server.use` calls it. */
  install(server: Server): void;
  /** Records whom an authenticator turns away. */
  authentication(authenticate: Authenticate): Authenticate;
  /** A sandbox whose starts are recorded, for the call that `ctx` belongs to. */
  sandbox(sandbox: Sandbox, ctx?: Pick<Context, 'principal' | 'session'>): Sandbox;
  record(record: AuditRecord): void;
  /** Resolves when everything recorded so far is as safe as the sync policy makes it. */
  flush(): Promise<void>;
  /** Writes what is left and a last line. */
  close(): Promise<void>;
}
