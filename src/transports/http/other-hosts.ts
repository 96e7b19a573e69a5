// Further servers behind one endpoint, each at a path of its own. They share its port, limits, access checks and
// authentication; sessions belong to the server and path that opened them.

import type { WireError } from '../../protocol/errors.ts';
import type { Principal, SessionHost } from '../../protocol/exchange.ts';
import type { McpRoute } from './mcp-route.ts';

export class OtherHosts {
  readonly #find: (path: string) => SessionHost | undefined;
  readonly #create: (host: SessionHost, path: string) => McpRoute;
  readonly #logRejection: (work: Promise<unknown>) => void;
  readonly #routes = new Map<string, McpRoute>();
  readonly #own: McpRoute;

  /** `own`: the route of the endpoint's server, which may have further paths. */
  constructor(
    own: McpRoute,
    find: (path: string) => SessionHost | undefined,
    create: (host: SessionHost, path: string) => McpRoute,
    logRejection: (work: Promise<unknown>) => void,
  ) {
    this.#own = own;
    this.#find = find;
    this.#create = create;
    this.#logRejection = logRejection;
  }

  /** The server at a path and its route; undefined if there is none, or none any more. */
  at(path: string): McpRoute | undefined {
    const host = this.#find(path);
    const known = this.#routes.get(path);
    if (host !== undefined && known?.host === host) return known;
    if (known !== undefined) {
      this.#routes.delete(path);
      if (!known.isDraining) this.#logRejection(known.drain(0).then(() => known.stop()));
    }
    if (host === undefined) return undefined;
    if (host === this.#own.host) return this.#own;
    // Those of servers that were removed end by themselves.
    for (const [other, { isDraining }] of this.#routes) if (isDraining) this.#routes.delete(other);
    const route = this.#create(host, path);
    this.#routes.set(path, route);
    return route;
  }

  revoke(match: (principal: Principal) => boolean, error: WireError): void {
    for (const route of this.#routes.values()) route.revoke(match, error);
  }

  async drain(graceMs: number): Promise<void> {
    await Promise.all([...this.#routes.values()].map((route) => route.drain(graceMs)));
    for (const route of this.#routes.values()) route.stop();
  }
}
