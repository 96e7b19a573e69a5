// HTTP+SSE, the older transport: GET opens a stream and sends the address to POST to; every response is sent on the
// stream. The connection is the session. Only handshake revisions are served.

import { callerKey } from '../../protocol/callers/caller-budget.ts';
import { principalKey } from '../../protocol/callers/principal.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Outlet, Peer, SessionChannel, SessionControl, SessionHost } from '../../protocol/exchange.ts';
import { isObject, isRequestId, parseMessage } from '../../protocol/json-rpc.ts';
import { metaKeys } from '../../protocol/meta.ts';
import type { Json, RequestId } from '../../protocol/model.ts';
import { receive, reject } from '../receive.ts';
import type { EndpointState } from './endpoint-state.ts';
import { type HttpExchange, HttpPeer } from './exchange.ts';
import { acceptsOf, acceptsStream, isJson } from './media.ts';
import { OpenCalls } from './open-calls.ts';
import type { ErrorResponses } from './responses.ts';
import { type EventStream, eventText, openStandaloneStream } from './streams/event-stream.ts';

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
  readonly #topic: string;

  constructor(host: SessionHost, state: EndpointState, errors: ErrorResponses, messagePath: string) {
    this.#host = host;
    this.#state = state;
    this.#errors = errors;
    this.#messagePath = messagePath;
    this.#topic = `sse ${host.name}`;
    state.bus?.listen(this.#topic, (data) => this.#receiveForwarded(data as unknown as ForwardedPost));
  }

  /** Opens a connection. */
  open(exchange: HttpExchange): void {
    if (!acceptsStream(acceptsOf(exchange.get('accept')))) {
      return this.#errors.notAcceptable(exchange, 'text/event-stream');
    }
    if (!this.#state.mayStream(exchange)) return this.#errors.busy(exchange, 'too many streams are open');
    const { bus } = this.#state;
    // Other processes find the connection by the name of this process.
    const id = bus === undefined ? crypto.randomUUID() : `${bus.process}.${crypto.randomUUID()}`;
    const stream = openStandaloneStream(exchange, this.#state.heartbeat);
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
    if (this.#receiverOf(id, exchange) === undefined) return this.#errors.unknownSession(exchange);
    const encoding = exchange.get('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') return this.#errors.unsupportedEncoding(exchange, encoding);
    if (!isJson(exchange.get('content-type'))) return this.#errors.notJson(exchange);
    const { maxBodyBytes } = this.#state.limits;
    exchange.readBody(maxBodyBytes, (body) => {
      if (typeof body !== 'string') return this.#errors.unreadable(exchange, body, maxBodyBytes);
      const message = parseMessage(body, this.#host.limits);
      if (message instanceof WireError) return this.#errors.sendError(exchange, 400, message);
      const { turns } = this.#state;
      const caller = callerKey(exchange);
      const admit = (): void => this.#admit(id, exchange, message, body);
      if (!turns.arrive() || !turns.mustWait(caller)) return admit();
      exchange.onGone(turns.wait(caller, () => this.#errors.catchError(exchange, admit)));
    });
  }

  #admit(id: string, exchange: HttpExchange, message: unknown, body: string): void {
    const exceeded = this.#state.exceededLimit(exchange, message);
    if (exceeded !== undefined) return this.#errors.limitExceeded(exchange, exceeded);
    // The connection may have ended since.
    const receive = this.#receiverOf(id, exchange);
    if (receive === undefined) this.#errors.unknownSession(exchange);
    else receive(message, body);
  }

  /** What takes the message of a POST: the connection here, or the process that has it. Undefined: there is none. */
  #receiverOf(id: string, exchange: HttpExchange): ((message: unknown, body: string) => void) | undefined {
    const connection = this.#connectionOf(id, principalKey(exchange.principal));
    if (connection !== undefined) {
      return (message, body) => {
        accepted(exchange);
        this.#receive(connection, message, body);
      };
    }
    const { bus } = this.#state;
    const process = id.slice(0, id.indexOf('.'));
    if (bus === undefined || process === bus.process || !bus.processes.has(process)) return undefined;
    return (_message, body) => {
      const post: ForwardedPost = { id, owner: principalKey(exchange.principal), body };
      const isReceived = bus.request(process, this.#topic, post as unknown as Json, forwardTimeoutMs);
      const responded = isReceived.then(
        (received) => (received === true ? accepted(exchange) : this.#errors.unknownSession(exchange)),
        () => this.#errors.unknownSession(exchange),
      );
      this.#errors.catchRejection(exchange, responded);
    };
  }

  /** Another principal gets the same response as for a session that does not exist. */
  #connectionOf(id: string, owner: string): SseConnection | undefined {
    const connection = this.#connections.get(id);
    return connection?.owner === owner ? connection : undefined;
  }

  /** Receives a message that was posted to another process. False: there is no such connection. */
  #receiveForwarded({ id, owner, body }: ForwardedPost): boolean {
    const connection = this.#connectionOf(id, owner);
    const message = connection && parseMessage(body, this.#host.limits);
    if (connection === undefined || message instanceof WireError) return false;
    this.#receive(connection, message, body);
    return true;
  }

  #receive({ channel, calls }: SseConnection, message: unknown, text: string): void {
    const { logger } = this.#state;
    const rejection = this.#rejectStateless(message);
    calls.begin();
    const isReceived =
      rejection === undefined
        ? receive(channel, message, logger, { text })
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

  /** Its connections for operators. */
  readonly control: SessionControl = {
    streams: ({ peer }) => (this.#connectionWith(peer) === undefined ? undefined : 1),
    end: ({ peer }) => {
      const connection = this.#connectionWith(peer);
      connection?.stream.endEarly(wireErrors.unknownSession());
      return connection !== undefined;
    },
  };

  #connectionWith(peer: Peer | undefined): SseConnection | undefined {
    return [...this.#connections.values()].find(({ channel }) => channel.peer === peer);
  }

  async drain(graceMs: number): Promise<void> {
    const connections = [...this.#connections.values()];
    await Promise.all(connections.map(({ channel }) => channel.drain(graceMs)));
    for (const { stream } of connections) stream.end();
    this.#connections.clear();
  }
}

/** A POST for a connection of another process. */
interface ForwardedPost {
  readonly id: string;
  readonly owner: string;
  readonly body: string;
}

/** How long the process that has the connection may take to receive a message. */
const forwardTimeoutMs = 5_000;

function accepted(exchange: HttpExchange): void {
  exchange.respond(202, ['Content-Type', 'text/plain'], 'Accepted');
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
