// The entry point of the HTTP transports: types, and functions that load the rest when they are first used, so that a
// server on stdio does not load it.

import type { SessionHost } from '../protocol/exchange.ts';
import type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';
import type { HttpServer } from './http/node/serve.ts';
import type { NodeHandler } from './http/node/to-node-handler.ts';
import type { EndpointOptions, HttpOptions } from './http/options.ts';

export type { ByteSink, HttpExchange, HttpRequest } from './http/exchange.ts';
export type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';
export type { HttpLimits } from './http/limits.ts';
export type { HttpServer } from './http/node/serve.ts';
export type { EmbeddedRequest, NodeHandler } from './http/node/to-node-handler.ts';
export type {
  Authenticate,
  CompatOptions,
  Denied,
  EndpointOptions,
  ExtraRoute,
  HttpOptions,
  MountedRoute,
  OptionNames,
  RouteResponse,
  TlsOptions,
} from './http/options.ts';

/**
 * Serves MCP over HTTP: Streamable HTTP with every revision on one path, the older HTTP+SSE transport, and WebSockets on
 * the same port. Resolves when the server listens.
 *
 * @example
 * const { url, close } = await serveHttp(server, { port: 8000 });
 */
export async function serveHttp(host: SessionHost, options?: HttpOptions): Promise<HttpServer> {
  const [{ serveHttp: serve }] = await Promise.all([import('./http/node/serve.ts'), host.prepare?.()]);
  return serve(host, options);
}

/**
 * Turns a server into a function from `Request` to `Response`, for Hono, Bun, Deno and Workers. Set the hosts it is
 * reached by (`allowedHosts`), and the web origins that may call it (`allowedOrigins`).
 *
 * @example
 * export default { fetch: toFetch(server, { allowedHosts: ['mcp.example.com'] }) };
 */
export function toFetch(host: SessionHost, options: EndpointOptions = {}): FetchHandler {
  const { handler, ...ends } = loadOnce(host, async () => {
    const { createFetchHandler } = await import('./http/fetch/to-fetch.ts');
    return createFetchHandler(host, options);
  });
  const handle = async (request: Request, info?: FetchInfo): Promise<Response> => (await handler())(request, info);
  return Object.assign(handle, ends);
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
  const { handler, ...ends } = loadOnce(host, async () => {
    const { createNodeHandler } = await import('./http/node/to-node-handler.ts');
    return createNodeHandler(host, options);
  });
  const handle: (...args: Parameters<NodeHandler>) => void = (request, response) => {
    handler().then(
      (loaded) => loaded(request, response),
      (error: unknown) => {
        options.logger?.error('a request could not be served', { error });
        response.writeHead(500, { 'Content-Length': 0 }).end();
      },
    );
  };
  return Object.assign(handle, ends);
}

type Ends = Pick<FetchHandler, 'close' | 'revoke'>;

/** A handler that is loaded with the first request. */
function loadOnce<Handler extends Ends>(
  host: SessionHost,
  load: () => Promise<Handler>,
): Ends & { handler(): Promise<Handler> } {
  let made: Promise<Handler> | undefined;
  const handler = (): Promise<Handler> => {
    if (made !== undefined) return made;
    const making = Promise.all([load(), host.prepare?.()]).then(([loaded]) => loaded);
    made = making;
    // If loading fails, the next request tries again.
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  /** A handler that was never created has nothing to close. */
  const open = (): Promise<Handler | undefined> => made?.catch(() => undefined) ?? Promise.resolve(undefined);
  return {
    handler,
    close: async (graceMs) => (await open())?.close(graceMs),
    revoke: async (match) => (await open())?.revoke(match),
  };
}
