// Streamable HTTP: one path for every revision. Requests that stand alone are answered by themselves; the others
// belong to a session, which has a stream of its own (GET) and an end (DELETE).

import { callerKey } from '../../protocol/caller-budget.ts';
import { WireError, wireErrors } from '../../protocol/errors.ts';
import type { Outlet, Principal, ReadHeader, SessionChannel, SessionHost } from '../../protocol/exchange.ts';
import { classifyMessage, parseMessage } from '../../protocol/json-rpc.ts';
import { methods } from '../../protocol/methods.ts';
import { principalKey } from '../../protocol/principal.ts';
import { receive } from '../receive.ts';
import type { EndpointState } from './endpoint-state.ts';
import { type HttpExchange, HttpPeer } from './exchange.ts';
import { type Accepts, acceptsOf, isJson } from './media.ts';
import { type ErrorResponses, respond } from './responses.ts';
import type { ActiveSession } from './sessions/active-sessions.ts';
import { SessionDoor } from './sessions/session-door.ts';
import type { OpenedSession } from './sessions/session-ids.ts';
import { SessionOutlet } from './sessions/session-outlet.ts';
import { SessionStreams } from './sessions/session-streams.ts';
import type { Sessions } from './sessions/sessions.ts';
import { StatelessOutlet } from './stateless-outlet.ts';
import { whenReady } from './when-ready.ts';

export type SessionMode = 'required' | 'optional' | 'off';

export class Streamable {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #sessions: Sessions;
  readonly #errors: ErrorResponses;
  readonly #mode: SessionMode;
  readonly #sessionRequests: SessionDoor;
  readonly #streams: SessionStreams;
  /** Channels of requests that stand alone and are not answered yet. */
  readonly #stateless = new Set<SessionChannel>();

  constructor(
    host: SessionHost,
    state: EndpointState,
    sessions: Sessions,
    refusals: ErrorResponses,
    mode: SessionMode,
  ) {
    this.#host = host;
    this.#state = state;
    this.#sessions = sessions;
    this.#errors = refusals;
    this.#mode = mode;
    this.#sessionRequests = new SessionDoor(host, sessions, refusals);
    this.#streams = new SessionStreams(state, sessions, this.#sessionRequests, refusals);
  }

  /** What `Allow` says. */
  get allow(): string {
    return this.#hasSessions ? 'GET, POST, DELETE' : 'POST';
  }

  get #hasSessions(): boolean {
    return this.#mode !== 'off' && this.#host.handshakeVersions.length > 0;
  }

  /** `replyIn`: the kind of answer where the route leaves no choice. */
  post(exchange: HttpExchange, replyIn?: Accepts): void {
    const { maxBodyBytes } = this.#state.limits;
    const encoding = exchange.get('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') return this.#errors.encoded(exchange, encoding);
    if (!isJson(exchange.get('content-type'))) return this.#errors.notJson(exchange);
    const accepts = replyIn ?? acceptsOf(exchange.get('accept'));
    if (accepts === 'none') {
      return this.#errors.notAcceptable(exchange, 'both application/json and text/event-stream');
    }
    exchange.readBody(maxBodyBytes, (body) => {
      if (typeof body === 'string') this.#read(exchange, accepts, body);
      else this.#errors.unread(exchange, body, maxBodyBytes);
    });
  }

  #read(exchange: HttpExchange, accepts: Accepts, body: string): void {
    exchange.bodyLength = body.length;
    const message = parseMessage(body, this.#host.limits);
    if (message instanceof WireError) return this.#errors.sendError(exchange, 400, message);
    if (this.#state.turns.crowded && this.#state.turns.mustWait(callerKey(exchange))) {
      const run = this.#guarded(exchange, () => this.#admit(exchange, accepts, message));
      return exchange.onGone(this.#state.turns.wait(callerKey(exchange), run));
    }
    this.#admit(exchange, accepts, message);
  }

  #admit(exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const crowd = this.#state.crowd(exchange, message);
    if (crowd === undefined) return this.#route(exchange, accepts, message);
    if (crowd === 'requests') return this.#errors.crowded(exchange, crowd);
    // Once the caller has read enough of what it asked for before.
    const run = (hasRoom: boolean): void =>
      hasRoom ? this.#route(exchange, accepts, message) : this.#errors.crowded(exchange, crowd);
    exchange.onGone(this.#state.buffered.whenRoom(callerKey(exchange), this.#guarded(exchange, run)));
  }

  /** What fails later is an answer too. */
  #guarded<A extends unknown[]>(exchange: HttpExchange, run: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        run(...args);
      } catch (error) {
        this.#errors.failed(exchange, error);
      }
    };
  }

  #route(exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const header: ReadHeader = (name) => exchange.get(name);
    switch (this.#host.route(message, header)) {
      case 'stateless': {
        const channel = this.#host.connect(new HttpPeer(exchange));
        return this.#serveStateless(channel, exchange, accepts, message, header);
      }
      case 'initialize':
        return this.#open(exchange, accepts, message);
      case 'session':
        return this.#serve(exchange, accepts, message);
    }
  }

  #serveStateless(
    channel: SessionChannel,
    exchange: HttpExchange,
    accepts: Accepts,
    message: unknown,
    header: ReadHeader | undefined,
  ): void {
    const { beat, requests } = this.#state;
    const streams = accepts === 'both' || accepts === 'stream' || (accepts === 'any' && isListen(message));
    const room = this.#state.mayStream(exchange);
    const outlet = new StatelessOutlet(exchange, beat, accepts, message, streams, room);
    const { bodyLength: length } = exchange;
    const inbound = header === undefined ? { outlet, length } : { outlet, header, length };
    receive(channel, message, this.#state.logger, inbound);
    if (outlet.ended) return;
    const caller = callerKey(exchange);
    requests.charge(caller);
    this.#stateless.add(channel);
    let abandoned: ReturnType<typeof setTimeout> | undefined;
    outlet.onEnd = () => {
      clearTimeout(abandoned);
      requests.release(caller);
      this.#stateless.delete(channel);
    };
    outlet.onEnding = (error) => this.#state.settle(channel.drain(0, error));
    exchange.onGone(() => {
      outlet.lost();
      // To go away is to cancel for a request that stands alone; elsewhere the call goes on for a while, unheard.
      if (header !== undefined) {
        channel.close();
        return outlet.end(undefined);
      }
      const giveUp = (): void => this.#state.settle(channel.drain(0, wireErrors.abandoned()));
      abandoned = setTimeout(giveUp, this.#state.limits.abandonedCallMs);
      (abandoned as { unref?: () => void }).unref?.();
    });
  }

  /** `initialize`. With the id of a session it is refused there, unless that one is still to be initialized. */
  #open(exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const id = this.#hasSessions ? this.#sessions.idOf(exchange) : undefined;
    if (id === undefined) return this.#openNew(exchange, accepts, message);
    this.#sessionRequests.settle(
      exchange,
      whenReady(this.#sessions.find(id, exchange), (known) => {
        if (known === undefined) return this.#errors.unknownSession(exchange);
        if (known.settled === undefined) return this.#openReserved(exchange, accepts, message, known, id);
        return this.#sessionRequests.enterKnown(exchange, known, (live) =>
          this.#deliver(live, exchange, accepts, message),
        );
      }),
    );
  }

  #openNew(exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const peer = new HttpPeer(exchange);
    const waitMs = this.#hasSessions ? this.#sessions.ids.waitMs(peer) : undefined;
    if (waitMs !== undefined) return this.#errors.tooManyEnded(exchange, waitMs, 'no new session can be opened');
    const channel = this.#host.connect(peer);
    this.#receiveOpening(channel, exchange, accepts, message, () => {
      const facts = channel.session?.facts;
      if (facts === undefined || !this.#hasSessions) return undefined;
      return this.#sessions.ids.create(facts, principalKey(exchange.principal));
    });
  }

  #openReserved(exchange: HttpExchange, accepts: Accepts, message: unknown, known: OpenedSession, id: string): void {
    const live = this.#sessions.live.get(known.key);
    const channel = live?.channel ?? this.#host.connect(new HttpPeer(exchange), undefined, known.key);
    this.#receiveOpening(channel, exchange, accepts, message, () => {
      const facts = channel.session?.facts;
      if (facts === undefined) return undefined;
      if (live !== undefined) this.#sessions.settle(live, new HttpPeer(exchange), facts);
      return whenReady(this.#sessions.ids.storeFacts(facts, known.expiresAtMs, known.context), () => id);
    });
  }

  #receiveOpening(
    channel: SessionChannel,
    exchange: HttpExchange,
    accepts: Accepts,
    message: unknown,
    idOf: () => string | undefined | Promise<string | undefined>,
  ): void {
    const { requests, logger } = this.#state;
    const caller = callerKey(exchange);
    let [isOver, isCounted] = [false, false];
    const finish = (): void => {
      isOver = true;
      if (isCounted) requests.release(caller);
    };
    const outlet: Outlet = {
      duplex: false,
      push: () => false,
      end: (text, status) => {
        try {
          const answered = whenReady(idOf(), (id) =>
            respond(exchange, accepts, message, text, status, id === undefined ? [] : this.#sessions.headersOf(id)),
          );
          if (answered instanceof Promise) this.#sessionRequests.settle(exchange, answered.finally(finish));
          else finish();
        } catch (error) {
          finish();
          // The engine is done with this request, so what it might catch would go unanswered.
          this.#errors.failed(exchange, error);
        }
      },
    };
    receive(channel, message, logger, { outlet });
    if (isOver) return;
    isCounted = true;
    requests.charge(caller);
  }

  #serve(exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const id = this.#hasSessions ? this.#sessions.idOf(exchange) : undefined;
    if (id !== undefined) {
      return this.#sessionRequests.handle(exchange, id, (live) => this.#deliver(live, exchange, accepts, message));
    }
    if (this.#mode === 'required') return this.#errors.sessionRequired(exchange);
    if (isResponse(message)) return this.#errors.responseWithoutSession(exchange);
    const said = exchange.get('mcp-protocol-version')?.trim();
    const revision = said ?? this.#host.assumedVersion ?? '';
    const facts = { key: '', revision, capabilities: {} };
    const channel = this.#host.resume(new HttpPeer(exchange), facts, { initialized: true });
    if (channel === undefined) {
      return this.#errors.unknownVersion(exchange, revision, this.#host.handshakeVersions);
    }
    this.#serveStateless(channel, exchange, accepts, message, undefined);
  }

  #deliver(live: ActiveSession, exchange: HttpExchange, accepts: Accepts, message: unknown): void {
    const outlet = new SessionOutlet(live, exchange, accepts, message);
    live.exchangeBegun();
    // The session knows who opened it; this very request may come from elsewhere, and its token may have other scopes.
    const inbound = { outlet, peer: new HttpPeer(exchange), atMs: exchange.atMs, length: exchange.bodyLength };
    receive(live.channel, message, this.#state.logger, inbound);
    if (outlet.ended) return;
    live.pend(outlet);
    exchange.onGone(() => outlet.lost());
  }

  get(exchange: HttpExchange): void {
    if (this.#hasSessions) this.#streams.get(exchange);
    else this.#errors.notAllowed(exchange, this.allow);
  }

  delete(exchange: HttpExchange): void {
    if (!this.#hasSessions) return this.#errors.notAllowed(exchange, this.allow);
    const id = this.#sessions.idOf(exchange);
    if (id === undefined) return this.#errors.sessionRequired(exchange);
    this.#sessionRequests.settle(
      exchange,
      whenReady(this.#sessions.find(id, exchange), (known) => {
        if (known === undefined) return this.#errors.unknownSession(exchange);
        if (!this.#sessionRequests.speaks(exchange)) return;
        const peer = new HttpPeer(exchange);
        return whenReady(this.#sessions.end(known, peer), (ended) => {
          if (ended) exchange.respond(200, []);
          else this.#errors.tooManyEnded(exchange, this.#sessions.ids.waitMs(peer), 'the session was not ended');
        });
      }),
    );
  }

  /** Ends the calls of those principals with that error. */
  revoke(match: (principal: Principal) => boolean, error: WireError): void {
    const isRevoked = (principal: Principal | undefined): boolean => principal !== undefined && match(principal);
    for (const channel of [...this.#stateless])
      if (isRevoked(channel.peer.principal)) this.#state.settle(channel.drain(0, error));
    for (const live of this.#sessions.live.all()) {
      for (const call of live.pending) if (isRevoked(call.principal)) call.fail(error);
    }
  }

  /** Lets open calls finish, then ends every stream. */
  async drain(graceMs: number): Promise<void> {
    const live = this.#sessions.live.all();
    const channels = [...this.#stateless, ...live.map(({ channel }) => channel)];
    await Promise.all(channels.map((channel) => channel.drain(graceMs)));
    for (const each of live) this.#sessions.live.drop(each);
  }
}

/** Answers to questions of ours, which are only ever asked within a session. */
function isResponse(message: unknown): boolean {
  if (Array.isArray(message)) return message.some(isResponse);
  const { method } = (message ?? {}) as { readonly method?: unknown };
  return typeof method !== 'string' && classifyMessage(message).kind === 'response';
}

/** The one request whose answer can only be a stream. */
function isListen(message: unknown): boolean {
  return (message as { readonly method?: unknown } | null)?.method === methods.listen.name;
}
