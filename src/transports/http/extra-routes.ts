// Pages beside the endpoint: health for probes, figures for Prometheus, and routes somebody added.

import type { Endpoint } from './endpoint.ts';
import type { HttpExchange, HttpRequest } from './exchange.ts';
import type { HttpMetrics } from './metrics.ts';
import type { ExtraRoute, RouteResponse } from './options.ts';

const pageHeaders = ['Cache-Control', 'no-store'];
const json = ['Content-Type', 'application/json', ...pageHeaders];

/**
 * `path`, `path/ready` and `/readyz` say whether to send requests here: 503 once the server is closing, and while it or
 * a part of it cannot serve them. `path/live` and `/livez` only say that the process answers. All are open to anybody and tell nothing else.
 */
export function addHealth(endpoint: Endpoint, path: string): void {
  const ready = (exchange: HttpExchange): void => {
    if (endpoint.draining) exchange.respond(503, json, '{"status":"draining"}');
    else if (endpoint.state.overloaded) exchange.respond(503, [...json, 'Retry-After', '1'], '{"status":"overloaded"}');
    else {
      const found = new Set(endpoint.options.monitors?.map((monitor) => monitor().status));
      const status = worstFirst.find((each) => found.has(each)) ?? 'healthy';
      const headers = status === 'unavailable' ? [...json, 'Retry-After', '1'] : json;
      exchange.respond(status === 'unavailable' ? 503 : 200, headers, JSON.stringify({ status }));
    }
  };
  const live = (exchange: HttpExchange): void => exchange.respond(200, json, '{"status":"alive"}');
  const probes = { [path]: ready, [`${path}/ready`]: ready, [`${path}/live`]: live, '/readyz': ready, '/livez': live };
  for (const [at, serve] of Object.entries(probes)) {
    if (endpoint.hasRoute(at)) continue;
    const methods = { GET: serve, HEAD: serve };
    endpoint.addRoute(at, { methods, allow: 'GET, HEAD', public: true, whileClosing: true });
  }
}

const worstFirst = ['unavailable', 'degraded'] as const;

export function addMetrics(endpoint: Endpoint, path: string, metrics: HttpMetrics): void {
  endpoint.addRoute(path, {
    methods: {
      GET: (exchange) =>
        exchange.respond(
          200,
          ['Content-Type', 'text/plain; version=0.0.4; charset=utf-8', ...pageHeaders],
          metrics.text(),
        ),
    },
    allow: 'GET',
    whileClosing: true,
  });
}

export function addExtraRoute(endpoint: Endpoint, route: ExtraRoute): void {
  const method = route.method ?? 'GET';
  const serve = (exchange: HttpExchange): void => {
    answerOf(route, exchange)
      .then(({ status, headers, body }) => exchange.respond(status, Object.entries(headers ?? {}).flat(), body))
      .catch((error: unknown) => endpoint.errors.failed(exchange, error));
  };
  const isPublic = route.public === true;
  endpoint.addRoute(route.path, { methods: { [method]: serve }, allow: method, public: isPublic });
}

async function answerOf(route: ExtraRoute, request: HttpRequest): Promise<RouteResponse> {
  return route.answer(request);
}
