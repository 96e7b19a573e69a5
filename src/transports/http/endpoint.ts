// The HTTP endpoint of one server: access checks, authentication, and routing by path. Works on exchanges, whichever server
// they come from; the transports behind the paths are in streamable.ts and legacy-sse.ts.

import { FailureLog } from '../../common/failure-log.ts';
import { type Logger, silentLogger } from '../../common/logger.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Principal, SessionControl, SessionHost } from '../../protocol/exchange.ts';
import type { Monitor } from '../../protocol/monitor.ts';
import type { EventLog, Sealer } from '../../protocol/ports.ts';
import { type AccessDenial, explainDenial, type HostOriginCheck } from './access.ts';
import { authenticated } from './authentication.ts';
import { EndpointState } from './endpoint-state.ts';
import { publicPrefix } from './endpoint-url.ts';
import type { HeaderList, HttpExchange, HttpRequest, Route } from './exchange.ts';
import {
  type DocumentRoutes,
  documentRoute,
  extraRoute,
  healthRoutes,
  metricsRoute,
  mountedRoutes,
} from './extra-routes.ts';
import { LegacySse } from './legacy-sse.ts';
import { type HttpLimits, resolveHttpLimits } from './limits.ts';
import { McpRoute } from './mcp-route.ts';
import { HttpMetrics } from './metrics/metrics.ts';
import { shareMetrics } from './metrics/shared-metrics.ts';
import type { Authenticate, Denied, EndpointOptions } from './options.ts';
import { OtherHosts } from './other-hosts.ts';
import type { ErrorResponses } from './responses.ts';
import type { Sessions } from './sessions/sessions.ts';
import type { Streamable } from './streamable.ts';
import { CompatStream } from './streams/compat-stream.ts';
import { createEventLog } from './streams/event-log.ts';
import { shareEventLog } from './streams/shared-event-log.ts';

/** Ends what principals for which `match` is true have open, with that error. */
type Revocation = (match: (principal: Principal) => boolean, error: WireError) => void;

/** The result of access checks and authentication. */
export type Admission =
  | { readonly ok: true; readonly principal: Principal | undefined }
  | { readonly ok: false; readonly status: number; readonly message: string; readonly headers: HeaderList };

/** What seals the session ids of a server; with a path, ids are valid at that path only. */
export type SealerOf = (host: SessionHost, path?: string) => Sealer;

const admittedAnonymously: Admission = { ok: true, principal: undefined };

export class Endpoint {
  readonly host: SessionHost;
  readonly options: EndpointOptions;
  readonly limits: HttpLimits;
  readonly logger: Logger;
  readonly errors: ErrorResponses;
  readonly state: EndpointState;
  readonly sessions: Sessions;
  readonly streamable: Streamable;
  readonly #access: HostOriginCheck;
  readonly #routes = new Map<string, Route>();
  readonly #mounted: (path: string) => Route | undefined;
  readonly #others: OtherHosts | undefined;
  /** Called when the server closes. */
  readonly #drains: ((graceMs: number) => Promise<void>)[] = [];
  readonly #revocations: Revocation[] = [];
  #closing = false;
  #draining = false;
  readonly metrics: HttpMetrics | undefined;
  readonly #idPrefix = `${crypto.randomUUID().slice(0, 8)}-`;
  #requests = 0;
  readonly #traced: boolean;
  /** Called for a request to a path that nothing has. */
  onNotFound: ((exchange: HttpExchange) => void) | undefined = undefined;
  readonly #authFailures: FailureLog;

  constructor(
    host: SessionHost,
    options: EndpointOptions,
    access: HostOriginCheck,
    sealerOf: SealerOf,
    documents: DocumentRoutes = new Map(),
  ) {
    this.host = host;
    this.options = options;
    this.limits = resolveHttpLimits(options.limits);
    this.logger = options.logger ?? host.logger ?? silentLogger;
    this.#access = access;
    this.#authFailures = new FailureLog(this.logger, {
      failed: 'authentication is not possible now',
      recovered: 'authentication has been possible again for a minute',
      level: 'warn',
      // Cached and static tokens are accepted while an authorization server is down.
      quietMs: 60_000,
    });
    this.state = new EndpointState(this.limits, this.logger, eventLogOf(options, host), host.bus);
    const own = new McpRoute(host, options, this.state, options.sealer ?? sealerOf(host));
    ({ errors: this.errors, sessions: this.sessions, streamable: this.streamable } = own);
    this.onDrain((graceMs) => own.drain(graceMs));
    this.onRevoke((match, error) => own.revoke(match, error));
    this.addRoute(options.path ?? '/mcp', own.route);
    if (options.hosts !== undefined) this.#others = this.#otherHosts(own, options.hosts, sealerOf);
    const { healthPath = '/health', metricsPath, routes = [], mounts = [] } = options;
    if (metricsPath !== undefined) {
      const metrics = new HttpMetrics(host, this.state, this.sessions.active, options.monitors);
      this.metrics = metrics;
      const shared = host.bus && shareMetrics(host.bus, host.name, () => metrics.text());
      this.addRoute(metricsPath, metricsRoute(metrics, this.errors, shared));
    }
    for (const route of routes) this.addRoute(route.path, extraRoute(route, this.errors));
    this.#mounted = mountedRoutes(mounts);
    for (const mount of mounts) this.onDrain(async () => mount.close?.());
    this.#addLegacyRoutes();
    // A route of the user takes precedence: a domain has one catalog, which may list more than this server.
    for (const [at, serve] of documents)
      if (!this.#routes.has(at)) this.addRoute(at, documentRoute(serve, this.errors));
    if (healthPath !== false) this.#addHealthRoutes(healthPath);
    this.#traced = this.metrics !== undefined || this.logger.enabled('debug');
  }

  #otherHosts(own: McpRoute, find: NonNullable<EndpointOptions['hosts']>, sealerOf: SealerOf): OtherHosts {
    const { options, state } = this;
    const create = (host: SessionHost, path: string): McpRoute =>
      new McpRoute(host, options, state, options.sealer ?? sealerOf(host, path));
    const others = new OtherHosts(own, find, create, (work) => state.logRejection(work));
    this.onDrain((graceMs) => others.drain(graceMs));
    this.onRevoke((match, error) => others.revoke(match, error));
    return others;
  }

  /** The server at a path: the one of this endpoint, or another behind it. */
  hostAt(path: string): SessionHost | undefined {
    return path === (this.options.path ?? '/mcp') ? this.host : this.#others?.at(path)?.host;
  }

  /** HTTP+SSE, and the routes that profiles of unofficial servers need. */
  #addLegacyRoutes(): void {
    const { host, state, sessions, errors, options } = this;
    const { eventsPath, replyPath } = options.compat ?? {};
    const posts = new Map<string, (exchange: HttpExchange) => void>();
    const reply = (exchange: HttpExchange): void => this.streamable.post(exchange, 'json');
    if (replyPath !== undefined) posts.set(replyPath, reply);
    if (options.sse !== false && host.handshakeVersions.length > 0) {
      const { path = '/sse', messagePath = '/message' } = options.sse ?? {};
      const publicPath = publicPrefix(options.publicUrl, options.path ?? '/mcp') + messagePath;
      const legacy = new LegacySse(host, state, errors, publicPath);
      this.onDrain((graceMs) => legacy.drain(graceMs));
      this.addSessionControl(legacy.control);
      this.addRoute(path, { methods: { GET: (exchange) => legacy.open(exchange) }, allow: 'GET' });
      // One path may serve both: only a message for a stream has a query.
      const other = posts.get(messagePath);
      posts.set(messagePath, (exchange) =>
        other === undefined || exchange.query !== '' ? legacy.post(exchange) : other(exchange),
      );
    }
    for (const [path, serve] of posts) this.addRoute(path, { methods: { POST: serve }, allow: 'POST' });
    if (eventsPath === undefined) return;
    const stream = new CompatStream(host, state, sessions, errors);
    this.addRoute(eventsPath, {
      methods: { GET: (exchange) => stream.open(exchange) },
      allow: 'GET',
    });
  }

  /** It is about to drain, or drains. */
  get closing(): boolean {
    return this.#closing;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Serves as before, but reports to probes that it is about to end, and ends each connection after the next response. */
  beginClosing(): void {
    this.#closing = true;
  }

  /** Added last: a route of the user takes precedence over a health route at the same path. */
  #addHealthRoutes(path: string): void {
    for (const [at, route] of healthRoutes(path, this)) if (!this.#routes.has(at)) this.#routes.set(at, route);
  }

  get overloaded(): boolean {
    return this.state.overloaded;
  }

  get monitors(): readonly Monitor[] {
    return [...(this.host.monitors ?? []), ...(this.options.monitors ?? [])];
  }

  addRoute(path: string, route: Route): void {
    if (this.#routes.has(path)) throw new TypeError(`Two routes share the path ${path}`);
    this.#routes.set(path, route);
  }

  onDrain(drain: (graceMs: number) => Promise<void>): void {
    this.#drains.push(drain);
  }

  /** Lets operators end sessions, until the server closes. */
  addSessionControl(control: SessionControl): void {
    this.host.sessionControls.add(control);
    this.onDrain(async () => void this.host.sessionControls.delete(control));
  }

  onRevoke(revocation: Revocation): void {
    this.#revocations.push(revocation);
  }

  /** Ends every stream, connection and call that was opened by a principal for which `match` is true. */
  revoke(match: (principal: Principal) => boolean): void {
    const error = wireErrors.tokenEnded('revoked');
    // Calls first: the error of a call with a stream is sent on its stream.
    for (const revocation of this.#revocations) revocation(match, error);
    this.state.heartbeat.endEarly(match, error);
  }

  /** Serves a request. An exception becomes its response. */
  handle(exchange: HttpExchange): void {
    try {
      this.#handle(exchange);
    } catch (error) {
      this.failed(exchange, error);
    }
  }

  /** Responds to a request that could not be served because of an unexpected error. */
  failed(exchange: HttpExchange, error: unknown): void {
    this.errors.failed(exchange, error);
  }

  #handle(exchange: HttpExchange): void {
    if (this.#traced) this.#trace(exchange);
    const { path } = exchange;
    const route = this.#routes.get(path) ?? this.#mounted(path) ?? this.#others?.at(path)?.route;
    const { method } = exchange;
    const serve = route !== undefined && Object.hasOwn(route.methods, method) ? route.methods[method] : undefined;
    if (route !== undefined && serve === undefined && method !== 'OPTIONS') {
      return this.errors.notAllowed(exchange, route.allow);
    }
    if (route?.hosts?.has(exchange.get('host')?.toLowerCase() ?? '') === true) return serve?.(exchange);
    const denial = this.#access.check(exchange);
    if (denial !== undefined && !(denial === 'origin' && route?.anyOrigin === true)) {
      return this.#reject(exchange, this.#denyAccess(exchange, denial));
    }
    const cors = route?.anyOrigin === true ? undefined : this.#access.corsHeaders(exchange);
    if (cors !== undefined) exchange.extraHeaders = [...(exchange.extraHeaders ?? []), ...cors];
    if (route === undefined) {
      this.onNotFound?.(exchange);
      return this.errors.notFound(exchange);
    }
    if (serve === undefined) return this.#preflight(exchange, route);
    if (this.#draining && route.whileClosing !== true) {
      return this.errors.busy(exchange, 'the server is shutting down');
    }
    if (route.public === true || this.options.authenticate === undefined) return serve(exchange);
    this.#authenticate(exchange, (admission) => {
      try {
        if (!admission.ok) return this.#reject(exchange, admission);
        exchange.principal = admission.principal;
        serve(exchange);
      } catch (error) {
        this.failed(exchange, error);
      }
    });
  }

  /** Counts a request, and gives it an id that is in its response and in the log. */
  #trace(exchange: HttpExchange): void {
    this.metrics?.watch(exchange);
    if (!this.logger.enabled('debug')) return;
    const requestId = `${this.#idPrefix}${(++this.#requests).toString(36)}`;
    const { method, path } = exchange;
    const startedAt = performance.now();
    const earlier = exchange.onResponded;
    exchange.extraHeaders = ['X-Request-Id', requestId];
    exchange.onResponded = (status) => {
      this.logger.debug('request', { requestId, method, path, status, ms: Math.round(performance.now() - startedAt) });
      earlier?.(status);
    };
  }

  /** Checks Host, Origin and authentication of a request that is not an exchange: the upgrade to a WebSocket. */
  admit(request: HttpRequest, done: (admission: Admission) => void): void {
    const denial = this.#access.check(request);
    if (denial === undefined) this.#authenticate(request, done);
    else done(this.#denyAccess(request, denial));
  }

  #authenticate(request: HttpRequest, done: (admission: Admission) => void): void {
    const { authenticate } = this.options;
    if (authenticate === undefined) return done(admittedAnonymously);
    const onAuthenticated = (returned: unknown): void => {
      let result: Principal | Denied;
      try {
        result = authenticated(returned);
      } catch (error) {
        return failed(error);
      }
      if ('status' in result) return done(this.#deny(request, result));
      this.#authFailures.succeeded();
      done({ ok: true, principal: result });
    };
    const failed = (error: unknown): void => {
      if (error instanceof WireError && error.http !== undefined) {
        const { message, http } = error;
        this.#authFailures.failed(error);
        return done({ ok: false, status: http.status, message, headers: http.headers ?? [] });
      }
      this.logger.error('authentication failed unexpectedly', { path: request.path, error });
      done({ ok: false, status: 500, message: 'Internal error', headers: [] });
    };
    let result: ReturnType<Authenticate>;
    try {
      result = authenticate(request);
    } catch (error) {
      return failed(error);
    }
    if (result instanceof Promise) result.then(onAuthenticated).catch(failed);
    else onAuthenticated(result);
  }

  #denyAccess(request: HttpRequest, denial: AccessDenial): Admission & { ok: false } {
    const { path, address } = request;
    const message = explainDenial(denial, request, this.options.optionNames);
    this.logger.info('access denied', {
      what: denial,
      reason: message,
      path,
      address,
      host: request.get('host'),
      origin: request.get('origin'),
    });
    return { ok: false, status: 403, message, headers: [] };
  }

  #deny({ path, address }: HttpRequest, { status, challenge = 'Bearer', message }: Denied): Admission {
    this.logger.info('authentication denied', { status, path, address });
    const text = message ?? (status === 401 ? 'Unauthorized: a valid token is required' : 'Forbidden');
    return { ok: false, status, message: text, headers: ['WWW-Authenticate', challenge] };
  }

  #reject(exchange: HttpExchange, { status, message, headers }: Admission & { ok: false }): void {
    this.errors.sendError(exchange, status, wireErrors.transport(message), headers);
  }

  #preflight(exchange: HttpExchange, { allow }: Route): void {
    const headers = this.#access.preflight(exchange, allow);
    if (headers === undefined) return this.errors.notAllowed(exchange, allow);
    exchange.respond(204, headers);
  }

  /** Accepts no new requests, lets open ones finish within the grace period, then ends every stream. */
  async drain(graceMs: number): Promise<void> {
    this.#closing = true;
    this.#draining = true;
    await Promise.all(this.#drains.map((drain) => drain(graceMs)));
    this.state.heartbeat.endAll();
    this.state.heartbeat.stop();
    this.sessions.active.stop();
    this.metrics?.close();
  }
}

/** The log of the options, or one in memory; with a bus, other processes can read that. */
function eventLogOf({ eventLog, sharedEventLog }: EndpointOptions, { bus, name }: SessionHost): EventLog | undefined {
  if (eventLog === false) return undefined;
  if (eventLog !== undefined || bus === undefined) return eventLog ?? createEventLog();
  return shareEventLog(bus, name, sharedEventLog);
}
