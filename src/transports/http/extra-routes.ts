// Routes beside the endpoint: health for probes, metrics for Prometheus, public documents, and the routes a user adds.

import type { Monitor } from '../../protocol/monitor.ts';
import type { HttpExchange, HttpRequest, Route } from './exchange.ts';
import type { HttpMetrics } from './metrics/metrics.ts';
import type { ExtraRoute, MountedRoute, RouteResponse } from './options.ts';
import type { ErrorResponses } from './responses.ts';

const pageHeaders = ['Cache-Control', 'no-store'];
const json = ['Content-Type', 'application/json', ...pageHeaders];

/** What the health routes report. */
export interface HealthSource {
  readonly closing: boolean;
  readonly overloaded: boolean;
  readonly monitors: readonly Monitor[];
}

const worstFirst = ['unavailable', 'degraded'] as const;

/**
 * The health routes by path. `path`, `path/ready` and `/readyz` report whether to send requests here: 503 once the server
 * is closing, and while it or a part of it cannot serve them. `path/live` and `/livez` only report that the process
 * responds. All of them are public and disclose nothing else.
 */
export function healthRoutes(path: string, source: HealthSource): ReadonlyMap<string, Route> {
  const ready = (exchange: HttpExchange): void => {
    if (source.closing) exchange.respond(503, json, '{"status":"draining"}');
    else if (source.overloaded) exchange.respond(503, [...json, 'Retry-After', '1'], '{"status":"overloaded"}');
    else {
      const found = new Set(source.monitors.map((monitor) => monitor().status));
      const status = worstFirst.find((each) => found.has(each)) ?? 'healthy';
      const headers = status === 'unavailable' ? [...json, 'Retry-After', '1'] : json;
      exchange.respond(status === 'unavailable' ? 503 : 200, headers, JSON.stringify({ status }));
    }
  };
  const live = (exchange: HttpExchange): void => exchange.respond(200, json, '{"status":"alive"}');
  const probe = (serve: (exchange: HttpExchange) => void): Route => ({
    methods: { GET: serve, HEAD: serve },
    allow: 'GET, HEAD',
    public: true,
    whileClosing: true,
  });
  return new Map([
    [path, probe(ready)],
    [`${path}/ready`, probe(ready)],
    [`${path}/live`, probe(live)],
    ['/readyz', probe(ready)],
    ['/livez', probe(live)],
  ]);
}

/** `shared`: collects the metrics of all processes, if there are others. */
export function metricsRoute(metrics: HttpMetrics, errors: ErrorResponses, shared?: () => Promise<string>): Route {
  const headers = ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8', ...pageHeaders];
  const serve = (exchange: HttpExchange): void | Promise<void> =>
    shared === undefined
      ? exchange.respond(200, headers, metrics.text())
      : shared().then((text) => exchange.respond(200, headers, text));
  return {
    methods: { GET: (exchange) => errors.catchRejection(exchange, serve(exchange)) },
    allow: 'GET',
    whileClosing: true,
  };
}

/** Serves GET, HEAD and OPTIONS of public documents, by path. */
export type DocumentRoutes = ReadonlyMap<string, (exchange: HttpExchange) => Promise<void>>;

/** A document that everyone may read, from web pages too. */
export function documentRoute(serve: (exchange: HttpExchange) => Promise<void>, errors: ErrorResponses): Route {
  const respond = (exchange: HttpExchange): void => errors.catchRejection(exchange, serve(exchange));
  return {
    methods: { GET: respond, HEAD: respond, OPTIONS: respond },
    allow: 'GET, HEAD, OPTIONS',
    public: true,
    anyOrigin: true,
  };
}

export function extraRoute(route: ExtraRoute, errors: ErrorResponses): Route {
  const method = route.method ?? 'GET';
  const serve = (exchange: HttpExchange): void => {
    responseOf(route, exchange)
      .then(({ status, headers, body }) => exchange.respond(status, Object.entries(headers ?? {}).flat(), body))
      .catch((error: unknown) => errors.failed(exchange, error));
  };
  return { methods: { [method]: serve }, allow: method, public: route.public === true };
}

/** Finds what is mounted at or above a path. Only called for paths without a route. */
export function mountedRoutes(mounts: readonly MountedRoute[]): (path: string) => Route | undefined {
  const rows = mounts.map((mount) => {
    const serve = (exchange: HttpExchange): void => mount.handle(exchange);
    const route: Route = {
      methods: { GET: serve, HEAD: serve, POST: serve },
      allow: 'GET, HEAD, POST',
      public: true,
      ...(mount.hosts === undefined ? {} : { hosts: new Set(mount.hosts) }),
    };
    return { path: mount.path, below: `${mount.path}/`, route };
  });
  return (path) => rows.find((row) => path === row.path || path.startsWith(row.below))?.route;
}

/** Async, so that a handler that throws is a rejected promise too. */
async function responseOf(route: ExtraRoute, request: HttpRequest): Promise<RouteResponse> {
  return route.answer(request);
}
