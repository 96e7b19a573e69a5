// The entry point of the HTTP transports: types, and functions that load the rest when they are first used, so that a
// server on stdio does not load it.

import type { Principal, SessionHost } from '../protocol/exchange.ts';
import type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';
import type { HttpServer } from './http/node/serve.ts';
import type { EndpointOptions, HttpOptions } from './http/options.ts';

export type { HttpRequest } from './http/exchange.ts';
export type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';
export type { HttpLimits } from './http/limits.ts';
export type { HttpServer } from './http/node/serve.ts';
export type {
  Authenticate,
  CompatOptions,
  Denied,
  EndpointOptions,
  ExtraRoute,
  HttpOptions,
  RouteResponse,
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
  let made: Promise<FetchHandler> | undefined;
  const make = async (): Promise<FetchHandler> => {
    const [{ createFetchHandler }] = await Promise.all([import('./http/fetch/to-fetch.ts'), host.prepare?.()]);
    return createFetchHandler(host, options);
  };
  const handler = (): Promise<FetchHandler> => {
    if (made !== undefined) return made;
    const making = make();
    made = making;
    // If loading fails, the next request tries again.
    making.catch(() => {
      made = undefined;
    });
    return making;
  };
  const handle = async (request: Request, info?: FetchInfo): Promise<Response> => (await handler())(request, info);
  return Object.assign(handle, {
    close: async (graceMs?: number) => {
      // A handler that was never created has nothing to close.
      const open = await made?.catch(() => undefined);
      await open?.close(graceMs);
    },
    revoke: async (match: (principal: Principal) => boolean) => {
      const open = await made?.catch(() => undefined);
      await open?.revoke(match);
    },
  });
}
