// One HTTP request and its answer as the core sees them. Contracts only: node/exchange.ts and fetch/exchange.ts bring
// the bytes, everything else in this folder works on these.

import type { Peer, Principal, TransportKind } from '../../protocol/exchange.ts';

/** Header names and values in turn, as they go out. */
export type HeaderList = readonly string[];

/** What can be known of a request before its body is read. */
export interface HttpRequest {
  readonly method: string;
  /** The path alone; the query is apart. */
  readonly path: string;
  readonly query: string;
  /** For logs and limits, never for trust. */
  readonly address: string | undefined;
  /** A header by its lower-case name. One that came twice is joined by a comma, so that it equals nothing allowed. */
  get(name: string): string | undefined;
}

/** Why the text of a body could not be read. */
export type BodyError = { readonly reason: 'too-large' | 'not-utf8' | 'busy' };

/** Where the parts of an event stream go. */
export interface ByteSink {
  write(text: string): void;
  end(): void;
  /** Bytes the peer has not taken yet. */
  readonly queued: number;
  /** Cuts the connection: nobody reads at the other end. */
  destroy(): void;
}

/** A request and who it acts for. */
export interface AdmittedRequest extends HttpRequest {
  /** Set once it is known. */
  principal: Principal | undefined;
}

/** A request with its one answer: `respond` or `openStream`, whichever is called first; later calls do nothing. */
export interface HttpExchange extends AdmittedRequest {
  /** When it came, or rather when that was first asked: on the monotonic clock, which is looked at once. */
  readonly atMs: number;
  /** Sent with whatever the answer is: CORS, a request id. */
  extraHeaders: HeaderList | undefined;
  /** Told once which status the answer has. */
  onAnswered: ((status: number) => void) | undefined;
  /** Reads the body. Never calls back when the client goes away before its end. What `done` throws becomes a 500. */
  readBody(maxBytes: number, done: (body: string | BodyError) => void): void;
  /** False when so many answers wait to be read that one of this length can not be kept as well. */
  hasRoomFor(length: number): boolean;
  respond(status: number, headers: HeaderList, body?: string): void;
  openStream(headers: HeaderList): ByteSink;
  /** Calls back once when the client goes away before the answer is complete. */
  onGone(listener: () => void): void;
  /** Cuts the connection unless there is a complete answer: nothing more will come. */
  abort(): void;
}

/** What is served at a path. */
export interface Route {
  readonly methods: Readonly<Record<string, (exchange: HttpExchange) => void>>;
  /** The value of the header `Allow`. */
  readonly allow: string;
  /** Served without authentication. */
  readonly public?: boolean;
  /** Served until the server has closed: what probes request. */
  readonly whileClosing?: boolean;
}

/** The other side of an HTTP request. */
export class HttpPeer implements Peer {
  readonly transport: TransportKind;
  readonly principal: Principal | undefined;
  readonly #request: HttpRequest;

  constructor(request: AdmittedRequest, transport: TransportKind = 'http') {
    this.#request = request;
    this.principal = request.principal;
    this.transport = transport;
  }

  /** Asking a socket for it costs, and most calls never do. */
  get address(): string | undefined {
    return this.#request.address;
  }
}
