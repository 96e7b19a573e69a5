// What a client needs of whatever carries its messages. Contract only: pipes, sockets and HTTP implement it beside this
// file, and an application may bring its own.

import type { HttpBinding } from '../../protocol/revisions/client-revisions.ts';
import type { ClientError } from '../errors.ts';

/** One message on its way out. `text` is a complete JSON-RPC message on one line. */
export interface Outgoing {
  readonly text: string;
  /** The id, where the message is a request. */
  readonly id?: number;
  /** What the message is, for error messages. */
  readonly method?: string;
  /** Headers that go with it where there are headers: names and values in turn. */
  readonly headers?: readonly string[] | undefined;
  /** The answer is a stream that stays open for long. */
  readonly standing?: boolean;
}

/** Who hears what arrives. */
export interface TransportListener {
  /** The text of one message, or what should have been one. */
  receive(text: string): void;
  /** The answer to this request can not come any more. */
  fail(id: number, error: ClientError): void;
  /** Whether anybody still waits for the answer to this request. */
  isPending(id: number): boolean;
  /** The connection is over, and not because we closed it. Called once. */
  lost(error: ClientError): void;
  /** A person is asked before a message can go out: nobody's time runs until the returned function is called. */
  pauseTimeouts(): () => void;
  /** Something odd that is no failure yet: it is told when one comes of it. */
  reportUnexpected(what: string): void;
}

/** A way to reach a server. Opened once; a new connection is a new transport. */
export interface Transport {
  /** `stdio`, `http`, `sse`, `websocket`, `memory`, or a name of its own. */
  readonly kind: string;
  /** The command line or URL, for messages. */
  readonly address: string;
  /** Connects. Rejects with a `ClientError`. */
  open(listener: TransportListener): Promise<void>;
  /** Sends, or tells the listener why it can not; never throws. */
  send(message: Outgoing): void;
  /** How requests travel from now on; only HTTP needs to know. */
  setBinding?(manners: HttpBinding): void;
  /** The connection is open: the server may now speak unasked. Resolves when it could be heard. Never rejects. */
  ready?(): Promise<void>;
  /** Nobody waits for the answer to this request any more. */
  abandon?(id: number): void;
  /** What the server's process wrote to stderr lately. */
  readonly stderr?: string;
  /**
   * Lets go of everything; resolves when nothing is left running. Never rejects. The server may take `graceMs` to end;
   * called again with less, it has only that much from then on. Default: what the transport thinks is polite.
   */
  close(graceMs?: number): Promise<void>;
}
