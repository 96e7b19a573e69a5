// The sessions of an endpoint: finds the one that a request names, in memory or restored from its id and the store,
// and serves POST and DELETE within it. What an id contains is in session-ids.ts, what a session has open while it is
// used in active-sessions.ts, how one is opened in initialize-requests.ts.

import { monotonicMs } from '../../../common/clock.ts';
import { principalKey } from '../../../protocol/callers/principal.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Principal, SessionFacts, SessionHost, SessionState } from '../../../protocol/exchange.ts';
import type { Json } from '../../../protocol/model.ts';
import type { ExpiringStore } from '../../../protocol/ports.ts';
import { receive } from '../../receive.ts';
import type { EndpointState } from '../endpoint-state.ts';
import { type AdmittedRequest, type HttpExchange, HttpPeer, type HttpRequest } from '../exchange.ts';
import type { Post } from '../post.ts';
import type { ErrorResponses } from '../responses.ts';
import { whenReady } from '../when-ready.ts';
import { ActiveSession, ActiveSessions } from './active-sessions.ts';
import type { OpenedSession, SessionIds } from './session-ids.ts';
import { SessionOutlet } from './session-outlet.ts';
import { cacheState, SharedSessions } from './shared-sessions.ts';

/** What a request does in its session. */
type UseSession = (session: ActiveSession) => void | Promise<void>;

type MaybeSession = ActiveSession | undefined;

export class Sessions {
  readonly #host: SessionHost;
  readonly #state: EndpointState;
  readonly #errors: ErrorResponses;
  readonly #store: ExpiringStore;
  /** Additional names of the header: as they are sent, and as they are looked up. */
  readonly #aliasNames: readonly string[];
  readonly #aliases: readonly string[];
  readonly ids: SessionIds;
  readonly active: ActiveSessions;
  /** Undefined without a bus: no other process serves these sessions. */
  readonly shared: SharedSessions | undefined;
  /** Sessions that are being restored while the store reads their state. */
  readonly #restoring = new Map<string, Promise<MaybeSession>>();

  constructor(
    host: SessionHost,
    state: EndpointState,
    errors: ErrorResponses,
    ids: SessionIds,
    store: ExpiringStore,
    aliases: readonly string[],
  ) {
    this.#host = host;
    this.#state = state;
    this.#errors = errors;
    this.#store = store;
    this.#aliasNames = aliases;
    this.#aliases = aliases.map((alias) => alias.toLowerCase());
    this.ids = ids;
    this.active = new ActiveSessions(state);
    const { bus } = host;
    const end = (key: string): void => this.#end(key);
    this.shared = bus && new SharedSessions(bus, host, state, store, ids, this.active, end);
    let epoch = bus?.epoch;
    bus?.onGap(() => {
      if (bus.epoch === epoch) return;
      epoch = bus.epoch;
      // Their ids are not valid any more, so their clients initialize again.
      for (const { key } of this.active.all()) this.#end(key);
    });
  }

  /**
   * The session id of a request, from the header or an alias of it. Different ids are joined, as HTTP joins a header that
   * was sent twice. The result is not a valid id, and `ErrorResponses.unknownSession` reports what is wrong with it.
   */
  idOf(request: HttpRequest): string | undefined {
    let id = request.get('mcp-session-id');
    for (const alias of this.#aliases) {
      const given = request.get(alias);
      if (given === undefined || given === id) continue;
      id = id === undefined ? given : `${id}, ${given}`;
    }
    return id;
  }

  /** The headers that send an id to the client. */
  headersOf(id: string): string[] {
    return ['Mcp-Session-Id', id, ...this.#aliasNames.flatMap((alias) => [alias, id])];
  }

  /** Serves a POST in the session with that id. */
  serve(post: Post, id: string): void {
    const { turns } = this.#state;
    let hasAsked = false;
    this.use(post.exchange, id, (session) => {
      // The store answers hundreds of requests at once, which would all be served in this turn of the event loop.
      if (hasAsked && turns.arrive() && turns.mustWait(post.caller)) this.#deliverLater(post, session);
      else this.deliver(post, session);
    });
    hasAsked = true;
  }

  #deliverLater(post: Post, session: ActiveSession): void {
    const { exchange, caller } = post;
    session.useBegun();
    const stopWaiting = this.#state.turns.wait(caller, () => {
      isWaiting = false;
      this.#errors.catchError(exchange, () => {
        if (session.ended) this.#errors.unknownSession(exchange);
        else this.deliver(post, session);
      });
      session.useEnded();
    });
    let isWaiting = true;
    exchange.onGone(() => {
      stopWaiting();
      if (isWaiting) session.useEnded();
      isWaiting = false;
    });
  }

  /** Hands the message of a POST to the channel of its session, and to the processes that it concerns. */
  deliver(post: Post, session: ActiveSession): void {
    const { exchange, header, text, route } = post;
    const outlet = new SessionOutlet(session, post, this.shared?.relay(session.key, post.message));
    session.exchangeBegun();
    // A session stores who opened it. This request may have another address, and its token may have other scopes.
    const inbound = { outlet, header, peer: new HttpPeer(exchange), atMs: exchange.atMs, text, route };
    receive(session.channel, post.message, this.#state.logger, inbound);
    if (outlet.ended) return;
    session.pend(outlet);
    exchange.onGone(() => outlet.lost());
  }

  /** Calls `use` with the session that has that id and belongs to the principal of the request. */
  use(exchange: HttpExchange, id: string, use: UseSession): void {
    const opened = this.find(id, exchange);
    if (!(opened instanceof Promise)) {
      return this.#errors.catchRejection(exchange, this.#useOpened(exchange, opened, use));
    }
    this.#errors.catchRejection(
      exchange,
      opened.then((ready) => this.#useOpened(exchange, ready, use)),
    );
  }

  #useOpened(exchange: HttpExchange, opened: OpenedSession | undefined, use: UseSession): void | Promise<void> {
    if (opened === undefined) return this.#errors.unknownSession(exchange);
    if (opened.negotiated === undefined) return this.#errors.sendError(exchange, 400, wireErrors.notInitialized());
    return this.useNegotiated(exchange, opened, use);
  }

  /** The same for an id that has been opened, of a session that was initialized. */
  useNegotiated(exchange: HttpExchange, opened: OpenedSession, use: UseSession): void | Promise<void> {
    if (!this.#checkVersion(exchange)) return;
    const session = this.activate(opened, exchange);
    if (session instanceof Promise) {
      return session.then((ready) => (ready === undefined ? this.#errors.unknownSession(exchange) : use(ready)));
    }
    return session === undefined ? this.#errors.unknownSession(exchange) : use(session);
  }

  /** Rejects a request whose header names a revision that no session can have. */
  #checkVersion(exchange: HttpExchange): boolean {
    const { handshakeVersions } = this.#host;
    const version = exchange.get('mcp-protocol-version');
    // Another revision than that of the session is tolerated if the server supports it: the session decides.
    if (version === undefined || handshakeVersions.includes(version) || handshakeVersions.includes(version.trim())) {
      return true;
    }
    this.#errors.unknownVersion(exchange, version, handshakeVersions);
    return false;
  }

  /** Opens a session id for the principal of a request. */
  find(id: string, { principal, atMs }: HttpExchange): ReturnType<SessionIds['open']> {
    return this.ids.open(id, principalKey(principal), atMs);
  }

  /** Returns a session in use, or restores it. Undefined: its revision is not supported any more. */
  activate(opened: OpenedSession, request: AdmittedRequest): MaybeSession | Promise<MaybeSession> {
    const { key } = opened;
    const session = this.active.get(key) ?? this.#restoring.get(key);
    if (session !== undefined) return session;
    const { cachedState } = opened;
    if (cachedState !== undefined && cachedState.readAtMs >= opened.checkedAtMs) {
      return this.#restore(opened, request, cachedState.state);
    }
    const read = this.#readState(opened, request);
    if (!(read instanceof Promise)) return read;
    // Requests that arrive meanwhile must share one session, or responses would not find the requests they belong to.
    const restoring = read.finally(() => setTimeout(() => this.#restoring.delete(key), 0));
    this.#restoring.set(key, restoring);
    return restoring;
  }

  #readState(opened: OpenedSession, request: AdmittedRequest): MaybeSession | Promise<MaybeSession> {
    const askedAtMs = monotonicMs();
    const stored = this.#store.get(opened.stateKey);
    if (!(stored instanceof Promise)) return this.#restore(opened, request, stored as SessionState | undefined);
    const found = (reply: Json | undefined): MaybeSession | Promise<MaybeSession> => {
      // Another process has changed the session, or ended it, after it replied.
      if (this.ids.takeChange(opened)) {
        return whenReady(this.ids.check(opened), (checked) => checked && this.#readState(opened, request));
      }
      const state = reply as SessionState | undefined;
      if (this.shared !== undefined) cacheState(opened, state, askedAtMs);
      return this.#restore(opened, request, state);
    };
    return stored.then(found, (error: unknown) => {
      const stale = this.ids.staleState(opened);
      if (stale === undefined) throw error;
      return this.#restore(opened, request, stale.state);
    });
  }

  #restore(opened: OpenedSession, request: AdmittedRequest, state: SessionState | undefined): MaybeSession {
    const recent = this.active.recent(opened);
    if (recent !== undefined && recent.state === state) return recent;
    const { facts } = opened;
    if (facts === undefined) return undefined;
    const session = new ActiveSession(this.active, opened);
    session.state = state;
    return this.#connect(session, request, facts, state) ? session : undefined;
  }

  /** Continues a session that was in use before `initialize` with what that negotiated. */
  negotiated(session: ActiveSession, request: AdmittedRequest, facts: SessionFacts): void {
    session.channel.setOutlet(undefined);
    if (this.#connect(session, request, facts, undefined)) session.follow();
  }

  #connect(
    session: ActiveSession,
    request: AdmittedRequest,
    facts: SessionFacts,
    state: SessionState | undefined,
  ): boolean {
    const save = (changed: SessionState): void => this.#save(session, changed);
    const channel = this.#host.resume(new HttpPeer(request), facts, state, save);
    if (channel === undefined) return false;
    session.channel = channel;
    return true;
  }

  #save(session: ActiveSession, state: SessionState): void {
    if (this.shared !== undefined) return this.shared.save(session, state);
    const { stateKey, expiresAtMs, context } = session.opened;
    const isInitial = Object.keys(state).length === 0;
    session.state = isInitial ? undefined : state;
    const failed = (error: unknown): void =>
      this.#state.logger.error('the state of a session could not be saved', { error });
    let saved: void | Promise<void>;
    try {
      saved = isInitial
        ? this.#store.delete(stateKey)
        : this.#store.set(stateKey, state as unknown as Json, expiresAtMs - Date.now(), context);
    } catch (error) {
      return failed(error);
    }
    if (!(saved instanceof Promise)) return;
    // Until the store has the state it exists only here, so the session stays in memory.
    session.useBegun();
    saved.catch(failed).finally(() => session.useEnded());
  }

  /** Serves DELETE: ends a session. */
  delete(exchange: HttpExchange): void {
    const id = this.idOf(exchange);
    if (id === undefined) return this.#errors.sessionRequired(exchange);
    const deleted = whenReady(this.find(id, exchange), (opened) => {
      if (opened === undefined) return this.#errors.unknownSession(exchange);
      if (!this.#checkVersion(exchange)) return;
      return whenReady(this.ids.revoke(opened, exchange), (revoked) => {
        if (!revoked) {
          return this.#errors.tooManyEnded(exchange, this.ids.waitMs(exchange), 'the session was not ended');
        }
        this.#report(opened, new HttpPeer(exchange));
        this.#end(opened.key);
        return whenReady(this.shared?.ended(opened.key), () => exchange.respond(200, []));
      });
    });
    this.#errors.catchRejection(exchange, deleted);
  }

  /** Ends a session on behalf of the operator. */
  async end(key: string): Promise<void> {
    await this.ids.revokeKey(key);
    const session = this.active.get(key);
    for (const call of session?.pending ?? []) call.fail(wireErrors.unknownSession());
    if (session !== undefined) this.#report(session.opened, undefined);
    this.#end(key);
    await this.shared?.ended(key);
  }

  /** The id of a session contains when it expires, so its beginning is known without memory. */
  #report({ key, facts, expiresAtMs }: OpenedSession, peer: HttpPeer | undefined): void {
    const durationMs = Math.max(0, Date.now() - expiresAtMs + this.#state.limits.sessionTtlMs);
    this.#host.sessionEnded({ key, revision: facts?.revision, peer, durationMs });
  }

  #end(key: string): void {
    const session = this.active.get(key);
    if (session !== undefined) this.active.drop(session);
    this.#state.log?.forget(key);
  }

  /** Ends the calls of principals for which `match` is true with that error. */
  revoke(match: (principal: Principal) => boolean, error: WireError): void {
    for (const session of this.active.all()) {
      for (const call of session.pending) {
        if (call.principal !== undefined && match(call.principal)) call.fail(error);
      }
    }
  }

  /** Lets open calls finish within the grace period, then ends every stream. */
  async drain(graceMs: number): Promise<void> {
    const sessions = this.active.all();
    await Promise.all(sessions.map(({ channel }) => channel.drain(graceMs)));
    for (const session of sessions) this.active.drop(session);
  }
}
