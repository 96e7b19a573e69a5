// One HTTP request and its response, independent of the server that carries them. Interfaces only: node/exchange.ts and
// fetch/exchange.ts implement them, everything else in this folder uses them.

import type { Peer, Principal, TransportKind } from '../../protocol/exchange.ts';

/** Header names and values alternate, as they are sent. */
export type HeaderList = readonly string[];

/** A request before its body is read. */
export interface HttpRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The text after `?`; empty if there is none. */
  readonly query: string;
  /** For logs and limits only: it proves nothing about the client. */
  readonly address: string | undefined;
  /** The port of the client, and the version of HTTP, where the server knows them. */
  readonly port?: number | undefined;
  /** The version of HTTP, such as `1.1`. */
  readonly httpVersion?: string | undefined;
  /**
   * The request of the platform: an `IncomingMessage` of `node:http`, or a `Request`. What is around the server may have put its user
   * there.
   */
  readonly raw?: unknown;
  /** A header by its lower-case name. One that was sent twice is joined by a comma, so that it equals no allowed value. */
  get(name: string): string | undefined;
}

/** Why the text of a body could not be read. */
export type BodyError = { readonly reason: 'too-large' | 'not-utf8' | 'busy' | 'read-before' };

/** Takes the text of an event stream. */
export interface ByteSink {
  /** Sends a part of the response. */
  write(text: string): void;
  /** Ends the response. */
  end(): void;
  /** Bytes that the client has not read yet. */
  readonly queued: number;
  /** Closes the connection, because the client does not read. */
  destroy(): void;
}

/** A request and its principal. */
export interface AdmittedRequest extends HttpRequest {
  /** Set by authentication. */
  principal: Principal | undefined;
}

/** A request with its one response: `respond` or `openStream`, whichever is called first; later calls do nothing. */
export interface HttpExchange extends AdmittedRequest {
  /** The time of arrival on the monotonic clock, which is read once, when this is first used. */
  readonly atMs: number;
  /** Sent with every response: CORS, a request id. */
  extraHeaders: HeaderList | undefined;
  /** Called once with the status of the response. */
  onResponded: ((status: number) => void) | undefined;
  /** Reads the body. `done` is not called when the client disconnects before the end. What it throws becomes a 500. */
  readBody(maxBytes: number, done: (body: string | BodyError) => void): void;
  /** False when so many responses are unread that one of this length cannot be buffered. */
  hasRoomFor(length: number): boolean;
  /** Sends the whole response. */
  respond(status: number, headers: HeaderList, body?: string | Uint8Array): void;
  /** Starts a response that is written in parts. */
  openStream(headers: HeaderList): ByteSink;
  /** Frees memory: no header can be read from now on. For streams that belong to no call. */
  releaseHeaders?(): void;
  /** Calls `listener` once when the client disconnects before the response is complete. */
  onGone(listener: () => void): void;
  /** Closes the connection unless the response is complete: nothing more will be sent. */
  abort(): void;
}

/** What is served at a path. */
export interface Route {
  readonly methods: Readonly<Record<string, (exchange: HttpExchange) => void>>;
  /** The value of the header `Allow`. */
  readonly allow: string;
  /** Served without authentication. */
  readonly public?: boolean;
  /** Pages of every origin may read it; it sends the headers of CORS itself. */
  readonly anyOrigin?: boolean;
  /** Served until the server has closed: what probes request. */
  readonly whileClosing?: boolean;
  /** Names of the server under which only this is served: no other check of Host and Origin applies to them. */
  readonly hosts?: ReadonlySet<string>;
}

/** The version that the handshake names: RFC 6455, section 4.1. */
const webSocketVersion = '13';

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

  /** Read on demand: asking the socket is slow, and most calls do not need it. */
  get address(): string | undefined {
    return this.#request.address;
  }

  get port(): number | undefined {
    return this.#request.port;
  }

  get protocolVersion(): string | undefined {
    return this.transport === 'websocket' ? webSocketVersion : this.#request.httpVersion;
  }
}
