// Finding the session a request belongs to: by the id it brings, in memory if it is in use, otherwise taken up again
// from what the id and the store say.

import type { Peer, SessionFacts, SessionHost, SessionState } from '../../../protocol/exchange.ts';
import type { Json } from '../../../protocol/model.ts';
import type { ExpiringStore } from '../../../protocol/ports.ts';
import { principalKey } from '../../../protocol/principal.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { HttpExchange, HttpRequest } from '../exchange.ts';
import { whenReady } from '../when-ready.ts';
import { ActiveSession, ActiveSessions } from './active-sessions.ts';
import type { OpenedSession, SessionIds } from './session-ids.ts';

export class Sessions {
  readonly #host: SessionHost;
  readonly #store: ExpiringStore;
  /** Further names of the header: as they are sent, and as they are looked up. */
  readonly #aliasNames: readonly string[];
  readonly #aliases: readonly string[];
  readonly ids: SessionIds;
  readonly live: ActiveSessions;
  /** Sessions being taken up, while the store is asked for their state. */
  readonly #entering = new Map<string, Promise<ActiveSession | undefined>>();

  constructor(
    host: SessionHost,
    ids: SessionIds,
    store: ExpiringStore,
    state: EndpointState,
    aliases: readonly string[],
  ) {
    this.#host = host;
    this.#store = store;
    this.#aliasNames = aliases;
    this.#aliases = aliases.map((alias) => alias.toLowerCase());
    this.ids = ids;
    this.live = new ActiveSessions(state);
  }

  /**
   * The id a request brings, under its own name or an alias. Different ones are joined, as HTTP joins a header that came
   * twice: that is no id of ours, and `Refusals.unknownSession` says what is wrong with it.
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

  /** The headers that hand an id out. */
  headersOf(id: string): string[] {
    return ['Mcp-Session-Id', id, ...this.#aliasNames.flatMap((alias) => [alias, id])];
  }

  /** The session that a request means by an id. */
  find(id: string, { principal, atMs }: HttpExchange): ReturnType<SessionIds['open']> {
    return this.ids.open(id, principalKey(principal), atMs);
  }

  /** Takes a session up. Undefined: its revision is not served any more. */
  enter(known: OpenedSession, peer: Peer): ActiveSession | undefined | Promise<ActiveSession | undefined> {
    const { key } = known;
    // One that rests is not in use, so there is no need to look, unless somebody is about to wake it.
    if (known.recent === undefined || this.#entering.size > 0) {
      const live = this.live.get(key) ?? this.#entering.get(key);
      if (live !== undefined) return live;
    }
    const state = this.#store.get(known.stateKey);
    if (!(state instanceof Promise)) return this.#restore(known, peer, state as SessionState | undefined);
    // Two requests that come while the store is asked must meet in one session, or answers would miss their questions.
    const entering = state
      .then((found) => this.#restore(known, peer, found as SessionState | undefined))
      .finally(() => setTimeout(() => this.#entering.delete(key), 0));
    this.#entering.set(key, entering);
    return entering;
  }

  #restore(known: OpenedSession, peer: Peer, state: SessionState | undefined): ActiveSession | undefined {
    const resting = this.live.takeRecent(known);
    if (resting !== undefined && resting.state === state) return resting;
    const { facts } = known;
    if (facts === undefined) return undefined;
    const live = new ActiveSession(this.live, known);
    live.state = state;
    return this.#settle(live, peer, facts, state) ? live : undefined;
  }

  /** Gives a session that was live before `initialize` what that has settled. */
  settle(live: ActiveSession, peer: Peer, facts: SessionFacts): void {
    live.channel.setOutlet(undefined);
    if (this.#settle(live, peer, facts, undefined)) live.follow();
  }

  #settle(live: ActiveSession, peer: Peer, facts: SessionFacts, state: SessionState | undefined): boolean {
    const channel = this.#host.resume(peer, facts, state, (changed) => this.#save(live, changed));
    if (channel === undefined) return false;
    live.channel = channel;
    return true;
  }

  #save(live: ActiveSession, state: SessionState): void {
    const { stateKey, expiresAtMs, context } = live.known;
    const isInitial = Object.keys(state).length === 0;
    live.state = isInitial ? undefined : state;
    const failed = (error: unknown): void =>
      this.#host.logger?.error('the state of a session could not be saved', { error });
    let saved: void | Promise<void>;
    try {
      saved = isInitial
        ? this.#store.delete(stateKey)
        : this.#store.set(stateKey, state as unknown as Json, expiresAtMs - Date.now(), context);
    } catch (error) {
      return failed(error);
    }
    if (!(saved instanceof Promise)) return;
    // Until the store has it, this process is the only one that knows: the session stays in memory.
    live.saveBegun();
    saved.catch(failed).finally(() => live.saveEnded());
  }

  /** Ends a session for good; its id is dead once this has returned true. False: it could not be ended. */
  end(known: OpenedSession, peer: Peer): boolean | Promise<boolean> {
    return whenReady(this.ids.revoke(known, peer), (revoked) => {
      if (!revoked) return false;
      const live = this.live.get(known.key);
      if (live !== undefined) this.live.drop(live);
      this.live.endpoint.log?.forget(known.key);
      return true;
    });
  }
}
