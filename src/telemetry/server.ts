// Spans and metrics of a server: one span for each request, in the trace that the request carries.

import { assertKnownOptions } from '../common/known-options.ts';
import { InputRequestError } from '../engine/input-requests/input-request-error.ts';
import type { Pack, RequestEnd, RequestInfo, SentRequest, TaskEvent } from '../engine/ports.ts';
import type { Server } from '../engine/server.ts';
import type { EndedSession, Peer } from '../protocol/exchange.ts';
import { methods } from '../protocol/methods.ts';
import { metrics, names, toolError, transports } from './names.ts';
import { contextOf, createHistogram, endSpan, type Histogram, type Span, startSpan, within } from './open-telemetry.ts';
import {
  type Attributes,
  contentText,
  isTraced,
  knownOptions,
  metricAttributes,
  sessionAttributes,
  spanName,
  type TelemetryOptions,
  targetAttributes,
} from './request-attributes.ts';
import { TaskSpans } from './tasks.ts';

/**
 * OpenTelemetry for a server: `await server.use(telemetry())`. The program registers an OpenTelemetry SDK with the exporters
 * of its choice; without one, nothing is recorded.
 */
export function telemetry(options: TelemetryOptions = {}): Pack<Server> {
  assertKnownOptions('telemetry', options, knownOptions);
  let stop = (): void => {};
  return {
    name: 'telemetry',
    install(server) {
      const recorder = new ServerRecorder(server, options);
      stop = server.observe(recorder);
      server.around((request, next) => recorder.run(request, next));
    },
    close: () => stop(),
  };
}

class ServerRecorder {
  readonly #server: Server;
  readonly #options: TelemetryOptions;
  readonly #durations: Histogram;
  readonly #sessions: Histogram;
  /** Requests that the server itself sends. */
  readonly #sentDurations: Histogram;
  readonly #tasks = new TaskSpans();
  readonly #spans = new WeakMap<RequestInfo, Span>();
  readonly #connections = new WeakMap<Peer, { readonly sinceMs: number; revision: string | undefined }>();

  constructor(server: Server, options: TelemetryOptions) {
    this.#server = server;
    this.#options = options;
    this.#durations = createHistogram(metrics.serverOperation, 'Time a server takes for a request.');
    this.#sessions = createHistogram(metrics.serverSession, 'Time a connection to a server is open.');
    this.#sentDurations = createHistogram(metrics.clientOperation, 'Time from sending a request to its response.');
  }

  started = (request: RequestInfo): void => {
    const { method, ctx, peer } = request;
    const connection = this.#connections.get(peer);
    if (connection !== undefined) connection.revision = revisionOf(request);
    if (!isTraced(method, this.#options)) return;
    const target = this.#target(request);
    const attributes: Attributes = {
      ...target,
      ...this.#shared(request),
      [names.requestId]: String(ctx.requestId),
      ...sessionAttributes(request.session?.key),
      ...clientAttributes(peer),
    };
    if (this.#options.contents === true && method === 'tools/call')
      attributes[names.arguments] = contentText(request.params['arguments']);
    this.#spans.set(request, startSpan(spanName(method, target), 'server', attributes, ctx.meta));
  };

  /** Runs the handler within the span, so that spans of its own are children. */
  run(request: RequestInfo, next: () => unknown): unknown {
    // The handler of a task that runs again has no request.
    const span = this.#spans.get(request) ?? this.#tasks.spanOf(request.ctx.task?.id);
    if (span === undefined) return next();
    const result = within(span, request.ctx.meta, next);
    if (this.#options.contents !== true || request.method !== 'tools/call') return result;
    const record = (value: unknown): unknown => {
      span.setAttribute(names.result, contentText(value));
      return value;
    };
    return result instanceof Promise ? result.then(record) : record(result);
  }

  ended = ({ request, outcome, code, durationMs }: RequestEnd): void => {
    const attributes = endAttributes(outcome, code);
    const { [names.errorType]: errorType } = attributes;
    this.#durations.record(
      durationMs / 1000,
      metricAttributes({ ...this.#target(request), ...this.#shared(request) }, attributes),
    );
    const span = this.#spans.get(request);
    if (span === undefined) return;
    endSpan(span, attributes, errorType === undefined ? undefined : String(errorType));
  };

  /** A request to the client: the server is the client of this one. */
  requesting = (request: SentRequest): void => {
    const { call, method, id } = request;
    const startedAt = performance.now();
    const shared = { ...this.#shared(call), [names.method]: method };
    const span = startSpan(
      method,
      'client',
      { ...shared, [names.requestId]: id, ...sessionAttributes(call.session?.key) },
      undefined,
      this.#spans.get(call),
    );
    request.addMeta(contextOf(span));
    request.onEnd((error) => {
      const attributes = error === undefined ? {} : sentErrorAttributes(error);
      this.#sentDurations.record((performance.now() - startedAt) / 1000, metricAttributes(shared, attributes));
      endSpan(span, attributes, error?.message);
    });
  };

  taskChanged = (event: TaskEvent): void => {
    const { request } = event;
    this.#tasks.changed(event, request && this.#spans.get(request)?.spanContext());
  };

  connected = (peer: Peer): void => {
    this.#connections.set(peer, { sinceMs: performance.now(), revision: undefined });
  };

  disconnected = (peer: Peer): void => {
    const connection = this.#connections.get(peer);
    if (connection === undefined) return;
    this.#recordSession(peer, connection.revision, performance.now() - connection.sinceMs);
  };

  sessionEnded = ({ peer = { transport: 'http' }, revision, durationMs }: EndedSession): void =>
    this.#recordSession(peer, revision, durationMs);

  #recordSession(peer: Peer, revision: string | undefined, durationMs: number): void {
    const { attributes } = this.#options;
    this.#sessions.record(durationMs / 1000, {
      ...attributes,
      ...(revision === undefined ? {} : { [names.revision]: revision }),
      ...networkAttributes(peer),
    });
  }

  #shared(request: RequestInfo): Attributes {
    const revision = revisionOf(request);
    return {
      ...this.#options.attributes,
      [names.method]: request.method,
      ...(revision === undefined ? {} : { [names.revision]: revision }),
      ...networkAttributes(request.peer),
    };
  }

  /** Names that do not exist on this server do not become attributes. */
  #target({ method, name }: RequestInfo): Attributes {
    const server = this.#server;
    const known = name !== undefined && (server.isRegistered('tools', name) || server.isRegistered('prompts', name));
    return targetAttributes(method, name, this.#options, known);
  }
}

/** Undefined for the request that negotiates it. */
function revisionOf({ method, ctx }: RequestInfo): string | undefined {
  return method === methods.initialize.name ? undefined : ctx.revision;
}

function endAttributes(outcome: RequestEnd['outcome'], code: number | undefined): Attributes {
  switch (outcome) {
    case 'ok':
      return {};
    case 'failed':
      return { [names.errorType]: toolError };
    case 'rejected':
      return code === undefined ? {} : { [names.errorType]: String(code), [names.statusCode]: String(code) };
    default:
      return { [names.outcome]: outcome };
  }
}

/** The client's code if it responded with an error; otherwise what happened to the request. */
function sentErrorAttributes(error: Error): Attributes {
  if (!(error instanceof InputRequestError)) return { [names.errorType]: 'cancelled' };
  const code = (error.cause as { readonly code?: unknown } | undefined)?.code;
  if (typeof code !== 'number') return { [names.errorType]: error.code };
  return { [names.errorType]: String(code), [names.statusCode]: String(code) };
}

function networkAttributes({ transport, protocolVersion }: Peer): Attributes {
  const attributes = transports[transport];
  return protocolVersion === undefined ? attributes : { ...attributes, [names.protocolVersion]: protocolVersion };
}

/** The address of the client. Undefined over stdio, where the peer is a process. */
function clientAttributes({ transport, address, port }: Peer): Attributes {
  if (address === undefined || transport === 'stdio') return {};
  return { [names.clientAddress]: address, ...(port === undefined ? {} : { [names.clientPort]: port }) };
}
