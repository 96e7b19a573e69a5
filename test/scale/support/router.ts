// A router as it stands in front of replicas: it asks each of them whether it is ready, and sends each request on a new connection
// to a random one of those that are. A request is sent again only if there was no connection.
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** How often replicas are asked for /readyz. */
const healthCheckMs = 250;
/** How long they may take: if the machine stops this process, they must not all count as not ready. */
const healthTimeoutMs = 5_000;

export interface Router {
  readonly url: string;
  /** How many requests each replica was sent, by its address. */
  readonly sent: ReadonlyMap<string, number>;
  /** Replicas that are ready, as of the last check. */
  readonly ready: readonly string[];
  /** Adds a replica, which gets requests when it is ready. */
  add(url: string): void;
  remove(url: string): void;
  close(): Promise<void>;
}

export interface RouterOptions {
  /** Connections to replicas are kept, as by most proxies. */
  readonly keepAlive?: boolean;
  readonly pick?: (count: number) => number;
}

export async function startRouter(urls: readonly string[], options: RouterOptions = {}): Promise<Router> {
  const { keepAlive = false, pick = (count) => Math.floor(Math.random() * count) } = options;
  const replicas = new Map(urls.map((url) => [url, true]));
  const sent = new Map<string, number>();
  const agent = new Agent({ keepAlive });
  const ready = (): string[] => [...replicas].filter(([, isReady]) => isReady).map(([url]) => url);
  const path = new URL(urls[0] as string).pathname;
  let ownHost = '';

  const forward = (request: IncomingMessage, response: ServerResponse, body: Buffer, attempts: number): void => {
    const candidates = ready();
    const target = candidates[pick(candidates.length)];
    if (target === undefined) return void response.writeHead(502).end();
    const upstream = new URL(target);
    const headers = { ...request.headers };
    if (headers.host === ownHost) headers.host = upstream.host;
    if (headers.origin === `http://${ownHost}`) headers.origin = upstream.origin;
    delete headers['transfer-encoding'];
    // Each connection has its own.
    delete headers.connection;
    if (body.length > 0) headers['content-length'] = String(body.length);
    sent.set(target, (sent.get(target) ?? 0) + 1);
    const address = new URL(request.url ?? '/', upstream);
    const forwarded = httpRequest(address, { method: request.method, headers, agent }, (answer) => {
      const { connection: _connection, 'keep-alive': _keepAlive, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest);
      response.flushHeaders();
      answer.once('error', () => response.destroy());
      answer.pipe(response);
    });
    forwarded.once('error', (error: NodeJS.ErrnoException) => {
      if (response.headersSent) response.destroy();
      else if (error.code === 'ECONNREFUSED' && attempts > 1) {
        if (replicas.has(target)) replicas.set(target, false);
        forward(request, response, body, attempts - 1);
      } else if (error.code === 'ECONNREFUSED') response.writeHead(502).end();
      // The replica broke the connection, and so does the router: the client must not take it for an answer.
      else response.destroy();
    });
    response.once('close', () => forwarded.destroy());
    forwarded.end(body);
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    forward(request, response, Buffer.concat(chunks), 3);
  });
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ownHost = `127.0.0.1:${(server.address() as AddressInfo).port}`;

  const check = async (url: string): Promise<void> => {
    const isReady = await fetch(new URL('/readyz', url), { signal: AbortSignal.timeout(healthTimeoutMs) }).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (replicas.has(url)) replicas.set(url, isReady);
  };
  const checker = setInterval(() => {
    for (const url of replicas.keys()) void check(url);
  }, healthCheckMs);

  return {
    url: `http://${ownHost}${path}`,
    sent,
    get ready() {
      return ready();
    },
    add(url) {
      replicas.set(url, false);
    },
    remove(url) {
      replicas.delete(url);
    },
    async close() {
      clearInterval(checker);
      server.closeAllConnections();
      agent.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
