// The options of a connection and of one call, with every limit's name, default and reason.

import type { CancelSignal } from '../common/cancellation.ts';
import { assertLimit, resolveLimitOptions } from '../common/known-options.ts';
import type { Logger } from '../common/logger.ts';
import type { CacheHint, Capabilities, Implementation, JsonObject, LogLevel, Meta } from '../protocol/model.ts';
import type { Authorizer } from './auth/authorizer.ts';
import type { ResponseCache } from './cache.ts';
import type { EraCache } from './era-cache.ts';
import type { InputHandlers } from './input-requests.ts';
import type { TaskHandle } from './task-handle.ts';
import type { ClientTelemetry } from './telemetry.ts';

/** How far a call has come, as the server reports it. */
export interface Progress {
  /** How much is done. */
  readonly progress: number;
  /** How much there is to do, if the server knows it. */
  readonly total?: number;
  /** What the server is doing. */
  readonly message?: string;
}

/** Options of a single call. */
export interface CallOptions {
  /** Cancels the call, mostly an `AbortSignal`: the server is notified, and the promise rejects with code `cancelled`. */
  readonly signal?: CancelSignal | undefined;
  /** How long to wait for the response, or for the next report of progress. Default: that of the client. */
  readonly timeoutMs?: number | undefined;
  /** The longest time to wait, even if progress is reported. Default: that of the client, or a longer `timeoutMs`. */
  readonly maxTimeoutMs?: number | undefined;
  /** Asks the server to report progress, which also extends the time limit. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The lowest level of log messages for this call, on revisions that have it per request. Default: that of the connection. */
  readonly logLevel?: LogLevel | 'none' | undefined;
  /** HTTP: sent with the requests of this call, besides the headers of the connection. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Further `_meta` keys: trace context, extensions. */
  readonly meta?: Meta | undefined;
  /**
   * What happens if the server needs input before it can answer (2026-07-28), or wants URLs to be visited first (2025-11-25).
   * Default: the handlers of the connection respond. `throw`: the call rejects, with an `InputRequiredError` or the server's
   * error.
   */
  readonly inputRequired?: 'throw' | undefined;
  /**
   * What happens if the server does not know the session any more, so that the call did not run. Default: it is sent again in a
   * new session. `throw`: it rejects with code `session-lost`, and the next call opens the session.
   */
  readonly sessionLost?: 'throw' | undefined;
  /** Repeats a call that was rejected with an `InputRequiredError`: the responses by key, and its state. */
  readonly inputRetry?: InputRetry | undefined;
  /** Declared with this request instead of the capabilities of the connection, on revisions that have them per request. */
  readonly capabilities?: Capabilities | undefined;
  /**
   * Gets each response of the call as the server sent it: the last one, and those with input requests before it. `result`: the
   * text of its result, where it could be found in the text.
   */
  readonly onResponse?: ((text: string, result?: string) => void) | undefined;
}

/** The input responses of a call that is repeated. */
export interface InputRetry {
  /** The input responses by the keys of the input requests. */
  readonly responses: JsonObject;
  /** The `requestState` of the `InputRequiredError`. */
  readonly state: string | undefined;
}

/** Reads may be answered from what is known already. */
export interface ReadOptions extends CallOptions {
  /** `use` (default): a response that is still fresh may be reused. `refresh`: request it again. `bypass`: and do not cache it. */
  readonly cache?: 'use' | 'refresh' | 'bypass' | undefined;
  /** Called with each page of a list that was requested and says how long it may be cached. */
  readonly onCacheHint?: ((hint: CacheHint) => void) | undefined;
}

/** Options of a tool call. */
export interface ToolCallOptions extends CallOptions {
  /**
   * Calling twice does no harm, so a lost connection may be answered by calling again. Default: what the tool's
   * annotations say, if its list was fetched.
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Whether the server may run the call as a task, which is polled until its result is there. Default: if the tool requires
   * it (2025-11-25) or the server decides so (2026-07-28). `prefer`: also if it is optional. `never`: not at all; a tool
   * that requires a task is then rejected by the server.
   */
  readonly task?: 'never' | 'prefer' | undefined;
  /** How long the server should keep the task, from its creation; the server may decide otherwise. Only 2025-11-25. */
  readonly taskTtlMs?: number | undefined;
  /** The server created a task for this call: to show its status, or to keep its id. */
  readonly onTask?: ((task: TaskHandle) => void) | undefined;
  /** Sent as the arguments, so that integers beyond 2^53 keep their digits. JSON of an object. */
  readonly argumentsText?: string | undefined;
}

/** Options of a call that is started as a task. */
export interface StartTaskOptions extends CallOptions {
  /** See `ToolCallOptions.idempotent`. */
  readonly idempotent?: boolean | undefined;
  /** How long the server should keep the task, from its creation; the server may decide otherwise. Only 2025-11-25. */
  readonly ttlMs?: number | undefined;
}

/** When a call that may be repeated is repeated. */
export interface RetryOptions {
  /** How often one call is sent at most. Default 3. */
  readonly maxAttempts?: number;
  /** The first pause; it doubles, and a random part of it is waited, so that many clients do not come back at once. */
  readonly baseDelayMs?: number;
  /** The longest pause. If the server says that it needs a longer one, the call fails, and its error says when to retry. */
  readonly maxDelayMs?: number;
}

/** Which protocol revision to use: negotiate, only those with a handshake, or exactly this one. */
export type RevisionChoice = 'auto' | 'handshake' | (string & {});

/** Options of a connection, all of them optional. */
export interface ConnectOptions {
  /** Who we are. Default: this library. */
  readonly client?: Implementation;
  /** What errors and the log call the server. Default: its command line or URL, which may contain secrets. */
  readonly serverName?: string;
  /** Default `auto`. */
  readonly revision?: RevisionChoice;
  /** Limits the revisions that may be used. */
  readonly revisions?: readonly string[];
  /** Handle the server's input requests. What has a handler is declared as a capability. */
  readonly handlers?: InputHandlers;
  /** Capabilities besides those of the handlers: `extensions`, `experimental`, flags. */
  readonly capabilities?: Capabilities;
  /** Log messages of the server: from level `info`, unless `setLogLevel` sets another. */
  readonly onLog?: (message: LogMessage, context: LogContext) => void;
  /** A list of the server has changed; cached copies are already discarded. */
  readonly onListChanged?: (kind: 'tools' | 'prompts' | 'resources') => void;
  /** Notifications that nothing else handles, of extensions for example. */
  readonly onNotification?: (method: string, params: Meta, context: LogContext) => void;
  /** The connection was lost (it may come back), is back, or has ended for good. */
  readonly onState?: (state: 'lost' | 'restored' | 'closed', error?: Error) => void;
  /** Sees every message as it travels, for traces and recordings. */
  readonly onMessage?: (direction: 'in' | 'out', text: string) => void;
  /**
   * The server sent something that is not a protocol message: a log line on its stdout, for example. It is ignored, and
   * reported once per `connect()`. Default: the logger, otherwise a process warning for a server that was started here.
   * `kind`: whether it looks like a message that is not valid, or is other text.
   */
  readonly onUnexpectedOutput?: (what: string, kind: 'text' | 'message') => void;
  /** Reports everything to `onUnexpectedOutput`, not only the first. */
  readonly reportsAllOutput?: boolean;
  /** Spans and metrics of this connection; see `clientTelemetry` in "mooring/telemetry". */
  readonly telemetry?: ClientTelemetry;
  /** Gets warnings of the client. Default: none. */
  readonly logger?: Logger;
  /** Aborts connecting. */
  readonly signal?: AbortSignal;
  /**
   * A user is asked to sign in, so that all time limits are paused until the returned function is called. For limits
   * of your own: `const limit = new Deadline(10_000, stop); connect(url, { onHold: () => limit.hold() })`.
   */
  readonly onHold?: () => () => void;

  /** For the whole of connecting. Default 60 s. */
  readonly connectTimeoutMs?: number;
  /** For a response to the probe of an unknown server. Default 5 s. */
  readonly probeTimeoutMs?: number;
  /** Default of `CallOptions.timeoutMs`: 60 s. */
  readonly timeoutMs?: number;
  /** Default of `CallOptions.maxTimeoutMs`: 10 min, or a longer `timeoutMs`. */
  readonly maxTimeoutMs?: number;

  /** `false`: nothing is repeated. */
  readonly retry?: RetryOptions | false;
  /** `false`: a lost connection stays lost. */
  readonly reconnect?: boolean;
  /** `false`: nothing is kept. Give the same cache to several clients to share what servers declare public. */
  readonly cache?: ResponseCache | false;
  /** Remembers what was detected about each server: its era, HTTP+SSE, its path. Default: one for the process. */
  readonly eraCache?: EraCache | false;
  /** Structured results are checked against the tool's output schema, once its list was fetched. Default true. */
  readonly validateOutput?: boolean;
  /** Arguments are checked before they are sent; fetches the list of tools where it is not known. Default false. */
  readonly validateArguments?: boolean;

  /** Stops one response from filling the memory. Default 64 MiB. */
  readonly maxMessageBytes?: number;
  /** Stops nesting bombs. Default 256. */
  readonly maxDepth?: number;
  /** Stops a server that never stops asking for input. Default 10. */
  readonly maxInputRetries?: number;
  /** Stops a list that never ends. Default 1,000. */
  readonly maxPages?: number;

  /** HTTP, WebSocket: supplies credentials. */
  readonly authorizer?: Authorizer;
  /** HTTP, WebSocket: sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** HTTP: used instead of Node's own client and the proxy of the environment. Slower. */
  readonly fetch?: typeof fetch;

  /** Commands: the folder to start in. */
  readonly cwd?: string;
  /** Commands: variables of the child besides those on the allow-list. */
  readonly env?: Readonly<Record<string, string>>;
  /** Commands: names (or `true`: all) passed on from our own environment besides the allow-list. */
  readonly inheritEnv?: readonly string[] | true;
  /** Commands: gets what the child writes to stderr. The last 64 KiB are kept in any case. */
  readonly onStderr?: (text: string) => void;
  /** Commands: how long the child may take to end by itself, and again after SIGTERM. Default 2 s. */
  readonly closeGraceMs?: number;
}

/** A log message of the server. */
export interface LogMessage {
  /** How serious it is. */
  readonly level: LogLevel;
  /** The part of the server that sent it. */
  readonly logger?: string;
  /** Any JSON value, often a text. */
  readonly data: unknown;
}

/** Where a log message or another notification came from. */
export interface LogContext {
  /** The options of the call whose response stream brought it. Absent if the transport does not say. */
  readonly call?: CallOptions | undefined;
  /** The task that it belongs to, if the server names it. */
  readonly task?: string | undefined;
}

/** Options with every default filled in. */
export interface ClientLimits {
  readonly connectTimeoutMs: number;
  readonly probeTimeoutMs: number;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly maxDepth: number;
  readonly maxInputRetries: number;
  readonly maxPages: number;
}

/** The defaults. */
export const defaultLimits: ClientLimits = {
  connectTimeoutMs: 60_000,
  probeTimeoutMs: 5_000,
  timeoutMs: 60_000,
  maxTimeoutMs: 600_000,
  maxMessageBytes: 64 * 1024 * 1024,
  maxDepth: 256,
  maxInputRetries: 10,
  maxPages: 1_000,
};

/** Fills in the defaults. Throws for a limit that is not a number. */
export function resolveClientLimits(options: ConnectOptions): ClientLimits {
  const limits = resolveLimitOptions<ClientLimits>(defaultLimits, options, ['maxInputRetries']);
  return { ...limits, ...resolveTimeLimits(options, limits) };
}

/** The time limits of a call. */
export type TimeLimits = Pick<ClientLimits, 'timeoutMs' | 'maxTimeoutMs'>;

/** Throws for a time limit that is not a number above 0: the call would have none. */
export function assertTimeLimits({ timeoutMs, maxTimeoutMs }: CallOptions): void {
  if (timeoutMs !== undefined) assertLimit('timeoutMs', timeoutMs);
  if (maxTimeoutMs !== undefined) assertLimit('maxTimeoutMs', maxTimeoutMs);
}

/** Fills in the defaults. A longer `timeoutMs` raises the default of `maxTimeoutMs`, but not a `maxTimeoutMs` that is given. */
export function resolveTimeLimits(given: CallOptions, defaults: TimeLimits): TimeLimits {
  const { timeoutMs = defaults.timeoutMs } = given;
  const raised = given.timeoutMs === undefined ? defaults.maxTimeoutMs : Math.max(defaults.maxTimeoutMs, timeoutMs);
  const { maxTimeoutMs = raised } = given;
  return { timeoutMs: Math.min(timeoutMs, maxTimeoutMs), maxTimeoutMs };
}
