// The interfaces that calls, channels, features, middleware and input requests share, so that none of them imports another.
// call.ts, channel.ts, server-state.ts and input-requests/ implement them; a feature sees nothing else of the engine.

import type { CachedText } from '../common/cached-text.ts';
import type { CancelSignal } from '../common/cancellation.ts';
import type { Logger } from '../common/logger.ts';
import type { CallerBudget } from '../protocol/callers/caller-budget.ts';
import type { MarkBudget } from '../protocol/callers/mark-budget.ts';
import type { WireError } from '../protocol/errors.ts';
import type { Outlet, Peer, ReadHeader } from '../protocol/exchange.ts';
import type { JsonRpcResponse, Params } from '../protocol/json-rpc.ts';
import type {
  CacheHint,
  Capabilities,
  Implementation,
  JsonObject,
  LogLevel,
  Meta,
  RequestId,
  ToolResult,
} from '../protocol/model.ts';
import type { Codec, ServerRevisions } from '../protocol/revisions/index.ts';
import type { CallerCatalogs } from './catalog/caller-catalogs.ts';
import type { Catalog } from './catalog/catalog.ts';
import type { ToolEntry } from './catalog/catalog-entry.ts';
import type { ListCache, ListVariant } from './catalog/lists.ts';
import type { AnnouncedChange, Changes } from './changes/changes.ts';
import type { Session } from './channels/session.ts';
import type { SessionClient } from './context.ts';
import type { InputRequest } from './input-requests/input-request.ts';
import type { Limits } from './limits.ts';
import type { Caller, ExpiringStore, OtherSkills, RequestEnd, RequestInfo, ResourceFollower, Sealer } from './ports.ts';

/** Returned by a run whose call ends later by itself. A promise for it would cost each open stream half a kilobyte. */
export const stillOpen: unique symbol = Symbol('still open');

/** What serves one method: how it runs and how its result is encoded. features/ has one file per protocol feature. */
export interface Feature<Result = unknown> {
  /** Returns the neutral result; synchronously wherever nothing has to be awaited. */
  run(call: Call): Result | Promise<Result>;
  /** Encodes the result for the revision of the call. */
  encode(result: Result, call: Call): string | CachedText;
  /** Turns a failure of the call itself, such as a timeout, into a result, for features that report failures as results. */
  readonly recover?: ((error: Error, call: Call) => Result) | undefined;
  /**
   * `immediate` (default): answered without user code. `handler`: runs a handler, so time limits and concurrency apply.
   * `long-lived`: stays open until one side ends it.
   */
  readonly duration?: 'immediate' | 'handler' | 'long-lived';
  /** Overrides the server's time limit for this call. */
  timeoutMs?(call: Call): number | undefined;
  /** Whether a result reports a failure, for observers. */
  failed?(result: Result): boolean;
}

/** One request in progress, as features and input requests see it. */
export interface Call extends RequestInfo {
  readonly server: CallServer;
  readonly channel: CallChannel;
  readonly codec: Codec;
  /** What its caller can see and use. */
  readonly catalog: Catalog;
  /** The handshake session; undefined for a stateless request. */
  readonly session: Session | undefined;
  readonly id: RequestId;
  readonly params: Params;
  readonly outlet: Outlet;
  readonly header: ReadHeader | undefined;
  /** A tool other than the named one runs: headers that mirror arguments are not its own. */
  readonly isRedirected: boolean;
  readonly meta: Meta;
  readonly capabilities: Capabilities;
  readonly clientInfo: Implementation | undefined;
  /** The lowest log level that the client wants for this call; undefined: no log messages. */
  readonly logLevel: LogLevel | undefined;
  readonly signal: AbortSignal;
  /** Fires like `signal`, and costs less. */
  readonly cancellation: CancelSignal;
  /** What the feature looked up, for its encoder. */
  target: unknown;
  /** Answered, cancelled or suspended: nothing more is sent for this request. */
  readonly settled: boolean;
  /** Input requests without a response yet; the time limit is paused meanwhile. */
  waiting: number;
  /** Ends a long-lived request when its channel drains. */
  onDrain: (() => void) | undefined;
  /** Created with the first input request. */
  inputRequester: InputRequester | undefined;
  /** Set if it may become a task, or was started for one. Such a call is settled long before its handler ends. */
  task: CallTask | undefined;
  /** Sends something about this call before its response. False when it cannot be delivered. */
  push(text: string): boolean;
  succeed(result: string | CachedText, outcome?: RequestEnd['outcome']): void;
  fail(error: WireError): void;
  /** Signals the handler to stop. */
  abort(reason: string): void;
  /** Releases the params of a request that stays open. */
  forgetParams(): void;
  /** Releases the connection of a call that continues as a task. */
  forgetConnection(): void;
}

/** What a new task says about time where that differs from its tool. */
export interface TaskTimes {
  /** How long it is stored. */
  readonly ttlMs?: number | undefined;
  /** How often clients may poll. */
  readonly pollMs?: number | undefined;
}

/** A call that may become a task, or has become one. tasks/ implements it. */
export interface CallTask {
  /** Undefined until the call is a task. */
  readonly id: string | undefined;
  /** Its client waits for the result, so that `detach` does not make it a task. */
  readonly isInline?: boolean;
  /** How often the handler was started, this time included. */
  readonly attempt: number;
  /** Runs the handler: at once, or when the task was created. */
  run(handler: () => ToolResult | Promise<ToolResult>): ToolResult | Promise<ToolResult>;
  /** Makes the call a task now, if its client supports tasks. */
  detach(times?: TaskTimes): Promise<void>;
  /** The client cannot ask its user, and its model may answer forms instead. */
  readonly modelAnswers?: boolean;
  /** Called before input requests are sent. */
  prepareInput?(requests: readonly InputRequest[]): Promise<void>;
  progress(progress: number, total: number | undefined, message: string | undefined): void;
  /** Sets the status message, if the call is a task. */
  setMessage?(message: string): void;
  log(level: LogLevel, logger: string | undefined, data: unknown): void;
  /** The call is a task, and this is its result. */
  ended(result: unknown): void;
  /** The call is a task, and this is why it has no result. */
  failed(error: WireError): void;
}

/** The tasks of a server, once they are loaded. */
export interface LoadedTasks {
  /**
   * Decides how a call of a tool runs, and sets its `task` if that differs from other calls. Returns the result of a call
   * that cannot run; throws where the revision has an error for it.
   */
  admit(call: Call, entry: ToolEntry): ToolResult | undefined;
  /** Runs a tool for clients without tasks. */
  callFacade(tool: 'task_status' | 'task_answer' | 'task_cancel', call: Call, args: JsonObject): Promise<ToolResult>;
  /** A response to a request that no channel waits for: perhaps to an input request of a task. */
  respond(response: JsonRpcResponse, peer: Peer): void;
  /** Something may have changed in what can be sent to the sessions of a channel. */
  routesChanged(): void;
  /** The stream of the session of a channel, for messages that belong to no request, was opened or closed. */
  streamChanged(channel: CallChannel, isOpened: boolean): void;
  /** Which of these tasks the caller may follow. */
  acceptedIds(call: Call, ids: readonly string[]): Promise<readonly string[]>;
  /** Notifies a subscription of changes of tasks, from their current state on. Returns a function that ends it. */
  follow(call: Call, ids: readonly string[]): () => void;
}

/** The tasks of a server. Their code is loaded when they are first used. */
export interface ServerTasks {
  readonly loaded: LoadedTasks | undefined;
  /** How the list of tools differs for the client of a call; undefined: it does not. */
  listVariant(call: Call): ListVariant<'tools'> | undefined;
  load(): Promise<LoadedTasks>;
}

/** The channel of a call, as features and input requests see it. */
export interface CallChannel {
  /** The key of the session to be opened, if the transport has chosen it already. */
  readonly key: string | undefined;
  readonly session: Session | undefined;
  /** No more input will arrive; a long-lived request that starts now ends at once. */
  readonly draining: boolean;
  /** Long-lived requests that are open. */
  readonly openSubscriptions: number;
  /** Opens the session that `initialize` negotiated. */
  open(session: Session): void;
  subscribe(session: Session, uri: string): void;
  unsubscribe(session: Session, uri: string): void;
  /** Sends a request to the client on behalf of a call and waits for the response. */
  request(call: Call, method: string, params: object, signal?: AbortSignal): Promise<unknown>;
  /** Cancels the requests sent on behalf of a call that has ended. */
  cancelRequests(call: Call, reason: Error): void;
  /** Whether a message that belongs to no request reaches the client now. */
  readonly reachable: boolean;
  /** Sends a message that belongs to no request. False when it cannot be delivered. */
  pushUnrelated(text: string): boolean;
  /** The client of its session outside of calls. */
  readonly sessionClient: SessionClient | undefined;
}

/** The server of a call, as features and input requests see it. */
export interface CallServer {
  /** What a caller can see and use: one catalog for all, unless there are catalogs of callers. */
  catalogOf(caller: Caller): Catalog;
  /** Undefined unless callers have catalogs of their own. */
  readonly callerCatalogs: CallerCatalogs | undefined;
  readonly lists: Pick<ListCache, 'page' | 'pageOf' | 'hintFor' | 'encode'>;
  readonly changes: Pick<Changes, 'add' | 'remove'>;
  /** Undefined unless resources are followed elsewhere. */
  readonly follower: ResourceFollower | undefined;
  /** Undefined unless other servers have skills too. */
  readonly otherSkills: OtherSkills | undefined;
  readonly revisions: Pick<ServerRevisions, 'negotiate' | 'statelessVersions'>;
  readonly limits: Limits;
  /** Memory for the resources and tasks that callers subscribe to. */
  readonly subscriptionBudget: Pick<CallerBudget, 'isFull' | 'charge' | 'release'>;
  /** Single-use states that were used and have not expired. */
  readonly usedStates: Pick<MarkBudget, 'isFull' | 'waitMs' | 'charge'>;
  readonly sealer: Sealer;
  readonly store: ExpiringStore;
  /** Undefined unless a tool runs as a task. */
  readonly tasks: ServerTasks | undefined;
  readonly logger: Logger | undefined;
  /** Callers do not see the messages of unexpected errors. */
  readonly masksErrors: boolean;
  readonly capabilities: Capabilities;
  instructionsFor(caller: Caller): string | undefined;
  readonly listCache: CacheHint;
  /** Whether a capability is declared; a dotted path asks for a flag inside it. */
  offers(path: string): boolean;
  /** Whether a caller may be notified of a change of a resource. */
  maySee(announcement: AnnouncedChange, client: Caller): boolean;
}

/** An input request with its key, or without one if the handler gave none. */
export type KeyedInputRequest = readonly [key: string | undefined, request: InputRequest];

/** Sends the input requests of one call: push.ts and retry.ts implement it. */
export interface InputRequester {
  /** Sends the input requests together; responses come in the same order. `signal`: they are not needed any more. */
  send(requests: readonly KeyedInputRequest[], signal?: AbortSignal): Promise<unknown[]>;
  /** The responses that are there already, in the same order; undefined unless all of them are. */
  inputResponses(requests: readonly (readonly [key: string, request: InputRequest])[]): Promise<unknown[] | undefined>;
  step(key: string, run: () => unknown, once: boolean): Promise<unknown>;
  /** The handler runs again from the top, within the same call: responses so far are reused. */
  restart(): void;
  /** The call is over: open input requests are cancelled. */
  cancelAll(reason: Error): void;
  /** What a call that becomes a task takes along. */
  recorded(): RecordedInput;
}

/** Input responses and steps so far, as the handler got them. */
export interface RecordedInput {
  readonly responses: ReadonlyMap<string, { readonly kind: string; readonly value: unknown }>;
  readonly steps: ReadonlyMap<string, unknown>;
  /** How many input requests had no key of their own. */
  readonly unnamed: number;
}
