// Streamable HTTP: one path for every revision. A POST is read and classified here, then served as a stateless request,
// as `initialize`, or within a session. Sessions also have a stream (GET) and an end (DELETE).

import { WireError } from '../../protocol/errors.ts';
import type { Principal, SessionHost } from '../../protocol/exchange.ts';
import { parseMessage } from '../../protocol/json-rpc.ts';
import type { EndpointState } from './endpoint-state.ts';
import type { HttpExchange } from './exchange.ts';
import { type Accepts, acceptsOf, isJson } from './media.ts';
import { Post } from './post.ts';
import type { ErrorResponses } from './responses.ts';
import { InitializeRequests } from './sessions/initialize-requests.ts';
import { SessionStreams } from './sessions/session-streams.ts';
import type { Sessions } from './sessions/sessions.ts';
import { StatelessRequests } from './stateless-requests.ts';

export type SessionMode = 'required' | 'optional' | 'off';

export class Streamable {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;
  readonly #mode: SessionMode;
  readonly #hasSessions: boolean;
  readonly #stateless: StatelessRequests;
  readonly #initialize: InitializeRequests;
  readonly #streams: SessionStreams;

  constructor(host: SessionHost, state: EndpointState, sessions: Sessions, errors: ErrorResponses, mode: SessionMode) {
    this.#host = host;
    this.#state = state;
    this.#sessions = sessions;
    this.#errors = errors;
    this.#mode = mode;
    this.#hasSessions = mode !== 'off' && host.handshakeVersions.length > 0;
    this.#stateless = new StatelessRequests(host, state, errors);
    this.#initialize = new InitializeRequests(host, state, sessions, errors);
    this.#streams = new SessionStreams(host, state, sessions, errors);
  }

  /** The value of the header `Allow`. */
  get allow(): string {
    return this.#hasSessions ? 'GET, POST, DELETE' : 'POST';
  }

  /** `only`: the kind of response where the route allows only one. */
  post(exchange: HttpExchange, only?: Accepts): void {
    const { maxBodyBytes } = this.#state.limits;
    const encoding = exchange.get('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') return this.#errors.unsupportedEncoding(exchange, encoding);
    if (!isJson(exchange.get('content-type'))) return this.#errors.notJson(exchange);
    const accepts = only ?? acceptsOf(exchange.get('accept'));
    if (accepts === 'none') {
      return this.#errors.notAcceptable(exchange, 'both application/json and text/event-stream');
    }
    exchange.readBody(maxBodyBytes, (body) => {
      if (typeof body === 'string') this.#read(exchange, accepts, body);
      else this.#errors.unreadable(exchange, body, maxBodyBytes);
    });
  }

  #read(exchange: HttpExchange, accepts: Accepts, body: string): void {
    const message = parseMessage(body, this.#host.limits);
    if (message instanceof WireError) return this.#errors.sendError(exchange, 400, message);
    const post = new Post(exchange, accepts, message, body, this.#host);
    const { turns } = this.#state;
    if (turns.arrive() && turns.mustWait(post.caller)) {
      const run = (): void => this.#errors.catchError(exchange, () => this.#admit(post));
      return exchange.onGone(turns.wait(post.caller, run));
    }
    this.#admit(post);
  }

  /** Serves a POST if its caller has not too much open already. */
  #admit(post: Post): void {
    const { exchange } = post;
    const exceeded = this.#state.exceededLimit(exchange, post.message);
    if (exceeded === undefined) return this.#serve(post);
    if (exceeded === 'requests') return this.#errors.limitExceeded(exchange, exceeded);
    // Waits until the caller has read enough of earlier responses.
    const run = (hasRoom: boolean): void =>
      hasRoom
        ? this.#errors.catchError(exchange, () => this.#serve(post))
        : this.#errors.limitExceeded(exchange, exceeded);
    exchange.onGone(this.#state.buffered.whenRoom(post.caller, run));
  }

  #serve(post: Post): void {
    if (post.route === 'stateless') return this.#stateless.serve(post);
    const id = this.#hasSessions ? this.#sessions.idOf(post.exchange) : undefined;
    if (post.route === 'initialize') {
      if (id !== undefined) return this.#initialize.openReserved(post, id);
      return this.#initialize.open(post, this.#hasSessions);
    }
    if (id !== undefined) return this.#sessions.serve(post, id);
    if (this.#mode === 'required') return this.#errors.sessionRequired(post.exchange);
    this.#stateless.serveWithoutSession(post);
  }

  get(exchange: HttpExchange): void {
    if (this.#hasSessions) this.#streams.get(exchange);
    else this.#errors.notAllowed(exchange, this.allow);
  }

  delete(exchange: HttpExchange): void {
    if (this.#hasSessions) this.#sessions.delete(exchange);
    else this.#errors.notAllowed(exchange, this.allow);
  }

  /** Ends the calls of principals for which `match` is true with that error. */
  revoke(match: (principal: Principal) => boolean, error: WireError): void {
    this.#stateless.revoke(match, error);
    this.#sessions.revoke(match, error);
  }

  /** Lets open calls finish within the grace period, then ends every stream of a session. */
  async drain(graceMs: number): Promise<void> {
    await Promise.all([this.#stateless.drain(graceMs), this.#sessions.drain(graceMs)]);
  }
}
