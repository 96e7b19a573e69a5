// What a client needs of a transport. Interfaces only: pipes, sockets and HTTP implement it beside this
// file, and an application may bring its own.

import type { HttpBinding } from '../../protocol/revisions/client-revisions.ts';
import type { ClientError } from '../errors.ts';

/** One message on its way out. `text` is a complete JSON-RPC message on one line. */
export interface Outgoing {
  /** The message as JSON, on one line. */
  readonly text: string;
  /** The id, where the message is a request. */
  readonly id?: number;
  /** What the message is, for error messages. */
  readonly method?: string;
  /** Headers that go with it where there are headers: names and values in turn. */
  readonly headers?: readonly string[] | undefined;
  /** The response is a stream that stays open for long. */
  readonly standing?: boolean;
  /**
   * It is left out while the server does not take messages. For responses that a server can cause in any number, without a user:
   * it would fill our memory with them.
   */
  readonly droppable?: boolean;
}

/** Receives what arrives. */
export interface TransportListener {
  /**
   * Parses a text, for `receive`; for all texts that arrived together before the first of them is received: a tenth of the time of
   * a call (bench gateway, "stdio to stdio", 2026-07-28). Never throws.
   */
  parse?(text: string): unknown;
  /**
   * The text of one message, or what should have been one. `during`: the request whose response brought it, where each has its own.
   * `parsed`: what `parse` returned, if it was called.
   */
  receive(text: string, during?: number, parsed?: unknown): void;
  /** The response to this request can no longer arrive. */
  fail(id: number, error: ClientError): void;
  /** Whether a call still waits for the response to this request. */
  isPending(id: number): boolean;
  /** The connection is over, and not because we closed it. Called once. */
  lost(error: ClientError): void;
  /** A user must sign in before a message can be sent: time limits are paused until the returned function is called. */
  pauseTimeouts(): () => void;
  /** Something unexpected that is not a failure yet; shown if a failure follows. */
  reportUnexpected(what: string, kind?: 'text' | 'message'): void;
}

/** A way to reach a server. Opened once; a new connection is a new transport. */
export interface Transport {
  /** `stdio`, `http`, `sse`, `websocket`, `memory`, or another name. */
  readonly kind: string;
  /** The command line or URL, for messages. */
  readonly address: string;
  /** The version of HTTP, such as `1.1`, or of the WebSocket protocol, for telemetry. */
  readonly protocolVersion?: string | undefined;
  /** The id of the session, where the server gave one. */
  readonly sessionId?: string | undefined;
  /** Connects. Rejects with a `ClientError`. */
  open(listener: TransportListener): Promise<void>;
  /** Sends, or reports to the listener why it cannot. If it throws, only this message counts as lost. */
  send(message: Outgoing): void;
  /** How requests travel from now on; only HTTP needs to know. */
  setBinding?(manners: HttpBinding): void;
  /** The connection is open: the server may now send messages unasked. Resolves when they can be received. Never rejects. */
  ready?(): Promise<void>;
  /** No call waits for the response to this request any more. */
  abandon?(id: number): void;
  /** What the server's process wrote to stderr lately. */
  readonly stderr?: string;
  /** The id of the server's process. */
  readonly pid?: number | undefined;
  /**
   * Closes everything; resolves when nothing is left running. Never rejects. The server may take `graceMs` to end;
   * called again with less, it has only that much from then on. Default: the transport decides.
   */
  close(graceMs?: number): Promise<void>;
}
