// A server as a function from Request to Response, for runtimes without sockets: everything that the endpoint serves,
// except WebSockets. Uses web standards only.

import type { Principal, SessionHost } from '../../../protocol/exchange.ts';
import { HostOriginCheck, rulesFrom } from '../access.ts';
import { Endpoint } from '../endpoint.ts';
import { loadServerCard } from '../load-server-card.ts';
import { logOtherPath } from '../log-other-path.ts';
import type { EndpointOptions } from '../options.ts';
import { FetchExchange } from './exchange.ts';

/** What a runtime may add to the request, such as the server that Bun passes. */
export interface FetchInfo {
  /** The address of the client, for logs and limits. */
  readonly address?: string | undefined;
  /** Returns it: the server of Bun does. */
  requestIP?(request: Request): { readonly address: string } | null;
}

/** A function from Request to Response that can be closed. */
export interface FetchHandler {
  (request: Request, info?: FetchInfo): Promise<Response>;
  /** Accepts no new requests, lets open calls finish, and ends streams. */
  close(graceMs?: number): Promise<void>;
  /** Ends what the principals for which `match` is true have open; see `HttpServer.revoke`. */
  revoke(match: (principal: Principal) => boolean): Promise<void>;
}

export async function createFetchHandler(host: SessionHost, options: EndpointOptions): Promise<FetchHandler> {
  // Only the runtime knows where it listens: without configuration every Host is allowed, and no Origin.
  const access = new HostOriginCheck(rulesFrom(options));
  const documents = (await loadServerCard(options))?.(host, options);
  const endpoint = new Endpoint(host, options, access, (each) => each.sealer, documents);
  endpoint.onNotFound = logOtherPath(endpoint);
  // Some runtimes end the timers of a request together with it: no request may wait for one of another.
  endpoint.state.turns.disable();
  const handle = (request: Request, info?: FetchInfo): Promise<Response> => {
    const exchange = new FetchExchange(request, addressIn(request, info), endpoint);
    endpoint.handle(exchange);
    return exchange.response;
  };
  return Object.assign(handle, {
    close: (graceMs = 10_000) => endpoint.drain(graceMs),
    revoke: async (match: (principal: Principal) => boolean) => endpoint.revoke(match),
  });
}

/** Runtimes pass different things as their second argument: the server of Bun also has an address, its own. */
function addressIn(request: Request, info: FetchInfo | undefined): string | undefined {
  const address: unknown =
    typeof info?.requestIP === 'function' ? info.requestIP(request)?.address : (info?.address as unknown);
  return typeof address === 'string' ? address : undefined;
}
