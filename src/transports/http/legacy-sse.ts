// HTTP+SSE, the older transport: GET opens a stream and sends the address to POST to; every response is sent on the
// stream. The connection is the session. Only handshake revisions are served.

import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Outlet, SessionChannel, SessionHost } from '../../protocol/exchange.ts';
import { isObject, isRequestId, parseMessage } from '../../protocol/json-rpc.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { RequestId } from '../../protocol/model.ts';
import { principalKey } from '../../protocol/principal.ts';
import { receive, reject } from '../receive.ts';
import type { EndpointState } from './endpoint-state.ts';
import { type HttpExchange, HttpPeer } from './exchange.ts';
import { acceptsOf, acceptsStream, isJson } from './media.ts';
import { OpenCalls } from './open-calls.ts';
import type { ErrorResponses } from './responses.ts';
import { type EventStream, eventText, openEventStream } from './streams/event-stream.ts';

interface SseConnection {
  readonly channel: SessionChannel;
  readonly stream: EventStream;
  readonly calls: OpenCalls;
  readonly owner: string;
}

export class LegacySse {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #errors: ErrorResponses;
  readonly #messagePath: string;
  readonly #connections = new Map<string, SseConnection>();

  constructor(host: SessionHost, state: EndpointState, errors: ErrorResponses, messagePath: string) {
    this.#host = host;
    this.#state = state;
    this.#errors = errors;
    this.#messagePath = messagePath;
  }

  /** Opens a connection. */
  open(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    if (!this.#state.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
    const id = crypto.randomUUID();
    const stream = openEventStream(exchange, this.#state.heartbeat);
    const calls = new OpenCalls(this.#state.requests, stream.caller);
    const channel = this.#host.connect(new HttpPeer(exchange, 'sse'), outletOf(stream, calls));
    this.#connections.set(id, { channel, stream, calls, owner: principalKey(exchange.principal) });
    const close = (): void => {
      this.#connections.delete(id);
      stream.gone();
      channel.close();
      calls.close();
    };
    stream.onEnding = (error) => {
      this.#connections.delete(id);
      this.#state.logRejection(channel.drain(0, error));
      calls.close();
    };
    exchange.onGone(close);
    stream.write(eventText(`${this.#messagePath}?sessionId=${id}`, undefined, 'endpoint'));
  }

  /** Receives a message for a connection. */
  post(exchange: HttpExchange): void {
    const [id, ...more] = new Set(new URLSearchParams(exchange.query).getAll('sessionId'));
    if (more.length > 0) return this.#errors.twoSessions(exchange);
    if (id === undefined || id === '') {
      const error = wireErrors.transport('Bad Request: sessionId is missing; open the event stream first');
      return this.#errors.sendError(exchange, 400, error);
    }
    const connection = this.#connections.get(id);
    // Another principal gets the same response as for a session that does not exist.
    if (connection === undefined || connection.owner !== principalKey(exchange.principal)) {
      return this.#errors.unknownSession(exchange);
    }
    const encoding = exchange.get('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') return this.#errors.unsupportedEncoding(exchange, encoding);
    if (!isJson(exchange.get('content-type'))) return this.#errors.notJson(exchange);
    const { maxBodyBytes } = this.#state.limits;
    exchange.readBody(maxBodyBytes, (body) => {
      if (typeof body === 'string') return this.#receive(exchange, connection, body);
      this.#errors.unreadable(exchange, body, maxBodyBytes);
    });
  }

  #receive(exchange: HttpExchange, { channel, calls }: SseConnection, body: string): void {
    const message = parseMessage(body, this.#host.limits);
    if (message instanceof WireError) return this.#errors.sendError(exchange, 400, message);
    const exceeded = this.#state.exceededLimit(exchange, message);
    if (exceeded !== undefined) return this.#errors.limitExceeded(exchange, exceeded);
    exchange.respond(202, ['Content-Type', 'text/plain'], 'Accepted');
    const { logger } = this.#state;
    const rejection = this.#rejectStateless(message);
    calls.begin();
    const isReceived =
      rejection === undefined
        ? receive(channel, message, logger, { length: body.length })
        : reject(channel, rejection.error, rejection.id, logger);
    calls.settle(isReceived);
  }

  /**
   * Stateless requests cannot be served here. Rejecting the POST would stop a client that only probes for revisions; an
   * error response that names the supported ones makes it initialize.
   */
  #rejectStateless(message: unknown): { readonly error: WireError; readonly id: RequestId | undefined } | undefined {
    // A value that is not a message is rejected by the channel.
    const { id, params } = isObject(message) ? message : {};
    const meta = isObject(params) ? params['_meta'] : undefined;
    const version = isObject(meta) ? meta[metaKeys.protocolVersion] : undefined;
    if (typeof version !== 'string' || this.#host.route(message, () => undefined) !== 'stateless') return undefined;
    const error = wireErrors.handshakeRequired(version, this.#host.handshakeVersions);
    return { error, id: isRequestId(id) ? id : undefined };
  }

  get size(): number {
    return this.#connections.size;
  }

  async drain(graceMs: number): Promise<void> {
    const connections = [...this.#connections.values()];
    await Promise.all(connections.map(({ channel }) => channel.drain(graceMs)));
    for (const { stream } of connections) stream.end();
    this.#connections.clear();
  }
}

function outletOf(stream: EventStream, calls: OpenCalls): Outlet {
  return {
    duplex: true,
    push: (text) => stream.send(text),
    end: (text) => {
      calls.ended();
      if (text !== undefined) stream.send(text);
    },
  };
}
