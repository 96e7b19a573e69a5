// The entry point of the HTTP transports: types, and functions that load the rest when they are first used, so that a
// server on stdio does not load it. Only src/index.ts imports the functions: if others did, they would be in a file of
// their own, which every server would have to open.

import type { SessionHost } from '../protocol/exchange.ts';
import { assertHost } from './assert-host.ts';
import { assertHttpOptions } from './http/known-options.ts';
import { loadOnce } from './http/load-once.ts';
import type { HttpServer } from './http/node/serve.ts';
import type { NodeHandler } from './http/node/to-node-handler.ts';
import type { EndpointOptions, HttpOptions } from './http/options.ts';

export type { HttpExchange, HttpRequest } from './http/exchange.ts';
export type { HttpServer } from './http/node/serve.ts';
export type { EmbeddedRequest, NodeHandler } from './http/node/to-node-handler.ts';
export type * from './http/options.ts';

/**
 * Serves MCP over HTTP: Streamable HTTP with every revision on one path, the older HTTP+SSE transport, and WebSockets on
 * the same port. Resolves when the server listens.
 *
 * @example
 * const { url, close } = await serveHttp(server, { port: 8000 });
 */
export async function serveHttp(host: SessionHost, options?: HttpOptions): Promise<HttpServer> {
  assertHost('serveHttp', host);
  const { serveHttp: serve } = await import('./http/node/serve.ts');
  return serve(host, options);
}

/**
 * Turns a server into a handler of `node:http` requests, for Express, Fastify or an HTTP server of your own. The path as
 * clients see it must be `path` (default `/mcp`). A body that a parser has read before is used as it is. Requests to a
 * loopback address must name a loopback host, unless `allowedHosts` or `publicUrl` say otherwise.
 *
 * @example
 * app.all('/mcp', toNodeHandler(server));
 */
export function toNodeHandler(host: SessionHost, options: EndpointOptions = {}): NodeHandler {
  assertHost('toNodeHandler', host);
  assertHttpOptions('toNodeHandler', options);
  const { handler, ...ends } = loadOnce(host, async () => {
    const { createNodeHandler } = await import('./http/node/to-node-handler.ts');
    return createNodeHandler(host, options);
  });
  const handle: (...args: Parameters<NodeHandler>) => void = (request, response) => {
    if (typeof response?.writeHead !== 'function') {
      throw new TypeError(
        'The handler of toNodeHandler needs a request and a response of node:http. With Fastify, pass request.raw and ' +
          'reply.raw, with Koa ctx.req and ctx.res. Where there is a Request, as in Hono and Next.js, use toFetch',
      );
    }
    handler().then(
      (loaded) => loaded(request, response),
      (error: unknown) => {
        (options.logger ?? host.logger)?.error('a request could not be served', { error });
        response.writeHead(500, { 'Content-Length': 0 }).end();
      },
    );
  };
  return Object.assign(handle, ends);
}
