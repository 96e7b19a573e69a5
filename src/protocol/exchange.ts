// The contract between engine and transports: what a transport passes in, and the outlet it offers for responses.

import type { CachedText } from '../common/cached-text.ts';
import type { Logger } from '../common/logger.ts';
import type { Principal } from './callers/principal.ts';
import type { MessageLimits } from './json-rpc.ts';
import type { Capabilities, Implementation, LogLevel, RequestId } from './model.ts';
import type { Monitor } from './monitor.ts';
import type { Bus, ExpiringStore, Sealer } from './ports.ts';
import type { Sealing } from './seal-key.ts';

export type { Principal } from './callers/principal.ts';

/** How a peer is connected. */
export type TransportKind = 'stdio' | 'http' | 'sse' | 'websocket' | 'memory';

/** What the transport knows for certain about the other side. */
export interface Peer {
  /** How it is connected. */
  readonly transport: TransportKind;
  /** Who it is, if the transport or the program has authenticated it. */
  readonly principal?: Principal | undefined;
  /** For logs and rate limits only, never for trust: an address or a pid. */
  readonly address?: string | undefined;
  /** The port of that address, where there is one. */
  readonly port?: number | undefined;
  /** The version of HTTP, such as `1.1`, or of the WebSocket protocol. */
  readonly protocolVersion?: string | undefined;
  /** It is asked for input only during its own calls, as a console is. Default: also outside of calls, where it has a session. */
  readonly inputInCallsOnly?: boolean | undefined;
}

/** Reads a header that was sent with the body; names are lower-case. Only transports with headers have it. */
export type ReadHeader = (name: string) => string | undefined;

/**
 * The response path for one inbound message, or for a whole pipe. Texts are complete JSON-RPC messages on one line.
 * All messages of a pipe share one outlet; HTTP creates one per POST.
 */
export interface Outlet {
  /**
   * Sends a message before the response, or without a request. Returns false when it cannot be delivered (no stream,
   * the peer is gone).
   */
  push(text: string): boolean;
  /**
   * Ends the exchange. `undefined`: there is nothing to respond. `status` and `headers` (names and values alternate)
   * are for HTTP.
   */
  end(text: string | undefined, status?: number, headers?: readonly string[]): void;
  /** The same for a response that contains a cached text, for transports that can use its bytes. */
  endCached?(head: string, cached: CachedText, tail: string): void;
  /** True while server-to-client requests can reach the peer and be answered. */
  readonly duplex: boolean;
  /** False while nothing is read at the other end and messages are only buffered; absent: as `push` says. */
  readonly connected?: boolean;
  /** True when only a limit prevents `push`: the peer would accept a stream, but too many are open. */
  readonly full?: boolean;
  /**
   * Closes the connection but not the exchange: the peer reconnects after `retryMs` and gets the rest. Returns false
   * and does nothing where that is not possible. Only transports with resumable streams have it.
   */
  closeEarly?(retryMs: number): boolean;
}

/** One inbound message with the data sent beside it. */
export interface Inbound {
  /** The outlet of this message; by default that of the channel. */
  readonly outlet?: Outlet;
  /** Present on transports with headers for each message. Those of a stateless request mirror parts of its body: the two must agree. */
  readonly header?: ReadHeader;
  /** The result of `SessionHost.route` for this message and header, so that it is not classified twice. */
  readonly route?: MessageRoute;
  /** The peer of this message, if it differs from the channel's: a session whose client refreshed its token. */
  readonly peer?: Peer;
  /** Time of arrival on the monotonic clock, if the transport has read it. */
  readonly atMs?: number;
  /** The text of a message that the transport parsed: observers see it, and large requests are counted while they run. */
  readonly text?: string | undefined;
}

/** One connection as the engine sees it: a pipe, a socket, an HTTP session in use, or a single POST. */
export interface Channel {
  /** Parses the text of a message, for `receiveText`: the value, or the error that the text gets. */
  parse?(text: string): unknown;
  /** Takes the text of one message (or batch). Every message with an id gets exactly one response through the outlet. */
  receiveText(text: string, inbound?: Inbound, parsed?: unknown): void;
  /** Takes a message that is already parsed; the transport has applied its own size and depth limits. */
  receive(message: unknown, inbound?: Inbound): void;
  /** Responds to a frame that never became a message: too large, not UTF-8. `id` if it was readable. */
  reject(error: Error, id?: string | number, inbound?: Inbound): void;
  /** Requests of either side still open. */
  readonly busy: boolean;
  /**
   * No more input will arrive: waits for open calls up to `graceMs`, then aborts the rest and ends subscriptions.
   * `error` is the reason, if it is not a shutdown of the server; it also ends the subscriptions.
   */
  drain(graceMs: number, error?: Error): Promise<void>;
  /** The peer is gone: aborts everything immediately and sends nothing. */
  close(): void;
}

/** What a transport needs from a server. */
export interface Host {
  /** Where transports without their own logger report errors. */
  readonly logger?: Logger | undefined;
  /** Opens a channel for a peer. `outlet` is the default outlet, and carries messages that belong to no request. */
  connect(peer: Peer, outlet: Outlet): Channel;
  /**
   * Preloads what requests will need. Transports call it while idle, or await it before they accept requests; a request
   * that arrives earlier loads it itself.
   */
  prepare?(): Promise<void>;
  /** Called when the last transport of the process ends, so that packs can release their resources. */
  close(): Promise<void>;
}

/** What `initialize` negotiated; all that is needed to resume a session in another process. */
export interface SessionFacts {
  /** Identifies the session. */
  readonly key: string;
  /** The protocol revision that was negotiated. */
  readonly revision: string;
  /** Name and version that the client reports. Unverified. */
  readonly clientInfo?: Implementation;
  /** What the client declared. */
  readonly capabilities: Capabilities;
}

/** What changes during a session and must outlive the request that changed it. */
export interface SessionState {
  /** Whether the client has sent `notifications/initialized`. */
  readonly initialized?: boolean;
  /** The mildest log messages that the client wants. */
  readonly level?: LogLevel;
  /** URIs of resources that the client has subscribed to. */
  readonly subscriptions?: readonly string[];
}

/** Called when the state changed, if it must be stored elsewhere. A session starts with an empty state. */
export type SaveState = (state: SessionState) => void;

/** The handshake session of a channel, as a transport sees it. */
export interface ChannelSession {
  readonly facts: SessionFacts;
  /** The revision lets a server close a stream early for polling: streams then start with an event that is only an id. */
  readonly polling: boolean;
  /** Holds something that facts and state cannot restore: values of handlers, pending changes. */
  readonly hasState: boolean;
}

/** A channel whose session may outlive the connections that carry it. */
export interface SessionChannel extends Channel {
  /** Undefined until `initialize` has completed. */
  readonly session: ChannelSession | undefined;
  /** The peer of messages that carry none. A channel that is cached while unused should drop its last one. */
  peer: Peer;
  /** Sets the outlet for messages that belong to no request; without one the channel does not follow changes. */
  setOutlet(outlet: Outlet | undefined): void;
  /** Takes over a state that another process has changed. Nothing is saved. */
  setState(state: SessionState): void;
  /** With a bus: notifications of what the session follows and was changed after that position. */
  changesSince(position: number): readonly string[];
  /** Fails input requests that wait for a response on an outlet that is no longer duplex. */
  release(): void;
  /** Ends one running call with an error. Does nothing if there is no such call. */
  fail(id: RequestId, error: Error): void;
}

/** How a message is handled where connections are not sessions. */
export type MessageRoute =
  /** Stateless: it names its revision, or it is rejected. */
  | 'stateless'
  /** It starts a session. */
  | 'initialize'
  /** Within the session that its headers name. */
  | 'session';

/** How a call ended, for observers. */
export interface CallEnd {
  readonly request: { readonly method: string; readonly name: string | undefined };
  readonly outcome: string;
  readonly code?: number;
  readonly durationMs: number;
}

/** A change of a task, for observers. */
export interface TaskChanged {
  readonly type: string;
  /** The task after the change. */
  readonly task: {
    readonly id: string;
    readonly tool: string;
    readonly phase: string;
    /** Above 1: a process that ran it ended. */
    readonly attempt: number;
    readonly createdAtMs: number;
    readonly endedAtMs?: number;
    readonly inputs: readonly { readonly answeredAtMs?: number; readonly cancelled?: true }[];
    readonly outcome?:
      | { readonly type: 'result'; readonly isError: boolean }
      | { readonly type: 'error'; readonly data?: unknown }
      | { readonly type: 'cancelled' };
  };
}

/** A session, or a connection that is one, as an operator sees it. */
export interface OpenSession {
  /** Of a session that outlives connections. */
  readonly key?: string | undefined;
  /** Of a connection. */
  readonly peer?: Peer | undefined;
}

/** What operators can do with the sessions of a transport. */
export interface SessionControl {
  /** Event streams and sockets that are open for a session; undefined: it is not of this transport. */
  streams(session: OpenSession): number | undefined;
  /** Ends a session: its calls fail, its streams end, its id is not accepted any more. False: it is not of this transport. */
  end(session: OpenSession): boolean | Promise<boolean>;
}

/** Lets open calls finish within the time, then ends connections and streams. */
export type Drain = (graceMs: number) => Promise<void>;

/** What a transport observes of its server. */
export interface CallObserver {
  ended(end: CallEnd): void;
  taskChanged?(event: TaskChanged): void;
  requesting?(request: RequestToClient): void;
  connected?(peer: Peer): void;
  disconnected?(peer: Peer): void;
  sessionEnded?(session: EndedSession): void;
}

/** A request that the server sends to a client, for observers. */
export interface RequestToClient {
  readonly method: string;
  /** Called once when there is a response, or the request has failed or was cancelled: then with the reason. */
  onEnd(listener: (error: Error | undefined) => void): void;
}

/** A session of Streamable HTTP that its client or an operator has ended. */
export interface EndedSession {
  /** Identifies the session. */
  readonly key: string;
  /** Undefined for a session that was not initialized. */
  readonly revision: string | undefined;
  /** Who ended it; undefined for an operator. */
  readonly peer: Peer | undefined;
  /** From its creation to its end. */
  readonly durationMs: number;
}

/** What a transport needs from a server whose sessions outlive connections. */
export interface SessionHost extends Host {
  /** The name that clients see. */
  readonly name: string;
  /** The version that clients see. */
  readonly version: string;
  /** Everything that clients see of who it is. */
  readonly identity: Implementation;
  /** Every revision that it supports, oldest first. */
  readonly revisions: readonly string[];
  /** Where it reports to its operator; undefined: nowhere. */
  readonly logger: Logger | undefined;
  /** Limits of messages, with all defaults. */
  readonly limits: MessageLimits;
  /** Handshake revisions that `initialize` may return, oldest first; empty when every request must be stateless. */
  readonly handshakeVersions: readonly string[];
  /** The handshake revision used where neither session nor header names one. */
  readonly assumedVersion: string | undefined;
  /** The keys behind the sealer, for transports with a faster seal of their own; undefined for a custom sealer. */
  readonly sealing: Sealing | undefined;
  /** Seals session ids and states that clients hold. */
  readonly sealer: Sealer;
  /** What processes must remember for a while, such as states that were used. */
  readonly store: ExpiringStore;
  /** The transports whose sessions operators can end; each adds itself. */
  readonly sessionControls: Set<SessionControl>;
  /** Used when the server is not offered any more, while its transport continues; each transport adds what it has open. */
  readonly drains: Set<Drain>;
  /** Connects this process with others that serve the same sessions. */
  readonly bus?: Bus | undefined;
  /** With a bus: clients of this process have been notified of all changes up to this position. */
  readonly changesPosition: number;
  /** Parts of the server that decide whether it can serve requests, for health probes. */
  readonly monitors?: readonly Monitor[];
  /** Opens a channel. Without an outlet, only responses are sent. `key` names the session it may start. */
  connect(peer: Peer, outlet?: Outlet, key?: string): SessionChannel;
  /** Resumes a session known from elsewhere; undefined when its revision is not enabled. */
  resume(peer: Peer, facts: SessionFacts, state?: SessionState, save?: SaveState): SessionChannel | undefined;
  /** Which revision a message belongs to, and whether it needs a session. */
  route(message: unknown, header: ReadHeader): MessageRoute;
  /** The text of an error about a request whose body was not read. */
  errorText(error: Error, header: ReadHeader): string;
  /** Observes calls. Returns a function that stops it. */
  observe(observer: CallObserver): () => void;
  /** Notifies the observers of a session that has ended. */
  sessionEnded(session: EndedSession): void;
}
