// What can be chosen about serving over HTTP. `{}` is safe: loopback only, no foreign origins, every limit on.

import type { Principal } from '../../protocol/exchange.ts';
import type { Logger } from '../../protocol/logger.ts';
import type { Monitor } from '../../protocol/monitor.ts';
import type { EventLog, ExpiringStore, Sealer } from '../../protocol/ports.ts';
import type { HttpRequest } from './exchange.ts';
import type { HttpLimits } from './limits.ts';

/** Why a request was not let in. */
export interface Denied {
  /** 401: say who you are. 403: you may not. */
  readonly status: 401 | 403;
  /** The value of `WWW-Authenticate`. Default `Bearer`. */
  readonly challenge?: string;
  readonly message?: string;
}

/**
 * Finds out for whom a request acts, on every path but `/health` and before anything of the body is read. Undefined
 * is the same as `{ status: 401 }`.
 */
export type Authenticate = (
  request: HttpRequest,
) => Principal | Denied | undefined | Promise<Principal | Denied | undefined>;

/** A plain answer of a route of your own. */
export interface RouteResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A page beside the endpoint: metadata for clients, a console. Host, Origin and authentication are checked before. */
export interface ExtraRoute {
  readonly path: string;
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Served to anybody, authenticated or not. Default false. */
  readonly public?: boolean;
  answer(request: HttpRequest): RouteResponse | Promise<RouteResponse>;
}

/** Routes and events that clients of older, unofficial servers expect. All off by default. */
export interface CompatOptions {
  /** Further names of `Mcp-Session-Id`, in both directions. */
  readonly sessionHeaders?: readonly string[];
  /** Where `GET` opens a stream of `connection`, `notification` and `progress` events, with or without a session. */
  readonly eventsPath?: string;
  /** Where a `POST` is served like one to the endpoint, its answer always in the body. */
  readonly replyPath?: string;
}

export interface EndpointOptions {
  /** The endpoint. Default `/mcp`. */
  readonly path?: string;
  /** Further values of `Host` to let in, with the port where it is not the default one. */
  readonly allowedHosts?: readonly string[];
  /** Foreign web origins (`https://app.example`) whose pages may call this server; turns CORS on for exactly these. */
  readonly allowedOrigins?: readonly string[];
  /** Where clients reach this server from outside: its host and origin are let in. */
  readonly publicUrl?: string;
  readonly authenticate?: Authenticate;
  readonly limits?: Partial<HttpLimits>;
  /**
   * Sessions of the handshake revisions. `required` (default): opened by `initialize`, and nothing is served without.
   * `optional`: a request without a session is served by itself. `off`: none is ever opened.
   */
  readonly sessions?: 'required' | 'optional' | 'off';
  /** Makes session ids. Default: that of the server, under its key. */
  readonly sealer?: Sealer;
  /** Keeps revocations and what sessions asked for. Default: that of the server. */
  readonly store?: ExpiringStore;
  /** Remembers what streams carried, so that clients can resume them. Default: in memory; `false`: no resumption. */
  readonly eventLog?: EventLog | false;
  /** The older transport of two endpoints. Default `/sse` and `/message`; `false`: off. */
  readonly sse?: false | { readonly path?: string; readonly messagePath?: string };
  /**
   * Where probes ask whether to send requests here, as at `/readyz`: 503 while the server is closing or overloaded.
   * `/livez` only says that the process answers. Default `/health`; `false`: all of them are off.
   */
  readonly healthPath?: string | false;
  /** Where Prometheus collects figures, for instance `/metrics`. Default: off. */
  readonly metricsPath?: string;
  /** Parts of the server that show in health and metrics, such as the `monitor` of an audit log. */
  readonly monitors?: readonly Monitor[];
  readonly compat?: CompatOptions;
  readonly routes?: readonly ExtraRoute[];
  readonly logger?: Logger;
}

/** What `serveHttp` takes. */
export interface HttpOptions extends EndpointOptions {
  /** Default `127.0.0.1`. Anything but this machine itself needs `authenticate`. */
  readonly host?: string;
  /** Default 8000; 0 picks a free one. */
  readonly port?: number;
  /** WebSockets at the path of the endpoint. Default true. */
  readonly webSocket?: boolean;
  /** Serve strangers on a public address without authentication. Only behind something that authenticates for us. */
  readonly allowUnauthenticated?: boolean;
  /** Drain and exit on SIGTERM, SIGINT and SIGHUP. Default false: a program decides itself when to `close`. */
  readonly ownProcess?: boolean;
  /** With `ownProcess`: called on SIGHUP instead of draining, to read settings again. */
  readonly reload?: () => void;
  /** How long calls may go on once the server is closing. Default 10 s. */
  readonly graceMs?: number;
}
