// A server on node:http: the socket, its limits, and its end. How requests are served is in endpoint.ts.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Principal, SessionHost } from '../../../protocol/exchange.ts';
import { ownProcess } from '../../own-process.ts';
import { HostOriginCheck, hostsOf, isLoopback, type ListeningAddress, listeningUrl, originsOf } from '../access.ts';
import { assertAccessOptions } from '../access-options.ts';
import { Endpoint } from '../endpoint.ts';
import type { DocumentRoutes } from '../extra-routes.ts';
import { assertHttpOptions } from '../known-options.ts';
import { resolveHttpLimits } from '../limits.ts';
import { loadServerCard } from '../load-server-card.ts';
import type { HttpOptions, TlsOptions } from '../options.ts';
import { TrustedProxies } from '../trusted-proxies.ts';
import { NodeExchange } from './exchange.ts';
import { ignoreUpgrade } from './ignored-upgrade.ts';
import { type Listener, ownPort } from './listener.ts';
import { logUntrustedProxy } from './log-untrusted-proxy.ts';
import { createNodeServer } from './node-server.ts';
import { OpenConnections } from './open-connections.ts';
import { Pipeline } from './pipeline.ts';
import { nodeSealerOf } from './sealer-of.ts';
import { isWebSocketUpgrade, WebSockets } from './websocket.ts';

const defaultGraceMs = 10_000;
/** How long requests are still served on open connections while other processes accept the new ones. */
const handOverMs = 1_000;

/** How a server closes. */
export interface CloseOptions {
  /** Other processes accept the connections to this port, so this one stops accepting them at once. */
  readonly portIsShared?: boolean;
}

/** A server that is listening. */
export interface HttpServer {
  /** Where clients connect: `http://127.0.0.1:8000/mcp`, with `tls` `https://…`. */
  readonly url: string;
  /** The address it listens on. */
  readonly host: string;
  /** The port it listens on, also if `port: 0` chose it. */
  readonly port: number;
  /** After `drainDelayMs`: accepts no new requests, lets open calls finish, ends streams properly, and closes. */
  close(options?: CloseOptions): Promise<void>;
  /**
   * Ends every stream, connection and call of the principals for which `match` is true, with the error that the access
   * token was revoked. Call it when `authenticate` stops accepting a token: it affects only what is open already.
   */
  revoke(match: (principal: Principal) => boolean): void;
  /**
   * Replaces the certificate of a server with `tls`, for new connections. Throws, and changes nothing, if certificate and
   * key are invalid or do not match.
   */
  setTls(tls: TlsOptions): void;
}

/** Serves MCP over HTTP, with the connections of a listener. Resolves when the server listens. */
export async function serveHttp(
  host: SessionHost,
  options: HttpOptions = {},
  listener: Listener = ownPort,
): Promise<HttpServer> {
  assertHttpOptions('serveHttp', options);
  const address = options.host ?? '127.0.0.1';
  assertSafeBinding(address, options);
  assertAccessOptions(options);
  const limits = resolveHttpLimits(options.limits);
  const [{ server, setTls }, cardRoutes] = await Promise.all([
    createNodeServer(limits, options.tls),
    loadServerCard(options),
    host.prepare?.(),
  ]);
  const { trustedProxies = [] } = options;
  const trusted = trustedProxies.length === 0 ? undefined : new TrustedProxies(trustedProxies);
  const connections = new OpenConnections(server, limits, trusted);
  const port = await listener.open(server, options.port ?? 8000, address);
  const own: ListeningAddress = { host: address, port, scheme: options.tls === undefined ? 'http' : 'https' };
  const endpoint = createOrClose(server, listener, () =>
    createEndpoint(host, options, own, cardRoutes?.(host, options, own)),
  );
  const pipeline = new Pipeline(endpoint.state.buffered, limits.maxBufferedBytesPerConnection);
  const logProxy = logUntrustedProxy(endpoint.logger, options.optionNames);
  attach(server, endpoint, pipeline, logProxy);
  // Accepting can fail when the process has no free descriptors; open connections must not be affected.
  server.on('error', (error) => endpoint.logger.error('a connection could not be accepted', { error }));
  server.on('drop', (data) => endpoint.logger.debug('too many connections', { address: data?.remoteAddress }));
  if (endpoint.metrics !== undefined) endpoint.metrics.connections = () => connections.size;
  if (options.webSocket !== false) attachWebSockets(server, endpoint, pipeline, logProxy);

  let closing: Promise<void> | undefined;
  const close = (how: CloseOptions = {}): Promise<void> =>
    (closing ??= shutDown({ server, endpoint, connections, listener, options }, how));
  if (options.ownProcess === true) ownProcess(host, () => close(), endpoint.logger, options.reload);
  return {
    url: listeningUrl(own, options.path ?? '/mcp'),
    host: address,
    port,
    close,
    revoke: (match) => endpoint.revoke(match),
    setTls,
  };
}

/** Without authentication, every program that reaches the port can call every tool: that must be explicit. */
function assertSafeBinding(address: string, options: HttpOptions): void {
  if (isLoopback(address) || options.authenticate !== undefined || options.allowUnauthenticated === true) return;
  throw new Error(
    `Cannot listen on ${address} without authentication: everyone who can reach this address could use the server. ` +
      'Set `authenticate`, listen on 127.0.0.1, or set `allowUnauthenticated` behind a proxy that authenticates.',
  );
}

/** The port must not stay open when an option turns out to be invalid: the caller gets no server to close. */
function createOrClose(server: Server, listener: Listener, create: () => Endpoint): Endpoint {
  try {
    return create();
  } catch (error) {
    listener.stop(server);
    server.closeAllConnections();
    throw error;
  }
}

function createEndpoint(
  host: SessionHost,
  options: HttpOptions,
  own: ListeningAddress,
  documents: DocumentRoutes | undefined,
): Endpoint {
  const publicUrl = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const access = new HostOriginCheck({
    hosts: hostsOf(own, options.allowedHosts, publicUrl?.host),
    ownOrigins: new Set([...originsOf(own), ...(publicUrl === undefined ? [] : [publicUrl.origin])]),
    corsOrigins: new Set(options.allowedOrigins),
  });
  return new Endpoint(host, options, access, nodeSealerOf, documents);
}

type OnRequest = (request: IncomingMessage) => void;

function attach(server: Server, endpoint: Endpoint, pipeline: Pipeline, onRequest: OnRequest): void {
  const serve = (request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const coding = request.headers['transfer-encoding'];
    // Only paths of this server are served: neither the absolute form of a proxy request nor `*`. A body whose length two
    // servers could interpret differently allows request smuggling.
    if (request.url?.charCodeAt(0) !== 0x2f || (coding !== undefined && coding.toLowerCase() !== 'chunked')) {
      response.writeHead(400, { 'Content-Length': 0, Connection: 'close' }).end();
      return;
    }
    onRequest(request);
    endpoint.handle(new NodeExchange(request, response, endpoint, expectsContinue));
  };
  server.on('request', (request, response) => {
    if (pipeline.tryStart(request, response)) serve(request, response, false);
    else pipeline.wait(request, response, () => serve(request, response, false));
  });
  // `100 Continue` is sent only when the request has passed all checks that do not need the body.
  server.on('checkContinue', (request, response) => {
    if (pipeline.tryStart(request, response)) serve(request, response, true);
    else pipeline.wait(request, response, () => serve(request, response, true));
  });
}

function attachWebSockets(server: Server, endpoint: Endpoint, pipeline: Pipeline, onRequest: OnRequest): void {
  const webSockets = new WebSockets(endpoint);
  if (endpoint.metrics !== undefined) endpoint.metrics.webSockets = () => webSockets.size;
  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    onRequest(request);
    if (request.url?.charCodeAt(0) !== 0x2f) socket.destroy();
    else if (isWebSocketUpgrade(request)) webSockets.upgrade(request, socket, head);
    else ignoreUpgrade(server, request, socket, head);
  };
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    // Responses to earlier requests of this connection must not mix with the new protocol.
    if (pipeline.isIdle(socket)) upgrade(request, socket, head);
    else pipeline.wait(request, undefined, () => upgrade(request, socket, head));
  });
}

interface Serving {
  readonly server: Server;
  readonly endpoint: Endpoint;
  readonly connections: OpenConnections;
  readonly listener: Listener;
  readonly options: HttpOptions;
}

async function shutDown(
  { server, endpoint, connections, listener, options }: Serving,
  { portIsShared = false }: CloseOptions,
): Promise<void> {
  const { graceMs = defaultGraceMs, drainDelayMs = 0 } = options;
  if (portIsShared) listener.stop(server);
  const delayMs = portIsShared ? Math.max(drainDelayMs, handOverMs) : drainDelayMs;
  if (delayMs > 0) {
    endpoint.beginClosing();
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
  if (!portIsShared) listener.stop(server);
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  await endpoint.drain(graceMs);
  server.closeIdleConnections();
  // Responses that are being sent get a moment to leave.
  const timer = setTimeout(() => server.closeAllConnections(), 1_000);
  await Promise.all([closed, connections.none()]);
  clearTimeout(timer);
}
