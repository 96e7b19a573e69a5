// Where engine and transports meet: what a transport hands in, and the way back it offers. Contracts only.

import type { MessageLimits } from './json-rpc.ts';
import type { KeptText } from './kept-text.ts';
import type { Logger } from './log.ts';
import type { Capabilities, Implementation, LogLevel, RequestId } from './model.ts';
import type { ExpiringStore, Sealer } from './ports.ts';
import type { Principal } from './principal.ts';
import type { Sealing } from './seal-key.ts';

export type { Principal } from './principal.ts';

export type TransportKind = 'stdio' | 'http' | 'sse' | 'websocket' | 'memory';

/** What the transport vouches for about the other side. */
export interface Peer {
  readonly transport: TransportKind;
  readonly principal?: Principal | undefined;
  /** For logs and rate limits, never for trust: an address, a pid. */
  readonly address?: string | undefined;
}

/** Reads a header that came beside the body; names are lower-case. Only transports with headers have it. */
export type ReadHeader = (name: string) => string | undefined;

/**
 * The way back for one inbound message, or for a whole pipe. Texts are complete JSON-RPC messages on one line.
 * A pipe shares one outlet among all its messages; HTTP makes one per POST.
 */
export interface Outlet {
  /**
   * Sends something before the answer, or unasked. False when it can not be delivered (no stream, peer gone): then
   * nobody will see it.
   */
  push(text: string): boolean;
  /**
   * Ends the exchange. `undefined`: nothing is to be answered. `status` and `headers` (names and values in turn) are
   * for HTTP, where they apply.
   */
  end(text: string | undefined, status?: number, headers?: readonly string[]): void;
  /** The same for an answer around a text that is kept, where its bytes are of use. */
  endKept?(head: string, kept: KeptText, tail: string): void;
  /** True while server-to-client requests can reach the peer and be answered. */
  readonly duplex: boolean;
  /** True when only a limit keeps `push` from delivering: the peer would take a stream, but too many are open. */
  readonly full?: boolean;
  /**
   * Ends the connection, not the exchange: the peer comes back after `retryMs` and gets the rest. False where that is
   * not possible; then nothing happens. Only transports whose streams can be resumed have it.
   */
  hangUp?(retryMs: number): boolean;
}

/** One inbound message with what came beside it. */
export interface Inbound {
  /** Its own way back; without one, that of the whole channel. */
  readonly outlet?: Outlet;
  /** Present on transports that mirror parts of the body in headers, which must then agree. */
  readonly header?: ReadHeader;
  /** Who this very message speaks for, where one channel hears several: a session whose client renewed its token. */
  readonly peer?: Peer;
  /** When it came, on the monotonic clock, where the transport has looked. */
  readonly atMs?: number;
  /** Length of the text of a message that was parsed by the transport; large requests are counted while they run. */
  readonly length?: number;
}

/** One connection as the engine sees it: a pipe, a socket, an HTTP session in use, or a single POST. */
export interface Channel {
  /** Takes the text of one message (or batch). Every message with an id is answered exactly once through the outlet. */
  receiveText(text: string, inbound?: Inbound): void;
  /** Takes a message that is already parsed; the transport has applied its own size and depth limits. */
  receive(message: unknown, inbound?: Inbound): void;
  /** Answers a frame that never became a message: too large, not UTF-8. `id` when it was readable. */
  refuse(error: Error, id?: string | number, inbound?: Inbound): void;
  /** Requests of either side still open. */
  readonly busy: boolean;
  /**
   * No more input will come: waits for open calls up to `graceMs`, then aborts the rest and ends subscriptions. `error`:
   * why, if not because the server is shutting down; subscriptions are answered with it too.
   */
  drain(graceMs: number, error?: Error): Promise<void>;
  /** The peer is gone: aborts everything at once, sends nothing. */
  close(): void;
}

/** What a transport needs of a server. */
export interface Host {
  /** Where transports without a logger of their own say what went wrong. */
  readonly logger?: Logger | undefined;
  /** Opens a channel for a peer; `outlet` carries what no request asked for and is the default way back. */
  connect(peer: Peer, outlet: Outlet): Channel;
  /**
   * Loads ahead what requests will need. For transports to call when nobody waits, or to await before anybody can; a
   * request that comes earlier loads it by itself.
   */
  prepare?(): Promise<void>;
  /** Called when the last transport of the process ends, so that packs can let go of what they hold. */
  close(): Promise<void>;
}

/** What `initialize` settled; all that is needed to take a session up again elsewhere. */
export interface SessionFacts {
  readonly key: string;
  readonly revision: string;
  readonly clientInfo?: Implementation;
  readonly capabilities: Capabilities;
}

/** What changes during a session and must outlive the request that changed it. */
export interface SessionState {
  readonly initialized?: boolean;
  readonly level?: LogLevel;
  readonly subscriptions?: readonly string[];
}

/** Told when the state changed, where something else must keep it. An empty state is the one a session begins with. */
export type SaveState = (state: SessionState) => void;

/** The handshake session of a channel, as a transport sees it. */
export interface SessionInUse {
  readonly facts: SessionFacts;
  /** The revision lets a server close a stream early, to be polled: streams then open with an event that is only an id. */
  readonly polling: boolean;
  /** Holds something that can not be restored from facts and state: values of handlers, changes to wait for. */
  readonly holding: boolean;
}

/** A channel whose session may outlive the connections that carry it. */
export interface SessionChannel extends Channel {
  /** Undefined until `initialize` has settled one. */
  readonly session: SessionInUse | undefined;
  /** Who speaks, unless a message says so itself. A channel that is kept unused should not hold on to its last one. */
  peer: Peer;
  /** Gives what no request asked for a way out, or takes it away; without one the channel does not follow changes. */
  follow(outlet: Outlet | undefined): void;
  /** Fails questions that wait for an answer on an outlet which is not duplex any more. */
  release(): void;
  /** Ends one call that is under way with an error. Does nothing if there is no such call. */
  fail(id: RequestId, error: Error): void;
}

/** How a message is to be served where connections are no sessions. */
export type Route =
  /** By itself: it names its revision, or is to be refused. */
  | 'alone'
  /** It opens a session. */
  | 'opening'
  /** Within the session that came beside it. */
  | 'session';

/** How a call ended, for those who count. */
export interface CallEnd {
  readonly request: { readonly method: string; readonly name: string | undefined };
  readonly outcome: string;
  readonly code?: number;
  readonly durationMs: number;
}

/** What a transport needs of a server whose sessions outlive connections. */
export interface SessionHost extends Host {
  readonly name: string;
  readonly version: string;
  readonly logger: Logger | undefined;
  readonly limits: MessageLimits;
  /** Handshake revisions `initialize` may answer, oldest first; empty when every request must stand alone. */
  readonly handshakeVersions: readonly string[];
  /** The handshake revision spoken where neither session nor header names one. */
  readonly assumedVersion: string | undefined;
  /** The keys behind the sealer, for transports that seal faster by themselves; undefined when the sealer was given. */
  readonly sealing: Sealing | undefined;
  readonly sealer: Sealer;
  readonly store: ExpiringStore;
  /** Opens a channel; without an outlet there is no way for what no request asked for. `key` names its session to come. */
  connect(peer: Peer, outlet?: Outlet, key?: string): SessionChannel;
  /** Takes up a session that is known from elsewhere; undefined when its revision is not enabled. */
  resume(peer: Peer, facts: SessionFacts, state?: SessionState, save?: SaveState): SessionChannel | undefined;
  route(message: unknown, header: ReadHeader): Route;
  /** The text of an error about a request whose body was not read. */
  refusal(error: Error, header: ReadHeader): string;
  /** Watches calls; returns how to stop. */
  observe(observer: { ended(end: CallEnd): void }): () => void;
}
