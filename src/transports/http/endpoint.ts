// Everything one server answers over HTTP: who is let in, which path goes where. Works on exchanges, whatever brought
// the bytes; the transports behind the paths are streamable.ts and two-endpoint.ts.

import { wireErrors } from '../../protocol/errors.ts';
import type { Principal, SessionHost } from '../../protocol/exchange.ts';
import { type Logger, silentLogger } from '../../protocol/log.ts';
import type { Sealer } from '../../protocol/ports.ts';
import type { Access } from './access.ts';
import { Refusals } from './answers.ts';
import { createEventLog } from './event-log.ts';
import { Heartbeat } from './event-stream.ts';
import type { HttpExchange, HttpRequest } from './exchange.ts';
import { defaultHttpLimits, type HttpLimits } from './limits.ts';
import type { Ground } from './live-session.ts';
import { HttpMetrics } from './metrics.ts';
import type { Denied, EndpointOptions } from './options.ts';
import { addExtraRoute, addHealth, addMetrics } from './pages.ts';
import { SessionIds } from './session-ids.ts';
import { Sessions } from './sessions.ts';
import { Streamable } from './streamable.ts';

type Serve = (exchange: HttpExchange, principal: Principal | undefined) => void;

/** What stands at a path. */
export interface Route {
  readonly methods: Readonly<Record<string, Serve>>;
  /** What `Allow` says. */
  readonly allow: string;
  /** Served without authentication. */
  readonly public?: boolean;
  /** Served until the very end: what a probe asks. */
  readonly whileClosing?: boolean;
}

/** What became of a request at the door. */
export type Admission =
  | { readonly ok: true; readonly principal: Principal | undefined }
  | { readonly ok: false; readonly refuse: (exchange: HttpExchange) => void; readonly denied: Denied | undefined };

const admittedAnonymously: Admission = { ok: true, principal: undefined };

export class Endpoint {
  readonly host: SessionHost;
  readonly options: EndpointOptions;
  readonly limits: HttpLimits;
  readonly logger: Logger;
  readonly refusals: Refusals;
  readonly ground: Ground;
  readonly sessions: Sessions;
  readonly streamable: Streamable;
  readonly #access: Access;
  readonly #routes = new Map<string, Route>();
  /** Ended one after another when the server closes. */
  readonly #drains: ((graceMs: number) => Promise<void>)[] = [];
  #draining = false;
  readonly metrics: HttpMetrics | undefined;
  readonly #idPrefix = `${crypto.randomUUID().slice(0, 8)}-`;
  #requests = 0;
  readonly #watches: boolean;

  constructor(host: SessionHost, options: EndpointOptions, access: Access, sealer: Sealer) {
    this.host = host;
    this.options = options;
    this.limits = { ...defaultHttpLimits, ...options.limits };
    this.logger = options.logger ?? host.logger ?? silentLogger;
    this.refusals = new Refusals(host);
    this.#access = access;
    const log = options.eventLog === false ? undefined : (options.eventLog ?? createEventLog());
    this.ground = {
      limits: this.limits,
      beat: new Heartbeat(this.limits.heartbeatMs, this.limits.maxQueuedBytes),
      log,
      inFlight: 0,
    };
    const store = options.store ?? host.store;
    const ids = new SessionIds(sealer, store, this.limits);
    this.sessions = new Sessions(host, ids, store, this.ground, options.compat?.sessionHeaders ?? []);
    this.streamable = new Streamable(host, this.ground, this.sessions, this.refusals, options.sessions ?? 'required');
    this.onDrain((graceMs) => this.streamable.drain(graceMs));
    this.addRoute(options.path ?? '/mcp', {
      methods: {
        POST: (exchange, principal) => this.streamable.post(exchange, principal),
        GET: (exchange, principal) => this.streamable.get(exchange, principal),
        DELETE: (exchange, principal) => this.streamable.delete(exchange, principal),
      },
      allow: this.streamable.allow,
    });
    const { healthPath = '/health', metricsPath, routes = [] } = options;
    if (healthPath !== false) addHealth(this, healthPath);
    if (metricsPath !== undefined) {
      this.metrics = new HttpMetrics(host, this.ground, this.sessions.live);
      addMetrics(this, metricsPath, this.metrics);
    }
    for (const route of routes) addExtraRoute(this, route);
    this.#watches = this.metrics !== undefined || this.logger.enabled('debug');
  }

  get draining(): boolean {
    return this.#draining;
  }

  addRoute(path: string, route: Route): void {
    if (this.#routes.has(path)) throw new TypeError(`Two routes share the path ${path}`);
    this.#routes.set(path, route);
  }

  onDrain(drain: (graceMs: number) => Promise<void>): void {
    this.#drains.push(drain);
  }

  handle(exchange: HttpExchange): void {
    if (this.#watches) this.#watch(exchange);
    const route = this.#routes.get(exchange.path);
    const { method } = exchange;
    const serve = route?.methods[method];
    if (route !== undefined && serve === undefined && method !== 'OPTIONS') {
      return this.refusals.notAllowed(exchange, route.allow);
    }
    const refused = this.#access.check(exchange);
    if (refused !== undefined) return this.#keepOut(exchange, refused);
    const cors = this.#access.corsHeaders(exchange);
    if (cors !== undefined) exchange.extraHeaders = [...(exchange.extraHeaders ?? []), ...cors];
    if (route === undefined) return this.refusals.notFound(exchange);
    if (serve === undefined) return this.#preflight(exchange, route);
    if (route.public === true || this.options.authenticate === undefined)
      return this.#serve(exchange, serve, undefined);
    this.#identify(exchange, (admission) => {
      if (admission.ok) this.#serve(exchange, serve, admission.principal);
      else admission.refuse(exchange);
    });
  }

  #serve(exchange: HttpExchange, serve: Serve, principal: Principal | undefined): void {
    if (this.#draining) return this.refusals.busy(exchange, 'the server is shutting down');
    serve(exchange, principal);
  }

  /** Gives a request an id that its answer and its line in the log share, and counts it. */
  #watch(exchange: HttpExchange): void {
    this.metrics?.watch(exchange);
    if (!this.logger.enabled('debug')) return;
    const requestId = `${this.#idPrefix}${(++this.#requests).toString(36)}`;
    const { method, path } = exchange;
    const begun = performance.now();
    const earlier = exchange.onAnswered;
    exchange.extraHeaders = ['X-Request-Id', requestId];
    exchange.onAnswered = (status) => {
      this.logger.debug('request', { requestId, method, path, status, ms: Math.round(performance.now() - begun) });
      earlier?.(status);
    };
  }

  /** Host, Origin and authentication for a request that is no exchange: a WebSocket that wants to open. */
  admit(request: HttpRequest, done: (admission: Admission) => void): void {
    const refused = this.#access.check(request);
    if (refused !== undefined) {
      return done({ ok: false, denied: undefined, refuse: (exchange) => this.#keepOut(exchange, refused) });
    }
    this.#identify(request, done);
  }

  #identify(request: HttpRequest, done: (admission: Admission) => void): void {
    const { authenticate } = this.options;
    if (authenticate === undefined) return done(admittedAnonymously);
    const judge = (verdict: Principal | Denied | undefined): void => {
      if (verdict !== undefined && !('status' in verdict)) return done({ ok: true, principal: verdict });
      const denied: Denied = verdict ?? { status: 401 };
      done({ ok: false, denied, refuse: (exchange) => this.#deny(exchange, denied) });
    };
    const broke = (error: unknown): void => {
      this.logger.error('authentication failed to decide', { path: request.path, error });
      done({ ok: false, denied: undefined, refuse: (exchange) => this.refusals.failed(exchange) });
    };
    try {
      const verdict = authenticate(request);
      if (verdict instanceof Promise) verdict.then(judge, broke);
      else judge(verdict);
    } catch (error) {
      broke(error);
    }
  }

  #keepOut(exchange: HttpExchange, what: 'host' | 'origin'): void {
    const { path, address } = exchange;
    this.logger.info('kept out', { what, path, address, host: exchange.get('host'), origin: exchange.get('origin') });
    const name = what === 'host' ? 'Host' : 'Origin';
    this.refusals.refuse(exchange, 403, wireErrors.transport(`Forbidden: this ${name} is not allowed here`));
  }

  #deny(exchange: HttpExchange, { status, challenge = 'Bearer', message }: Denied): void {
    const { path, address } = exchange;
    this.logger.info('denied', { status, path, address });
    const words = message ?? (status === 401 ? 'Unauthorized: a valid token is required' : 'Forbidden');
    this.refusals.refuse(exchange, status, wireErrors.transport(words), ['WWW-Authenticate', challenge]);
  }

  #preflight(exchange: HttpExchange, { allow }: Route): void {
    const headers = this.#access.preflight(exchange, allow);
    if (headers === undefined) return this.refusals.notAllowed(exchange, allow);
    exchange.respond(204, headers);
  }

  /** Takes no new requests, lets open ones finish within the grace period, then ends every stream. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    await Promise.all(this.#drains.map((drain) => drain(graceMs)));
    this.ground.beat.endAll();
    this.ground.beat.stop();
    this.sessions.live.stop();
    this.metrics?.close();
  }
}
