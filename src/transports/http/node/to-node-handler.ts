// A server as a handler of node:http requests, for applications that have an HTTP server already (Express, Fastify,
// node:http). Everything the endpoint does except WebSockets.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Principal, SessionHost } from '../../../protocol/exchange.ts';
import { type AccessDenial, HostOriginCheck, isLoopback, rulesFrom } from '../access.ts';
import { Endpoint } from '../endpoint.ts';
import type { BodyError, ByteSink, HeaderList, HttpRequest } from '../exchange.ts';
import { loadServerCard } from '../load-server-card.ts';
import { logOtherPath } from '../log-other-path.ts';
import type { EndpointOptions } from '../options.ts';
import { NodeExchange, type NodeServerState } from './exchange.ts';
import { hasBody } from './request.ts';
import { nodeSealerOf } from './sealer-of.ts';

/** A request as frameworks pass it on: with the URL before routing, and perhaps with a body that is parsed already. */
export interface EmbeddedRequest extends IncomingMessage {
  /** The URL before a router removed the path it is mounted at. */
  readonly originalUrl?: string;
  /** The body, if a parser has read it before. */
  readonly body?: unknown;
  /** The address of the client, from a framework that knows which proxies to trust. Default: that of the socket. */
  readonly ip?: string | undefined;
}

/** The handler, and how to end it. */
export interface NodeHandler {
  (request: EmbeddedRequest, response: ServerResponse): void;
  /** Accepts no new requests, lets open calls finish, and ends streams. */
  close(graceMs?: number): Promise<void>;
  /** Ends what the principals for which `match` is true have open; see `HttpServer.revoke`. */
  revoke(match: (principal: Principal) => boolean): Promise<void>;
}

export async function createNodeHandler(host: SessionHost, options: EndpointOptions): Promise<NodeHandler> {
  const rules = rulesFrom(options);
  const access = rules.hosts === undefined ? new LoopbackHostCheck(rules) : new HostOriginCheck(rules);
  const documents = (await loadServerCard(options))?.(host, options);
  const endpoint = new Endpoint(host, options, access, nodeSealerOf, documents);
  endpoint.onNotFound = logOtherPath(endpoint);
  const handle = (request: EmbeddedRequest, response: ServerResponse): void =>
    endpoint.handle(new EmbeddedExchange(request, response, endpoint));
  return Object.assign(handle, {
    close: (graceMs = 10_000) => endpoint.drain(graceMs),
    revoke: async (match: (principal: Principal) => boolean) => endpoint.revoke(match),
  });
}

class EmbeddedExchange extends NodeExchange {
  readonly localAddress: string;
  readonly #address: string | undefined;
  readonly #given: unknown;
  readonly #outgoing: ServerResponse;
  readonly #endpoint: NodeServerState;
  /** Who sends the response: only the first one can. */
  #sender: 'none' | 'server' | 'application' = 'none';

  constructor(request: EmbeddedRequest, response: ServerResponse, server: NodeServerState) {
    super(request, response, server, false, request.originalUrl);
    this.#outgoing = response;
    this.#endpoint = server;
    this.localAddress = request.socket.localAddress?.replace(/^::ffff:/, '') ?? '';
    // Read now: Express reads it from the socket and the headers, which are gone when the request has ended.
    this.#address = typeof request.ip === 'string' ? request.ip : undefined;
    this.#given = request.body;
  }

  override get address(): string | undefined {
    return this.#address ?? super.address;
  }

  /** A body that a parser has read is not encoded any more, whatever the header says. */
  override get(name: string): string | undefined {
    return name === 'content-encoding' && this.#isReadBefore && this.#given !== undefined ? undefined : super.get(name);
  }

  get #isReadBefore(): boolean {
    return this.incoming.readableEnded;
  }

  /** A body parser of the framework may have read it before. */
  override readBody(maxBytes: number, done: (body: string | BodyError) => void): void {
    if (!this.#isReadBefore) return super.readBody(maxBytes, done);
    const given = this.#given;
    if (given === undefined && hasBody(this.incoming)) return done({ reason: 'read-before' });
    const body =
      typeof given === 'string' ? given : given instanceof Uint8Array ? String(given) : JSON.stringify(given);
    done(Buffer.byteLength(body ?? '') > maxBytes ? { reason: 'too-large' } : (body ?? ''));
  }

  override respond(status: number, headers: HeaderList, body?: string | Uint8Array): void {
    const before = this.#sender;
    if (this.#claim()) super.respond(status, headers, body);
    else if (before === 'none') this.#endpoint.failed(this, respondedBefore());
  }

  override openStream(headers: HeaderList): ByteSink {
    if (!this.#claim()) throw respondedBefore();
    return super.openStream(headers);
  }

  /** False if the application has responded by itself. */
  #claim(): boolean {
    if (this.#sender === 'none') this.#sender = this.#outgoing.headersSent ? 'application' : 'server';
    return this.#sender === 'server';
  }
}

function respondedBefore(): Error {
  return new Error(
    'The application has responded to this request. With Fastify, call reply.hijack() before the handler; with Koa, set ctx.respond = false',
  );
}

/**
 * Which hosts the application is reached by is not known. But a request that arrives at a loopback address for any other
 * name is a page that uses DNS rebinding, or a proxy on this machine, for which `allowedHosts` names the host.
 */
class LoopbackHostCheck extends HostOriginCheck {
  override check(request: HttpRequest): AccessDenial | undefined {
    const isLocal = request instanceof EmbeddedExchange && isLoopback(request.localAddress);
    const name = request.get('host')?.replace(/:\d+$/, '').toLowerCase() ?? '';
    return isLocal && !isLoopback(name) ? 'host' : super.check(request);
  }
}
