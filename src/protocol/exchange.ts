// Where engine and transports meet: what a transport hands in, and the way back it offers. Contracts only.

import type { Meta } from './model.ts';

/** Who a request acts for, as an authenticator established it. Absent = anonymous. */
export interface Principal {
  /** Stable and unique within the issuer; part of every key that separates one caller from another. */
  readonly id: string;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  readonly expiresAtMs?: number;
  readonly claims?: Meta;
}

export type TransportKind = 'stdio' | 'http' | 'sse' | 'websocket' | 'memory';

/** What the transport vouches for about the other side. */
export interface Peer {
  readonly transport: TransportKind;
  readonly principal?: Principal;
  /** For logs and rate limits, never for trust: an address, a pid. */
  readonly address?: string;
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
  /** Ends the exchange. `undefined`: nothing is to be answered. `status` is the HTTP status where one applies. */
  end(text: string | undefined, status?: number): void;
  /** True while server-to-client requests can reach the peer and be answered. */
  readonly duplex: boolean;
}

/** One inbound message with what came beside it. */
export interface Inbound {
  readonly outlet: Outlet;
  /** Present on transports that mirror parts of the body in headers, which must then agree. */
  readonly header?: ReadHeader;
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
  /** No more input will come: waits for open calls up to `graceMs`, then aborts the rest and ends subscriptions. */
  drain(graceMs: number): Promise<void>;
  /** The peer is gone: aborts everything at once, sends nothing. */
  close(): void;
}

/** What a transport needs of a server. */
export interface Host {
  /** Opens a channel for a peer; `outlet` carries what no request asked for and is the default way back. */
  connect(peer: Peer, outlet: Outlet): Channel;
  /** Called when the last transport of the process ends, so that packs can let go of what they hold. */
  close(): Promise<void>;
}
