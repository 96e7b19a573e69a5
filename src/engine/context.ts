// What a handler gets besides its arguments. Only the interface: call-context.ts implements it.

import type { Ability } from '../protocol/abilities.ts';
import type { Peer, Principal } from '../protocol/exchange.ts';
import type {
  Capabilities,
  ElicitResult,
  Implementation,
  Json,
  JsonObject,
  LogLevel,
  Meta,
  ResourceLink,
  Root,
  SamplingParams,
  SamplingResult,
  TraceContext,
} from '../protocol/model.ts';
import type { InferOutput, SchemaInput } from '../schema/index.ts';
import type { InputRequest, InputRequests, InputResponses, TypedElicitResult } from './input-requests/input-request.ts';
import type { ExternalWork } from './tasks/runs/external-work.ts';

/** How an input request is sent. */
export interface InputRequestOptions {
  /** Identifies the input request. Keys must be the same on every run of the handler; the default is an ordinal. */
  readonly key?: string;
  /**
   * Aborted when the response is not needed any more: the client is notified that the request is cancelled, and the call
   * rejects with an `InputRequestError`. A client that has received the request as its result may still respond; the response is ignored.
   */
  readonly signal?: AbortSignal | undefined;
}

/** What a link to an attachment says. */
export interface AttachmentOptions extends Pick<ResourceLink, 'title' | 'description' | 'annotations'> {
  /** Such as `report.csv`. */
  readonly name: string;
  /** Default: `text/plain` for a string, `application/octet-stream` for bytes. */
  readonly mimeType?: string;
}

/** State of the session that a request belongs to. Only handshake revisions have sessions. */
export interface SessionView {
  /** Random, unique, never a credential. */
  readonly key: string;
  /** Values that live as long as the session, private to it. */
  readonly values: Map<string, unknown>;
}

/** The client of a session outside of its calls. Only handshake revisions let a server send something then. */
export interface SessionClient {
  /** Whether it has a connection or a stream for it now. */
  readonly isReachable: boolean;
  /** Whether the client can do this. */
  can(ability: Ability): boolean;
  /** Sends an input request that belongs to no call. Rejects with an `InputRequestError`. */
  requestInput(request: InputRequest, signal: AbortSignal): Promise<unknown>;
  /** See `Context.elicitationCompleted`. */
  elicitationCompleted(id: string): boolean;
  /** Sends a notification of an extension. False when it cannot be delivered. */
  notify(method: string, params: JsonObject): boolean;
}

/**
 * The handler's view of the call it serves. Everything is per call: nothing of one client is visible to another.
 *
 * On the stateless revision the handler runs again from the top each time the client retries with input responses; wrap
 * side effects that come before an input request in `ctx.step`.
 */
export interface Context {
  /** Aborted when the client cancels, the connection ends, or the call times out. */
  readonly signal: AbortSignal;
  /** Reports progress if the client asked for it. Values that do not increase are dropped. */
  progress(progress: number, total?: number, message?: string): Promise<void>;
  /** Sends a log message if the client wants messages of this level. */
  log(level: LogLevel, data: unknown, logger?: string): void;
  /** Asks the user to fill in a form. The schema is a flat object of primitives. */
  elicit<const S extends SchemaInput>(
    message: string,
    schema: S,
    options?: InputRequestOptions,
  ): Promise<TypedElicitResult<InferOutput<S>>>;
  /** Asks the user to visit a URL; `accept` means consent, not completion. */
  elicitUrl(message: string, url: string, options?: InputRequestOptions): Promise<ElicitResult>;
  /** Asks the client's model. */
  sample(params: SamplingParams, options?: InputRequestOptions): Promise<SamplingResult>;
  /** The folders the client works in. */
  roots(options?: InputRequestOptions): Promise<readonly Root[]>;
  /** Sends one input request under a key; see `elicit`, `sample`, `roots` in "mooring". */
  requestInput<A extends InputRequest>(
    key: string,
    request: A,
    options?: Omit<InputRequestOptions, 'key'>,
  ): Promise<InputResponses<{ key: A }>['key']>;
  /** Sends several input requests together. Missing capabilities are reported together. */
  requestInputs<A extends InputRequests>(requests: A): Promise<InputResponses<A>>;
  /**
   * The responses to input requests that an earlier run returned with `inputRequired`; undefined until all of them are
   * there. For handlers in phases: they return their input requests and run again.
   */
  inputResponses<A extends InputRequests>(requests: A): Promise<InputResponses<A> | undefined>;
  /** Whether the client can do this, on this revision and connection. `ui`: it shows apps (MCP Apps). */
  can(ability: Ability | 'ui'): boolean;
  /**
   * Runs a side effect once: its JSON result is recorded, and not repeated when the client retries. `once` rejects a second
   * use of the same state altogether (needs a shared store when there are several replicas).
   */
  step<T>(key: string, run: () => T | Promise<T>, options?: { readonly once?: boolean }): Promise<T>;
  /**
   * Stores something large for a while and returns a link to it, to be part of the result: the client reads it if it is
   * needed, and its model does not get all of it. Only the same caller can read it. Needs `attachments` of `createServer`;
   * see `attachmentTtlMs` and `maxAttachmentBytes` of `Limits`.
   *
   * @example
   * return [text('1,200 rows'), await ctx.attach(csv, { name: 'rows.csv', mimeType: 'text/csv' })];
   */
  attach(content: string | Uint8Array, options: AttachmentOptions): Promise<ResourceLink>;
  /**
   * Closes the connection, and the client reconnects for the response, if revision and transport allow it: a long call then
   * holds no connection. Returns false if nothing was closed; the call continues either way.
   */
  closeStream(retryMs?: number): boolean;
  /** The task that this call is; undefined for a call that its client waits for. */
  readonly task: { readonly id: string; readonly attempt: number } | undefined;
  /**
   * Makes the call a task now, if the tool has `task` and the client supports tasks: the client gets the task instead of the
   * result, and the handler continues. Otherwise it does nothing.
   */
  detach(): Promise<void>;
  /** Whether the call is a task, or `detach` would make it one. */
  readonly mayDetach: boolean;
  /**
   * To be returned by a tool with `start: 'external'`: another system does the work, under this ticket. The task ends when
   * `poll` or `server.tasks.settle` says so.
   */
  external(ticket: Json): ExternalWork;
  /** The recorded result of a step of an earlier run; undefined if there is none. */
  stepResult(key: string): unknown;
  /** An input request ends this run: the client repeats the request with the response, and the handler runs again. */
  readonly inputEndsRun: boolean;
  /** A header of the HTTP request that brought the call; undefined without one. Unverified; names are lower-case. */
  header(name: string): string | undefined;
  /** The authenticated caller; undefined without authentication. */
  readonly principal: Principal | undefined;
  /** The connection, or the single HTTP request, that the call came with. */
  readonly peer: Peer;
  /** Unverified; for display and diagnostics only. */
  readonly clientInfo: Implementation | undefined;
  /** What the client declared. To decide, use `can`. */
  readonly clientCapabilities: Capabilities;
  /** The revision in use; for diagnostics, not for decisions. */
  readonly revision: string;
  /** The session of the request; undefined for a stateless request. */
  readonly session: SessionView | undefined;
  /** The client outside of this call; undefined for a stateless request, and for a task that continues in another process. */
  readonly sessionClient: SessionClient | undefined;
  /**
   * Notifies the client that the user has finished at the URL of an elicitation with this id, where the revision has that
   * (2025-11-25). Works after the call, too. False: the client was not notified.
   */
  elicitationCompleted(id: string): boolean;
  /** Sends a notification of an extension: about this call, or after it to the session. False when it cannot be delivered. */
  notify(method: string, params: JsonObject): boolean;
  /** The JSON-RPC id of the request. */
  readonly requestId: string | number;
  /** The client repeats the request, with input responses or a state of an earlier run. */
  readonly isRetry: boolean;
  /** The lowest level of the log messages that the client wants; undefined: it wants none. */
  readonly logLevel: LogLevel | undefined;
  /** The `_meta` of the request, unchanged. */
  readonly meta: Meta;
  /** The trace context that the client sent, such as `traceparent`. */
  readonly trace: TraceContext;
}
