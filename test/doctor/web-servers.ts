// HTTP servers with one fault each, on free ports of this machine.

import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '../support/certificate.ts';

const json = (response: ServerResponse, status: number, value: unknown, headers = {}): void => {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
};

async function bodyOf(
  request: IncomingMessage,
): Promise<{ id?: number; method?: string; params?: { protocolVersion?: string } }> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text === '' ? {} : JSON.parse(text);
}

function reply({ id, method, params }: Awaited<ReturnType<typeof bodyOf>>): object {
  const results: Record<string, object> = {
    initialize: {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 'web', version: '1' },
    },
    'tools/list': { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] },
  };
  const result = results[method ?? ''];
  if (result === undefined) return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
  return { jsonrpc: '2.0', id, result };
}

/** Streamable HTTP without streams, at one path; 404 elsewhere. */
function endpoint(path: string): RequestListener {
  return (request, response) => {
    if (new URL(request.url ?? '', 'http://x').pathname !== path) response.writeHead(404).end('Not found');
    else if (request.method !== 'POST') response.writeHead(405).end();
    else {
      void bodyOf(request).then((message) => {
        if (message.id === undefined) response.writeHead(202).end();
        else json(response, 200, reply(message));
      });
    }
  };
}

/** HTTP+SSE at /sse. */
function sse(): RequestListener {
  let stream: ServerResponse | undefined;
  return (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x');
    if (request.method === 'GET' && pathname === '/sse') {
      stream = response;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('event: endpoint\ndata: /messages\n\n');
    } else if (request.method === 'POST' && pathname === '/messages') {
      void bodyOf(request).then((message) => {
        response.writeHead(202).end();
        if (message.id !== undefined) stream?.write(`event: message\ndata: ${JSON.stringify(reply(message))}\n\n`);
      });
    } else response.writeHead(404).end();
  };
}

const oauth: RequestListener = (request, response) => {
  const origin = `http://${request.headers.host}`;
  if (request.url?.startsWith('/.well-known/oauth-protected-resource') === true) {
    json(response, 200, { resource: `${origin}/mcp`, authorization_servers: ['https://login.example.org'] });
    return;
  }
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  json(response, 401, { error: 'unauthorized' }, { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` });
};

const always =
  (status: number, headers: Record<string, string> = {}, body = ''): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, headers).end(body);

/** What `mooring dev --http` responds at every path while its file has a syntax error. */
const stopped: RequestListener = (request, response) => {
  if (request.method !== 'POST') response.writeHead(503).end('server.ts is not running');
  else {
    void bodyOf(request).then(({ id }) => {
      json(response, 200, { jsonrpc: '2.0', id, error: { code: -32000, message: 'server.ts is not running' } });
    });
  }
};

/** A response that goes on, a little at a time, until the client closes the connection. */
const endless =
  (head: string, more: string): RequestListener =>
  ({ socket }) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(more), 100);
    socket.once('close', () => clearInterval(timer));
  };

/** All servers; `close` ends them. */
export async function startWebServers() {
  const servers: Server[] = [];
  const listen = async (server: Server, scheme = 'http'): Promise<string> => {
    servers.push(server);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const plain = (listener: RequestListener): Promise<string> => listen(createServer(listener));
  const secure = (ip: string, days: number) => {
    const certificate = createCertificate(ip, days);
    return { certificate: certificate.cert, url: listen(createTlsServer(certificate, endpoint('/mcp')), 'https') };
  };
  const untrusted = secure('127.0.0.1', 30);
  const expired = secure('127.0.0.1', -30);
  const wrongHost = secure('10.9.8.7', 30);
  return {
    working: await plain(endpoint('/mcp')),
    sse: await plain(sse()),
    page: await plain(always(200, { 'Content-Type': 'text/html' }, '<!doctype html><title>Hello</title>')),
    nothing: await plain(always(404)),
    oauth: await plain(oauth),
    bearer: await plain(always(401, { 'WWW-Authenticate': 'Bearer realm="api", error="invalid_token"' })),
    forbidden: await plain(always(403, {}, 'Invalid Host header')),
    failing: await plain(always(502)),
    stopped: await plain(stopped),
    endlessBody: await plain(
      endless('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n', ' '),
    ),
    endlessHeaders: await plain(endless('HTTP/1.1 200 OK\r\n', 'X-More: yes\r\n')),
    redirecting: await plain(always(308, { Location: 'https://mcp.example.org/mcp' })),
    untrusted: await untrusted.url,
    expired: await expired.url,
    wrongHost: await wrongHost.url,
    /** Makes two of the certificates trusted, so that only their other fault is left. */
    trusted: `${expired.certificate}${wrongHost.certificate}`,
    async close(): Promise<void> {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
    },
  };
}
