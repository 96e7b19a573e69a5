// The entry point of web-standard runtimes: `toFetch`, which loads the HTTP transport with the first request. Neither it nor
// its types need Node.js.

import type { SessionHost } from '../protocol/exchange.ts';
import { assertHost } from './assert-host.ts';
import type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';
import { assertHttpOptions } from './http/known-options.ts';
import { loadOnce } from './http/load-once.ts';
import type { EndpointOptions } from './http/options.ts';

export type { FetchHandler, FetchInfo } from './http/fetch/to-fetch.ts';

/**
 * Turns a server into a function from `Request` to `Response`, for Hono, Bun, Deno and Workers. Set the hosts it is
 * reached by (`allowedHosts`), and the web origins that may call it (`allowedOrigins`).
 *
 * @example
 * const mcp = toFetch(server, { allowedHosts: ['mcp.example.com'] });
 * export default { fetch: (request: Request) => mcp(request) };
 */
export function toFetch(host: SessionHost, options: EndpointOptions = {}): FetchHandler {
  assertHost('toFetch', host);
  assertHttpOptions('toFetch', options);
  const { handler, ...ends } = loadOnce(host, async () => {
    const { createFetchHandler } = await import('./http/fetch/to-fetch.ts');
    return createFetchHandler(host, options);
  });
  const handle = (request: Request, info?: FetchInfo): Promise<Response> => {
    if (typeof request?.headers?.get !== 'function') {
      throw new TypeError(
        'The handler of toFetch needs a Request. With Hono, pass c.req.raw. For Express, Fastify, Koa and node:http, use toNodeHandler',
      );
    }
    return handler().then((loaded) => loaded(request, info));
  };
  return Object.assign(handle, ends);
}
