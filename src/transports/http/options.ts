// Options of the HTTP transports. `{}` is safe: loopback only, no other origins, every limit on.

import type { Logger } from '../../common/logger.ts';
import type { Principal, SessionHost } from '../../protocol/exchange.ts';
import type { Icon } from '../../protocol/model.ts';
import type { Monitor } from '../../protocol/monitor.ts';
import type { EventLog, ExpiringStore, Sealer, SharedEventLog } from '../../protocol/ports.ts';
import type { HttpExchange, HttpRequest } from './exchange.ts';
import type { HttpLimits } from './limits.ts';

/** Why a request was denied. */
export interface Denied {
  /** 401: not authenticated. 403: not allowed. */
  readonly status: 401 | 403;
  /** The value of `WWW-Authenticate`. Default `Bearer`. */
  readonly challenge?: string;
  /** Why, for the client. */
  readonly message?: string;
}

/**
 * Authenticates a request: on every path except the public ones, and before the body is read. Undefined is the same as
 * `{ status: 401 }`.
 */
export type Authenticate = (
  request: HttpRequest,
) => Principal | Denied | undefined | Promise<Principal | Denied | undefined>;

/** The response of a route of your own. */
export interface RouteResponse {
  /** The HTTP status. */
  readonly status: number;
  /** Response headers besides those that the server sets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body; set `content-type` in `headers`. */
  readonly body?: string;
}

/** A route beside the endpoint: metadata for clients, a console. Host, Origin and authentication are checked before. */
export interface ExtraRoute {
  /** The exact path, such as `/.well-known/example`. */
  readonly path: string;
  /** Default `GET`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Served without authentication. Default false. */
  readonly public?: boolean;
  /** Returns the response. */
  answer(request: HttpRequest): RouteResponse | Promise<RouteResponse>;
}

/** Everything below a path, such as the console. Host and Origin are checked before; it authenticates by itself. */
export interface MountedRoute {
  /** Without a slash at the end: `/console` serves `/console` and everything below `/console/`. */
  readonly path: string;
  /** Handles one request. */
  handle(exchange: HttpExchange): void;
  /** Further names of the server, as in `Host`, under which there is only this mount. */
  readonly hosts?: readonly string[];
  /** Called when the server closes, to end open streams. */
  close?(): void | Promise<void>;
}

/** Routes and events that clients of older, unofficial servers expect. All off by default. */
export interface CompatOptions {
  /** Additional names of `Mcp-Session-Id`, in both directions. */
  readonly sessionHeaders?: readonly string[];
  /** Where `GET` opens a stream of `connection`, `notification` and `progress` events, with or without a session. */
  readonly eventsPath?: string;
  /** Where a `POST` is served as at the endpoint, but always with a JSON response. */
  readonly replyPath?: string;
}

/** What messages call the options of addresses, in a program that has names of its own for them. */
export interface OptionNames {
  /** For example `--allow-host`. Default `the option allowedHosts`. */
  readonly allowedHosts?: string;
  /** For example `--allow-origin`. Default `the option allowedOrigins`. */
  readonly allowedOrigins?: string;
  /** For example `--public-url`. Default `the option publicUrl`. */
  readonly publicUrl?: string;
  /** For example `--trust-proxy`. Default `the option trustedProxies`. */
  readonly trustedProxies?: string;
}

/** Where the source code of a server is. */
export interface SourceRepository {
  /** Its address, for browsers and `git clone`. */
  readonly url: string;
  /** The service that hosts it, such as `github`. */
  readonly source: string;
  /** What the service calls it; it stays the same when the repository is renamed. */
  readonly id?: string;
  /** The folder of the server in it. */
  readonly subfolder?: string;
}

/** What a server card says besides the address. A field that is absent is taken from the options of `createServer`. */
export interface ServerCardOptions {
  /** A domain of yours backwards, a slash and a name: `com.example/weather`. Default: the name of the server, if it has this form. */
  readonly name?: string;
  /** The name that is shown to people: at most 100 characters. */
  readonly title?: string;
  /** What the server does: at most 100 characters. Required here or in `createServer`. */
  readonly description?: string;
  /** The address of its website. */
  readonly websiteUrl?: string;
  /** Images that may be shown beside its name. */
  readonly icons?: readonly Icon[];
  /** Where its source code is. */
  readonly repository?: SourceRepository;
}

/** How an endpoint serves requests, whichever server carries them. */
export interface EndpointOptions {
  /** The path of the endpoint. Default `/mcp`. */
  readonly path?: string;
  /** Additional allowed values of `Host`. With a port (`mcp.example:8443`) only that one, without a port every port. */
  readonly allowedHosts?: readonly string[];
  /** Other web origins (`https://app.example`) whose pages may call this server; enables CORS for exactly these. */
  readonly allowedOrigins?: readonly string[];
  /** Used in the response to a request whose `Host` or `Origin` is not allowed, and in errors about the server card. */
  readonly optionNames?: OptionNames;
  /** The public URL of this server, for example behind a proxy: its host and origin are allowed. */
  readonly publicUrl?: string;
  /** Identifies the caller of each request. Default: callers are not authenticated. */
  readonly authenticate?: Authenticate;
  /** Limits of bodies, sessions, streams and connections; see `HttpLimits` for the defaults. */
  readonly limits?: Partial<HttpLimits>;
  /**
   * Sessions of the handshake revisions. `required` (default): `initialize` opens one, and nothing is served without.
   * `optional`: a request without a session is served by itself. `off`: sessions are never opened.
   */
  readonly sessions?: 'required' | 'optional' | 'off';
  /** Seals session ids. Default: the sealer of the server, with its key. */
  readonly sealer?: Sealer;
  /** Stores ended sessions and the state of sessions. Default: the store of the server. */
  readonly store?: ExpiringStore;
  /** Logs the events of streams, so that clients can resume them. Default: in memory; `false`: no resumption. */
  readonly eventLog?: EventLog | false;
  /** With a bus: copies of the events of all processes, so that streams can be resumed after their process has ended. */
  readonly sharedEventLog?: SharedEventLog;
  /** The older HTTP+SSE transport. Default `/sse` and `/message`; `false`: off. */
  readonly sse?: false | { readonly path?: string; readonly messagePath?: string };
  /**
   * The path of the health check, which is also at `/readyz`: 503 while the server is closing or overloaded, or its
   * tasks cannot be kept going. `/livez` only reports that the process responds. Default `/health`; `false`: all of them are off.
   */
  readonly healthPath?: string | false;
  /** The path of the Prometheus metrics, for example `/metrics`. Default: off. */
  readonly metricsPath?: string;
  /**
   * Publishes a server card (SEP-2127, experimental) at `<path>/server-card`, and a catalog that lists it at
   * `/.well-known/ai-catalog.json`. Everyone can read them, also if the endpoint requires authentication. `true`: everything in it is
   * taken from the options of `createServer`. Needs `publicUrl`, unless `serveHttp` listens on a loopback address. Default: off.
   */
  readonly serverCard?: boolean | ServerCardOptions;
  /** Parts of the server that appear in health and metrics, such as the `monitor` of an audit log. */
  readonly monitors?: readonly Monitor[];
  /** Routes and events for clients of older, unofficial servers. Default: none. */
  readonly compat?: CompatOptions;
  /** Further routes, such as the `routes` of `createOAuthAuthenticator`. */
  readonly routes?: readonly ExtraRoute[];
  /**
   * Finds further servers by their path, such as the views of a gateway. It is called for requests to paths that nothing else
   * has. A server that is not found any more is closed.
   */
  readonly hosts?: (path: string) => SessionHost | undefined;
  /** Other applications below paths of this server. */
  readonly mounts?: readonly MountedRoute[];
  /** Where the transport logs. Default: the logger of the server. */
  readonly logger?: Logger;
}

/** A certificate and its private key. */
export interface TlsOptions {
  /** PEM: the certificate, followed by those of intermediate authorities. */
  readonly cert: string | Uint8Array;
  /** PEM, without a passphrase. */
  readonly key: string | Uint8Array;
}

/** Options of `serveHttp`. */
export interface HttpOptions extends EndpointOptions {
  /** Serves HTTPS, and WebSockets as `wss:`, with this certificate. `HttpServer.setTls` replaces it. */
  readonly tls?: TlsOptions;
  /** The address to listen on. Default `127.0.0.1`. Any other than loopback needs `authenticate`. */
  readonly host?: string;
  /** Default 8000; 0 chooses a free port. */
  readonly port?: number;
  /** WebSockets at the path of the endpoint. Default true. */
  readonly webSocket?: boolean;
  /**
   * Reverse proxies whose `X-Forwarded-For` is believed: addresses, ranges (`10.0.0.0/8`, `fd00::/8`), and `loopback` for those
   * on this machine. Limits, logs and handlers then see the address of the client. Default: none, and the header is ignored.
   */
  readonly trustedProxies?: readonly string[];
  /** Serve on a public address without authentication. Use it only behind a proxy that authenticates. */
  readonly allowUnauthenticated?: boolean;
  /** Drain and exit on SIGTERM, SIGINT and SIGHUP. Default false: the program calls `close` itself. */
  readonly ownProcess?: boolean;
  /** With `ownProcess`: called on SIGHUP instead of draining, to reload settings. */
  readonly reload?: () => void;
  /**
   * How long the server still accepts and serves requests after it was told to close, while `/readyz` reports 503. Give
   * load balancers that poll it more time than they need to notice. Default 0.
   */
  readonly drainDelayMs?: number;
  /** How long open calls may continue when the server is closing. Default 10 s. */
  readonly graceMs?: number;
}
