// An HTTP proxy for one server on a loopback port: passes requests and responses on as they are, and records the messages
// in them. Paths are those of the server, so the paths in its responses are valid here too.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { nodeHttp } from '../../common/builtins.ts';
import { HostOriginCheck, hostsOf } from '../../transports/http/access.ts';
import { BoundedMap } from '../feed/bounded-map.ts';
import type { Feed } from '../feed/feed.ts';
import { bodyText, ResponseMessages } from './http-messages.ts';
import { Recorder } from './recorder.ts';

export interface RunningProxy {
  /** The address for clients. */
  readonly url: string;
  close(): Promise<void>;
}

/** Headers that concern one connection only (RFC 9110 §7.6.1). */
const connectionHeaders = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']);
/** Stops sessions that are opened again and again from filling the memory. */
const maxPeers = 1_000;

/** Starts a proxy for the server at `target`. */
export async function startProxy(target: URL, feed: Feed, port = 0): Promise<RunningProxy> {
  const server = nodeHttp().createServer();
  const bound = await new Promise<number>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
  server.removeAllListeners('error').on('error', () => {}); // A connection that could not be accepted; others continue.
  const own = { host: '127.0.0.1', port: bound, scheme: 'http' } as const;
  // The server gets its own name as Host, so DNS rebinding must be detected here. The server checks Origin.
  const hosts = new HostOriginCheck({ hosts: hostsOf(own), ownOrigins: new Set(), corsOrigins: new Set() });
  const peers = new ProxyPeers(feed);
  server.on('request', (request, response) => {
    const get = (name: string): string | undefined => (name === 'host' ? request.headers.host : undefined);
    const { method = 'GET', url: path = '/' } = request;
    if (hosts.check({ method, path, query: '', address: undefined, get }) !== undefined || !path.startsWith('/')) {
      response.writeHead(403).end('This host is not allowed\n');
    } else forward(request, response, target, peers);
  });
  return {
    url: `http://127.0.0.1:${bound}${target.pathname}${target.search}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function forward(request: IncomingMessage, response: ServerResponse, target: URL, peers: ProxyPeers): void {
  const send = target.protocol === 'https:' ? httpsRequest : nodeHttp().request;
  const outgoing = send(new URL(target.origin), {
    method: request.method as string,
    path: request.url as string,
    headers: withHost(passedOn(request.rawHeaders), target.host),
  });
  const exchange = peers.exchange(request);
  bodyText(request, (text) => exchange.received(text));
  request.pipe(outgoing);
  outgoing.on('response', (incoming) => {
    exchange.opened(incoming);
    response.writeHead(incoming.statusCode as number, incoming.statusMessage, passedOn(incoming.rawHeaders));
    response.flushHeaders();
    incoming.pipe(response);
    new ResponseMessages(incoming, {
      onMessage: (text) => exchange.sent(text),
      onEndpoint: (path) => exchange.endpoint(path),
    });
    incoming.on('error', () => response.destroy());
  });
  outgoing.on('error', (error) => {
    if (response.headersSent) response.destroy();
    else response.writeHead(502, { 'Content-Type': 'text/plain' }).end(`${target.origin}: ${error.message}\n`);
  });
  response.on('close', () => outgoing.destroy());
}

/** All headers except those of the connection, in their order and with their capitalization. */
function passedOn(rawHeaders: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name, value] = [rawHeaders[at] as string, rawHeaders[at + 1] as string];
    if (!connectionHeaders.has(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}

function withHost(headers: string[], host: string): string[] {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'host');
  if (at === -1) return ['Host', host, ...headers];
  return [...headers.slice(0, at + 1), host, ...headers.slice(at + 2)];
}

/** Finds the peer of an HTTP request: by its session, by the path of its stream, or by its address. */
class ProxyPeers {
  readonly #feed: Feed;
  readonly #recorders = new BoundedMap<string, Recorder>(maxPeers);

  constructor(feed: Feed) {
    this.#feed = feed;
  }

  exchange(request: IncomingMessage): ProxyExchange {
    const session = request.headers['mcp-session-id'];
    const address = request.socket.remoteAddress;
    const sessionKeys = [...(typeof session === 'string' ? [`session ${session}`] : []), `path ${request.url}`];
    const ofSession = sessionKeys.map((key) => this.#recorders.get(key)).find((recorder) => recorder !== undefined);
    const stateless = request.headers['mcp-method'] === undefined ? undefined : `stateless ${address}`;
    // Created with the first message: requests for metadata and probes are not peers.
    let recorder = ofSession ?? (stateless === undefined ? undefined : this.#recorders.get(stateless));
    const find = (): Recorder => {
      recorder ??= new Recorder(this.#feed, this.#feed.peers.add({ transport: 'http', ...(address && { address }) }));
      if (typeof session === 'string') this.#recorders.set(`session ${session}`, recorder);
      else if (stateless !== undefined) this.#recorders.set(stateless, recorder);
      return recorder;
    };
    return new ProxyExchange(
      find,
      request.url as string,
      typeof session === 'string' || ofSession !== undefined,
      (key) => this.#recorders.set(key, find()),
    );
  }
}

class ProxyExchange {
  readonly #find: () => Recorder;
  readonly #base: string;
  readonly #remember: (key: string) => void;
  /** Within a session ids are unique; stateless clients may use the same ones at the same time. */
  #shared: object | undefined;

  constructor(find: () => Recorder, path: string, hasSession: boolean, remember: (key: string) => void) {
    this.#find = find;
    this.#base = `http://proxy.invalid${path}`;
    this.#shared = hasSession ? undefined : {};
    this.#remember = remember;
  }

  received(text: string): void {
    if (text !== '') this.#find().record('in', text, this.#shared);
  }

  /** The response to `initialize` names the session. */
  opened(response: IncomingMessage): void {
    const session = response.headers['mcp-session-id'];
    if (typeof session === 'string') this.#remember(`session ${session}`);
  }

  /** The older transport: messages of this stream are sent to that path. */
  endpoint(path: string): void {
    if (!URL.canParse(path, this.#base)) return;
    const { pathname, search } = new URL(path, this.#base);
    this.#remember(`path ${pathname}${search}`);
    // Responses arrive on this stream, to requests of other exchanges.
    this.#shared = undefined;
  }

  sent(text: string): void {
    this.#find().record('out', text, this.#shared);
  }
}
