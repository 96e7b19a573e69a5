// Sessions that several processes on a bus serve: what one process does in a session takes effect in the others. Only one
// of them has the standalone stream of a session, the one that opened it last.

import { monotonicMs } from '../../../common/clock.ts';
import { settleWithin } from '../../../common/stepped-timeout.ts';
import type { Outlet, SessionHost, SessionState } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/json-rpc.ts';
import type { Json } from '../../../protocol/model.ts';
import type { Bus, ExpiringStore } from '../../../protocol/ports.ts';
import { receive } from '../../receive.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { ActiveSession, ActiveSessions, HeldStream } from './active-sessions.ts';
import { Confirmations } from './confirmations.ts';
import { recheckSessions } from './recheck-sessions.ts';
import type { OpenedSession, SessionIds } from './session-ids.ts';
import { differenceOf, isEmpty, mergeStates, storeState } from './session-state.ts';

/** Published, or sent to one process. `session`: its key. */
type SessionMessage =
  /** It was ended. */
  | { readonly type: 'ended'; readonly session: string }
  /** Its state in the store was changed, by the difference between these two. */
  | { readonly type: 'state'; readonly session: string; readonly before: Json; readonly after: Json }
  /** Its standalone stream was opened in the process that sends this. */
  | { readonly type: 'stream'; readonly session: string }
  /** A response, as a request that is responded to when it has arrived, or a notification, for a call elsewhere. */
  | { readonly type: 'message'; readonly session: string; readonly message: Json }
  /** A request: end the standalone stream, and respond with the position up to which the client was notified. */
  | { readonly type: 'release'; readonly session: string }
  /** A request: respond, since all earlier messages have been received then. */
  | { readonly type: 'confirm' };

/** Which process has the standalone stream of a session, in the store. */
interface StoredStream {
  /** Absent: no process has it now. */
  readonly process?: string;
  /** The client was notified of all changes up to this position of the bus, or of more. */
  readonly position: number;
}

/** How long the process that had a stream may take to release it. */
const releaseTimeoutMs = 1_000;

/**
 * How long a change of a session, such as its end, waits for other processes. One that has not confirmed it then has not heard
 * anything for longer than `maxCheckAgeMs`, so it asks the store before it serves the session again.
 */
const confirmMs = 1_200;
/** How long a request to another process is open: a response that is late, because this process was stopped, still counts. */
const requestMs = 5_000;

/** Notifications that concern calls and caches of other processes too. */
const sharedNotifications: ReadonlySet<unknown> = new Set([
  'notifications/cancelled',
  'notifications/roots/list_changed',
]);

/** A message from another process has been responded to there. */
const noOutlet: Outlet = { duplex: false, push: () => false, end() {} };

export class SharedSessions {
  readonly #bus: Bus;
  readonly #topic: string;
  readonly #host: SessionHost;
  readonly #endpoint: EndpointState;
  readonly #store: ExpiringStore;
  readonly #ids: SessionIds;
  readonly #active: ActiveSessions;
  readonly #confirmations: Confirmations;
  /** The last time that the state of a session was read. */
  readonly #reloads = new WeakMap<ActiveSession, object>();
  /** Ends a session in this process. */
  readonly #end: (key: string) => void;

  constructor(
    bus: Bus,
    host: SessionHost,
    endpoint: EndpointState,
    store: ExpiringStore,
    ids: SessionIds,
    active: ActiveSessions,
    end: (key: string) => void,
  ) {
    this.#bus = bus;
    this.#topic = `sessions ${host.name}`;
    this.#host = host;
    this.#endpoint = endpoint;
    this.#store = store;
    this.#ids = ids;
    this.#active = active;
    this.#end = end;
    const confirm: SessionMessage = { type: 'confirm' };
    // A process that has ended serves nothing.
    this.#confirmations = new Confirmations((process) =>
      bus.request(process, this.#topic, confirm, requestMs).catch(() => undefined),
    );
    bus.listen(this.#topic, (data, from, position) => this.#receive(data as SessionMessage, from, position));
    recheckSessions(bus, endpoint, store, active, {
      end,
      reload: (session) => this.#reload(session),
      readStream: (session) => store.get(streamKey(session.key)),
    });
  }

  #publish(message: SessionMessage): Promise<number> {
    return this.#bus.publish(this.#topic, message);
  }

  /** A session was ended here. Resolves when all other processes know it, or ask the store. */
  ended(key: string): Promise<void> {
    return this.#publishConfirmed({ type: 'ended', session: key });
  }

  /** Resolves when all other processes have received the message: the next request may be for one of them. */
  async #publishConfirmed(message: SessionMessage): Promise<void> {
    const confirmed = this.#publish(message).then(() => {
      const others = [...this.#bus.processes].filter((process) => process !== this.#bus.process);
      return this.#confirmations.from(others);
    });
    await settleWithin<unknown>(confirmMs, confirmed, () => undefined);
  }

  /**
   * Passes a message on to the processes that it concerns. The promise, if there is one, resolves when it has arrived there, or
   * when it cannot: it must not be acknowledged before.
   */
  relay(key: string, message: unknown): Promise<unknown> | undefined {
    if (Array.isArray(message)) {
      const relayed = message.flatMap((each) => this.relay(key, each) ?? []);
      return relayed.length === 0 ? undefined : Promise.all(relayed);
    }
    if (!isObject(message)) return undefined;
    const { method, id } = message;
    const shared: SessionMessage = { type: 'message', session: key, message: message as unknown as Json };
    if (method !== undefined) {
      return id === undefined && sharedNotifications.has(method) ? this.#publishConfirmed(shared) : undefined;
    }
    // A response: the id of the request names the process that sent it.
    const process = typeof id === 'string' ? /^m([0-9a-f]{8})-/.exec(id)?.[1] : undefined;
    if (process === undefined || process === this.#bus.process || !this.#bus.processes.has(process)) return undefined;
    // A process that has ended, or does not respond, has lost the request too.
    const response = this.#bus.request(process, this.#topic, shared, requestMs).catch(() => undefined);
    return settleWithin(confirmMs, response, () => undefined);
  }

  /** Stores a changed state, and tells the other processes. Responses of the session wait for it. */
  save(session: ActiveSession, state: SessionState): void {
    const before = session.state ?? {};
    this.#cacheState(session, state);
    session.useBegun();
    const earlier = session.saved ?? Promise.resolve();
    const saved = earlier
      .then(() => this.#write(session, before, state))
      .catch((error: unknown) => this.#endpoint.logger.error('the state of a session could not be saved', { error }))
      .finally(() => {
        if (session.saved === saved) session.saved = undefined;
        session.useEnded();
      });
    session.saved = saved;
  }

  async #write(session: ActiveSession, before: SessionState, state: SessionState): Promise<void> {
    const { stateKey, context } = session.opened;
    const place = { store: this.#store, key: stateKey, ttlMs: this.#ttlOf(session), owner: context };
    const stored = await storeState(place, before, state);
    // What other processes have changed. They may have done so again since, so the rest stays as it is.
    if (stored !== state) this.#applyState(session, mergeStates(session.state ?? {}, state, stored));
    try {
      if (state.subscriptions !== undefined && before.subscriptions === undefined) await this.#storePosition(session);
    } finally {
      // It is stored, so the others must know it in any case.
      const difference = differenceOf(before, state) as unknown as { readonly before: Json; readonly after: Json };
      await this.#publishConfirmed({ type: 'state', session: session.key, ...difference });
    }
  }

  /** Changes count from the first subscription on, also if the stream is opened later. */
  async #storePosition(session: ActiveSession): Promise<void> {
    const found = await this.#store.get(streamKey(session.key));
    if (found === undefined) await this.#storeStream(session, { position: this.#host.changesPosition });
  }

  #ttlOf({ expiresAtMs }: ActiveSession): number {
    return expiresAtMs - Date.now();
  }

  #applyState(session: ActiveSession, state: SessionState, readAtMs?: number): void {
    session.channel.setState(state);
    this.#cacheState(session, state, readAtMs);
  }

  #cacheState(session: ActiveSession, state: SessionState, readAtMs = monotonicMs()): void {
    session.state = isEmpty(state) ? undefined : state;
    cacheState(session.opened, session.state, readAtMs);
  }

  #storeStream(session: ActiveSession, stream: StoredStream): void | Promise<void> {
    return this.#store.set(
      streamKey(session.key),
      stream as unknown as Json,
      this.#ttlOf(session),
      session.opened.context,
    );
  }

  /**
   * Takes the standalone stream of a session over from the process that has it. `open` gets the notifications that its client has
   * missed, and must follow the changes after them at once. Resolves with false if another process has opened the stream meanwhile.
   */
  async claimStream(session: ActiveSession, open: (missed: readonly string[]) => void): Promise<boolean> {
    // Keeps the session in memory, so that messages about it are received.
    session.useBegun();
    try {
      const seenUntil = await this.#takeOver(session);
      const held: HeldStream = { openedAt: undefined, seenUntil: undefined };
      session.heldStream = held;
      const openedAt = await this.#publish({ type: 'stream', session: session.key });
      await this.#storeStream(session, { process: this.#bus.process, position: seenUntil ?? openedAt });
      if (session.heldStream !== held) return false;
      open(seenUntil === undefined ? [] : session.channel.changesSince(seenUntil));
      return true;
    } finally {
      session.useEnded();
    }
  }

  /** The position up to which the client was notified; undefined if it never had a stream or a subscription. */
  async #takeOver(session: ActiveSession): Promise<number | undefined> {
    const stored = (await this.#store.get(streamKey(session.key))) as StoredStream | undefined;
    const process = stored?.process;
    if (stored === undefined || process === undefined) return stored?.position;
    if (process === this.#bus.process) return this.#release(session.key) ?? stored.position;
    if (!this.#bus.processes.has(process)) return stored.position;
    const message: SessionMessage = { type: 'release', session: session.key };
    const seenUntil = await this.#bus
      .request(process, this.#topic, message, releaseTimeoutMs)
      // It has ended, or does not respond: the client may be notified of some changes again.
      .catch(() => null);
    return typeof seenUntil === 'number' ? seenUntil : stored.position;
  }

  /** Ends the standalone stream of a session here. Returns the position up to which its client was notified. */
  #release(key: string): number | undefined {
    const session = this.#active.get(key);
    const held = session?.heldStream;
    if (session === undefined || held === undefined) return undefined;
    const seenUntil = held.seenUntil ?? this.#host.changesPosition;
    held.seenUntil = seenUntil;
    session.releaseStream();
    return seenUntil;
  }

  /** The connection of the standalone stream was lost. */
  streamLost(session: ActiveSession): void {
    const held = session.heldStream;
    if (held?.openedAt === undefined || held.seenUntil !== undefined) return;
    const position = this.#host.changesPosition;
    held.seenUntil = position;
    session.channel.setOutlet(undefined);
    const stored = this.#storeStream(session, { position });
    if (stored instanceof Promise) {
      stored.catch((error: unknown) => this.#endpoint.logger.error('a session could not be saved', { error }));
    }
  }

  #receive(data: SessionMessage, from: string, position: number): Json | undefined | Promise<undefined> {
    if (data.type === 'confirm') return true;
    const { type, session: key } = data;
    if (type === 'release') return this.#release(key) ?? null;
    if (from === this.#bus.process) {
      // Noted here and not when the promise of `publish` resolves: the next message may be from a process that opened it later.
      const held = type === 'stream' ? this.#active.get(key)?.heldStream : undefined;
      if (held !== undefined) held.openedAt ??= position;
      return undefined;
    }
    if (type === 'ended' || type === 'state') this.#ids.changed(key);
    if (type === 'ended') {
      this.#end(key);
      return undefined;
    }
    const session = this.#active.get(key);
    if (type === 'message') {
      if (session !== undefined) receive(session.channel, data.message, this.#endpoint.logger, { outlet: noOutlet });
      return true;
    }
    if (session === undefined) return undefined;
    if (type === 'state') {
      // At once: what it follows from now on may be announced by the next message.
      const changed = mergeStates(session.state ?? {}, data.before as SessionState, data.after as SessionState);
      this.#applyState(session, changed);
      return this.#reload(session);
    }
    this.#superseded(session, position);
    return undefined;
  }

  async #reload(session: ActiveSession): Promise<undefined> {
    const reload = {};
    this.#reloads.set(session, reload);
    // While a change of this process is being stored, its own state is newer.
    while (session.saved !== undefined) await session.saved;
    const askedAtMs = monotonicMs();
    const state = (await this.#store.get(session.opened.stateKey)) as SessionState | undefined;
    // One that began meanwhile merges both, and what was changed meanwhile is read again.
    if (session.saved === undefined && this.#reloads.get(session) === reload)
      this.#applyState(session, state ?? {}, askedAtMs);
  }

  /** Another process has opened the stream at that position; a stream that was opened here before it ends. */
  #superseded(session: ActiveSession, position: number): void {
    const held = session.heldStream;
    if (held?.openedAt === undefined || held.openedAt > position) return;
    session.heldStream = undefined;
    session.releaseStream();
  }
}

const streamKey = (session: string): string => `stream ${session}`;

/** Remembers a small state with the session id; a large one is read from the store when it is needed. */
export function cacheState(
  opened: Pick<OpenedSession, 'cachedState'>,
  state: SessionState | undefined,
  readAtMs: number,
): void {
  opened.cachedState = state?.subscriptions === undefined ? { state, readAtMs } : undefined;
}
