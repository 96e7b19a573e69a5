// A transparent loopback proxy, event streams included; what is changed on the way is given by the caller (pin-proxy.ts, ../peers/cutting-proxy.ts).
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bridge } from './bridge.ts';

export interface Forwarded {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

export interface ProxyHooks {
  /** A new connection for each request, so that a server with several workers serves each by another one. */
  readonly freshConnections?: boolean;
  /** May change what is sent on. */
  edit?(request: Forwarded): Forwarded;
  /** Takes over the body of an answer, whose head has been sent already. */
  relay?(answer: IncomingMessage, response: ServerResponse, request: IncomingMessage): void;
}

/** Starts a proxy on a free loopback port in front of `target`. */
export async function startProxy(target: string, hooks: ProxyHooks): Promise<Bridge> {
  const upstream = new URL(target);
  const edit = hooks.edit ?? ((request: Forwarded) => request);
  const relay = hooks.relay ?? ((answer: IncomingMessage, response: ServerResponse) => void answer.pipe(response));
  const agent = hooks.freshConnections === true ? { agent: false as const } : {};
  let ownHost = '';

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { body, headers } = edit({
      body: Buffer.concat(chunks),
      headers: addressed(request.headers, ownHost, upstream),
    });
    delete headers['transfer-encoding'];
    if (body.length > 0) headers['content-length'] = String(body.length);

    const address = new URL(request.url ?? '/', upstream);
    const forwarded = httpRequest(address, { method: request.method, headers, ...agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      answer.once('error', () => response.destroy());
      relay(answer, response, request);
    });
    forwarded.once('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => forwarded.destroy());
    forwarded.end(body);
  });

  // Longer than any pause of a client: one that reuses a connection as it is closed sees its request fail.
  server.keepAliveTimeout = 120_000;
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  ownHost = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${ownHost}${upstream.pathname}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

// Our own address becomes the server's; another one must reach the server, which is to reject it.
function addressed(headers: IncomingHttpHeaders, ownHost: string, upstream: URL): IncomingHttpHeaders {
  return {
    ...headers,
    ...(headers.host === ownHost && { host: upstream.host }),
    ...(headers.origin === `http://${ownHost}` && { origin: upstream.origin }),
  };
}
