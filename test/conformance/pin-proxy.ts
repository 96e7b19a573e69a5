// A loopback proxy that makes the suite negotiate an old revision: the harness always offers its newest, so the version is rewritten on the way.
// Everything else passes unchanged, event streams included.
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Bridge } from './bridge.ts';
import { isObject } from './wire.ts';

export type PinnedRevision = '2024-11-05' | '2025-03-26' | '2025-06-18';

/** Starts a proxy in front of `target` whose clients are made to offer `revision` in `initialize`. */
export async function startPinProxy(target: string, revision: PinnedRevision): Promise<Bridge> {
  const upstream = new URL(target);
  let ownHost = '';

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { body, pinned } = pin(Buffer.concat(chunks), revision);

    const forwarded = httpRequest(
      upstream,
      {
        method: request.method,
        headers: forwardedHeaders(request.headers, ownHost, upstream, body, pinned && revision),
      },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        response.flushHeaders();
        answer.pipe(response);
      },
    );
    forwarded.once('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
    response.once('close', () => forwarded.destroy());
    forwarded.end(body);
  });

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

function pin(body: Buffer, revision: PinnedRevision): { body: Buffer; pinned: boolean } {
  if (!body.includes('"initialize"')) return { body, pinned: false };
  const message: unknown = JSON.parse(body.toString('utf8'));
  if (!isObject(message) || message.method !== 'initialize' || !isObject(message.params))
    return { body, pinned: false };
  const params = { ...message.params, protocolVersion: revision };
  return { body: Buffer.from(JSON.stringify({ ...message, params })), pinned: true };
}

function forwardedHeaders(
  headers: IncomingHttpHeaders,
  ownHost: string,
  upstream: URL,
  body: Buffer,
  revision: string | false,
): IncomingHttpHeaders {
  const result = { ...headers };
  // Our own address becomes the server's; a foreign one must reach the server, which is to refuse it.
  if (result.host === ownHost) result.host = upstream.host;
  if (result.origin === `http://${ownHost}`) result.origin = upstream.origin;
  delete result['transfer-encoding'];
  if (body.length > 0) result['content-length'] = String(body.length);
  if (revision && result['mcp-protocol-version']) result['mcp-protocol-version'] = revision;
  return result;
}
