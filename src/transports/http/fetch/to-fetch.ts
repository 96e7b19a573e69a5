// A server as a function from Request to Response, for runtimes that have no sockets to offer: everything the endpoint
// does but WebSockets. Uses web standards only.

import type { Principal, SessionHost } from '../../../protocol/exchange.ts';
import { HostOriginCheck, hostsFrom, originsFrom } from '../access.ts';
import { Endpoint } from '../endpoint.ts';
import type { EndpointOptions } from '../options.ts';
import { FetchExchange } from './exchange.ts';

/** What a runtime may say beside the request. */
export interface FetchInfo {
  /** The address of the client, for logs and limits. */
  readonly address?: string;
}

/** The function, and how to end it. */
export interface FetchHandler {
  (request: Request, info?: FetchInfo): Promise<Response>;
  /** Takes no new requests, lets open calls finish, and ends streams. */
  close(graceMs?: number): Promise<void>;
  /** Ends what the principals for which `match` is true have open; see `HttpServer.revoke`. */
  revoke(match: (principal: Principal) => boolean): Promise<void>;
}

export function createFetchHandler(host: SessionHost, options: EndpointOptions): FetchHandler {
  const outside = options.publicUrl === undefined ? undefined : new URL(options.publicUrl);
  const hosts = [...(options.allowedHosts ?? []), ...(outside === undefined ? [] : [outside.host])];
  // The runtime knows where it listens, we do not: without a word from the user every Host is let in, no Origin is.
  const access = new HostOriginCheck({
    hosts: hosts.length === 0 ? undefined : hostsFrom(hosts),
    ownOrigins: new Set(outside === undefined ? [] : [outside.origin]),
    corsOrigins: originsFrom(options.allowedOrigins),
  });
  const endpoint = new Endpoint(host, options, access, options.sealer ?? host.sealer);
  const handle = (request: Request, info: FetchInfo = {}): Promise<Response> => {
    const exchange = new FetchExchange(request, info.address, endpoint);
    endpoint.handle(exchange);
    return exchange.response;
  };
  return Object.assign(handle, {
    close: (graceMs = 10_000) => endpoint.drain(graceMs),
    revoke: async (match: (principal: Principal) => boolean) => endpoint.revoke(match),
  });
}
