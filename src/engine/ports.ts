// The interfaces that the engine offers to the folders above it: middleware, observers, stores, sealing. Those that it
// shares with transports are in protocol/ports.ts. Implementations are in stores/, security/ and transports/.

import type { WireError } from '../protocol/errors.ts';
import type { EndedSession, Peer, Principal } from '../protocol/exchange.ts';
import type { CacheHint, Capabilities, Implementation, JsonObject, LogLevel, Resource } from '../protocol/model.ts';
import type { Skill } from '../protocol/skills.ts';
import type { Caller } from './caller.ts';
import type { NotifiedClient } from './changes/audience.ts';
import type { Context, SessionView } from './context.ts';
import type { TaskRecord } from './tasks/store/task-store.ts';

export { principalKey } from '../protocol/callers/principal.ts';
export type {
  Bus,
  BusListener,
  ExpiringStore,
  PastMessages,
  Sealer,
  SealKey,
  SharedEventLog,
} from '../protocol/ports.ts';
export type { Caller } from './caller.ts';

/** A request on its way to its feature, as middleware sees it. */
export interface RequestInfo {
  /** Such as `tools/call`. */
  readonly method: string;
  /** The tool name, prompt name or resource URI, if the method has one. */
  readonly name: string | undefined;
  /** The server behind a gateway that the tool belongs to. */
  readonly upstream?: string | undefined;
  /** Params as received, before validation. */
  readonly params: JsonObject;
  /** Who sent it. */
  readonly peer: Peer;
  /** The session it belongs to; undefined for a stateless request. */
  readonly session: Context['session'];
  /** The context that the handler gets. */
  readonly ctx: Context;
  /** When it started to run, on the clock of `performance.now()`. */
  readonly startedAtMs: number;
  /** Lowers the time limit of the request; the lowest of several limits applies. */
  limitTime(maxMs: number): void;
  /** Lowers the size limit of the result, in bytes on the wire; a larger result is replaced by an error. */
  limitResult(maxBytes: number): void;
  /** Called once when the request is over, also when it is cancelled or suspended and its handler never returns. */
  onEnd(listener: (outcome: RequestEnd['outcome'], code?: number) => void): void;
}

/** Lets a request pass, or throws the error to respond with. If it returns a promise, the request waits for it. */
export type RequestCheck = (request: RequestInfo) => void | Promise<void>;

/** Whether a caller may be notified that a resource has changed. */
export type ChangeFilter = (uri: string, principal: Principal | undefined) => boolean;

/** Wraps a request. */
export interface Middleware {
  /** Returns what `next` returned, something of the same kind, or throws. */
  (request: RequestInfo, next: () => unknown): unknown;
  /**
   * For middleware that restricts what callers may read: called before a caller is notified that a resource has changed. The
   * caller may have subscribed to the resource itself or to a folder above it.
   */
  readonly maySee?: ChangeFilter;
  /** Makes a call of one tool a call of another, before any middleware runs. */
  readonly redirect?: CallRedirect;
}

/**
 * Replaces the name and arguments of a tool call before middleware and observers see it: they get the tool that runs.
 * Undefined: the call stays as it is. Throws a `WireError` to reject it.
 */
export type CallRedirect = (
  params: JsonObject,
  caller: Caller,
) => { readonly name: string; readonly arguments?: unknown } | undefined;

/** How a request ended, as observers see it. */
export interface RequestEnd {
  /** The request that ended. */
  readonly request: RequestInfo;
  /**
   * `rejected`: a wire error. `failed`: a tool result that reports an error. `detached`: it was answered with a task, whose
   * handler continues.
   */
  readonly outcome: 'ok' | 'failed' | 'rejected' | 'cancelled' | 'input-required' | 'detached';
  /** The JSON-RPC code, if it was rejected. */
  readonly code?: number;
  /** How long it ran. */
  readonly durationMs: number;
  /** On the clock of `performance.now()`. */
  readonly endedAtMs: number;
}

/** A message that was rejected before it ran: an unknown method, invalid params, a session that is not initialized. */
export interface RejectedMessage {
  /** The message as received; it may be anything. Undefined for a text that is not JSON. */
  readonly message: unknown;
  /** The text, if it is not JSON and the transport passed it on. */
  readonly text?: string | undefined;
  /** Who sent it. */
  readonly peer: Peer;
  /** The session that it belongs to, if it has one. */
  readonly session?: SessionInfo | undefined;
  /** Why it was rejected. */
  readonly error: WireError;
  /** The JSON-RPC code of the response. */
  readonly code: number;
}

/** A request that the server sends to a client on behalf of a call: elicitation, sampling, roots. Handshake revisions only. */
export interface SentRequest {
  /** The JSON-RPC id. */
  readonly id: string;
  /** Such as `elicitation/create`. */
  readonly method: string;
  /** The call on whose behalf it is sent. */
  readonly call: RequestInfo;
  /** Adds members to the `_meta` of the request, such as a trace context. It replaces nothing. */
  addMeta(members: JsonObject): void;
  /** Called once when there is a response, or the request has failed or was cancelled: then with the reason. */
  onEnd(listener: (error: Error | undefined) => void): void;
}

/** The session of a message, as observers see it. Only handshake revisions have sessions. */
export interface SessionInfo extends SessionView {
  /** The protocol revision that was negotiated. */
  readonly revision: string;
  /** Name and version that the client reports. Unverified. */
  readonly clientInfo: Implementation | undefined;
  /** What the client declared. */
  readonly capabilities: Capabilities;
  /** The mildest log messages that the client wants. */
  readonly level: LogLevel;
  /** URIs of resources that the client has subscribed to. */
  readonly subscriptions: ReadonlySet<string>;
}

/** A change of a task. */
export interface TaskEvent {
  /** What happened. */
  readonly type:
    | 'created'
    | 'message'
    | 'input-requested'
    | 'input-answered'
    | 'input-cancelled'
    | 'step-started'
    | 'step-finished'
    | 'extended'
    | 'suspended'
    | 'released'
    | 'recovered'
    | 'handed-over'
    | 'cancel-requested'
    /** Another process has taken the task over, or may do so: its handler was stopped here. Nothing was stored. */
    | 'lease-lost'
    | 'ended';
  /** The task after the change. It contains arguments and results: do not log it as a whole. */
  readonly task: TaskRecord;
  /** The input request that was answered. */
  readonly key?: string;
  /** Who made the change, if a caller did. */
  readonly peer?: Peer;
  /** The request that created the task. */
  readonly request?: RequestInfo;
}

/** Is notified of messages and calls and cannot change them. Every method is optional; what it throws is logged. */
export interface Observer {
  /**
   * `session`: the one that the connection or the HTTP request belongs to; undefined before `initialize`. `text`: the message
   * as it arrived, where the transport has it.
   */
  received?(message: unknown, peer: Peer, session?: SessionInfo, text?: string): void;
  /** A message was passed to the transport, as the text that is sent. */
  sent?(text: string, peer: Peer, session?: SessionInfo): void;
  /** A request begins to run. */
  started?(request: RequestInfo): void;
  /** Called before the response is sent. */
  ended?(ended: RequestEnd): void;
  /** A message was rejected before it ran. */
  rejected?(rejected: RejectedMessage): void;
  /** A request is about to be sent to the client. */
  requesting?(request: SentRequest): void;
  /** A connection was opened: stdio, WebSocket, HTTP+SSE, in memory. Streamable HTTP has requests, not connections. */
  connected?(peer: Peer): void;
  /** It was closed; called once for each `connected`. `session`: the one that ended with it, if there was one. */
  disconnected?(peer: Peer, session?: SessionView): void;
  /** A session of Streamable HTTP was ended by its client or an operator. One that is left to expire is not reported. */
  sessionEnded?(session: EndedSession): void;
  /** The client announced that its roots changed; the next `ctx.roots()` of this session requests them again. */
  rootsChanged?(peer: Peer, session: SessionView): void;
  /** A task was changed by this process, and the change is stored. */
  taskChanged?(event: TaskEvent): void;
}

/** Serves what neither the protocol nor `server.method` defines: extensions that are implemented elsewhere. */
export interface OtherMethods {
  /** Returns the result object. Throws `wireErrors.methodNotFound` for what it does not know. */
  request(method: string, params: JsonObject, ctx: Context): unknown;
  /** A notification of a session. */
  notified(method: string, params: JsonObject, peer: Peer, session: SessionView): void;
}

/** Skills of other servers: those that are `relayed` in the catalog, and those that are in no list. */
export interface OtherSkills {
  /** The skill as it is now; undefined if there is none. */
  get(uri: string, ctx: Context): Promise<FoundSkill | undefined>;
  /** What is directly in a folder; undefined if another server is not asked for it. */
  readDirectory(uri: string, ctx: Context): Promise<readonly Resource[] | undefined>;
}

/** A skill of another server. */
export interface FoundSkill {
  readonly skill: Skill;
  /** Absent: it may not be cached. */
  readonly cache?: CacheHint | undefined;
}

/** Follows resources elsewhere for as long as clients of this server follow them. */
export interface ResourceFollower {
  /** Before a client subscribes. False: there will be no notifications, so that the client cannot subscribe. */
  prepare(uri: string, ctx: Context): boolean | Promise<boolean>;
  /** A client follows the resource: one that has subscribed, or a restored session, which is not prepared again. */
  followed(uri: string, client: NotifiedClient): void;
  /** The client does not follow it any more. */
  unfollowed(uri: string, client: NotifiedClient): void;
}

/** The lists a server has. */
export type CatalogKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts' | 'skills';

/** What can be hidden: a skill is hidden with its `SKILL.md`, which is a resource. */
export type RestrictedKind = Exclude<CatalogKind, 'skills'>;

/**
 * Decides who may see and use what, in addition to `visible` of a definition. `key` is the name, URI or URI template. For a
 * caller, what is hidden does not exist.
 */
export type Visibility = (kind: RestrictedKind, key: string, principal: Principal | undefined) => boolean;

/** Something that can be installed on a server with `use`. */
export interface Pack<Host> {
  /** For messages. */
  readonly name: string;
  /** Registers what the pack offers. `server.use` calls it. */
  install(server: Host): void | Promise<void>;
  /** Releases what the pack holds; packs are closed in reverse order. */
  close?(): void | Promise<void>;
}
