// The connections of one upstream, by isolation key: opened when they are first needed, shared by those that wait for the
// same one, closed when they are not needed any more.

import type { Client } from '../../client/index.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { CallerBackoffs } from './caller-backoffs.ts';
import { type ConnectSettings, connectOptions } from './connect-options.ts';
import { UpstreamConnection } from './connection.ts';
import type { ConnectionsEvents } from './connections-events.ts';
import type { CallerKeys, ConnectionCaller, SessionCaller } from './contract.ts';
import { everyAsk } from './declared-capabilities.ts';
import { isolationKey, keepsApart } from './isolation.ts';
import { pause } from './restart-backoff.ts';
import {
  cannotBeUsed,
  isCallerError,
  isPermanent,
  reasonForCallers,
  signInOf,
  UpstreamStarting,
  type UpstreamUnavailable,
} from './start-error.ts';

/** How long a call waits for a connection to open. */
const maxWaitMs = 10_000;
/** How long a server may take to exit after its input is closed. */
const closeGraceMs = 2_000;

interface Slot {
  readonly connection: UpstreamConnection;
  readonly ready: Promise<UpstreamConnection>;
  readonly closing: AbortController;
  /** It is closed as soon as it is idle. */
  isOver?: boolean;
  idleTimer?: ReturnType<typeof setTimeout> | undefined;
}

export class UpstreamConnections {
  readonly #config: UpstreamConfig;
  readonly #settings: ConnectSettings;
  readonly #events: ConnectionsEvents;
  readonly #backoffs: CallerBackoffs;
  readonly #slots = new Map<string, Slot>();
  /** Connections that are being drained: they finish their calls and get no new ones. */
  readonly #retired = new Set<UpstreamConnection>();
  /** Connections that are being closed: a process may take a while to end. */
  readonly #closing = new Set<Promise<void>>();
  /** The caller of a gateway with one client that can be asked while no call is in progress. */
  #singleClient: SessionCaller | undefined;
  #calls = 0;
  #closed = false;
  #lastError: unknown;

  constructor(config: UpstreamConfig, settings: ConnectSettings, events: ConnectionsEvents) {
    this.#config = config;
    this.#settings = settings;
    this.#events = events;
    this.#backoffs = new CallerBackoffs(config, settings.retryDownMs);
  }

  get all(): readonly UpstreamConnection[] {
    return [...[...this.#slots.values()].map(({ connection }) => connection), ...this.#retired];
  }

  get open(): readonly UpstreamConnection[] {
    return this.all.filter(({ open }) => open !== undefined);
  }

  /** The connection with a key, if it is open and gets new calls. */
  openOf(key: string): UpstreamConnection | undefined {
    const connection = this.#slots.get(key)?.connection;
    return connection?.open === undefined ? undefined : connection;
  }

  /** Lists are read over a connection of their own only if no other is open. */
  get listKey(): string {
    return this.anyOpen?.key ?? '';
  }

  /** An open connection that may be used for lists. */
  get anyOpen(): UpstreamConnection | undefined {
    for (const { connection } of this.#slots.values()) if (connection.open !== undefined) return connection;
    return undefined;
  }

  keyOf(call: CallerKeys): string {
    return this.#config.isolation === 'call' ? `call ${++this.#calls}` : isolationKey(this.#config, call);
  }

  /** The connection for a call; not a promise if it is open. */
  get(key: string, call: ConnectionCaller | undefined): UpstreamConnection | Promise<UpstreamConnection> {
    const slot = this.#slots.get(key);
    if (slot?.connection.open !== undefined) return slot.connection;
    return this.#inTime(key, (slot ?? this.#start(key, call)).ready);
  }

  /** The connection that a call is waiting for or uses, so that input requests reach it even while it opens. */
  connectionOf(key: string, call: ConnectionCaller | undefined): UpstreamConnection {
    return (this.#slots.get(key) ?? this.#start(key, call)).connection;
  }

  /** A caller requests lists, which may be known, or be read over a connection that is not for it. */
  listsRequested(caller: SessionCaller): void {
    if (this.#settings.singleClient !== true) return;
    if (this.#singleClient?.sessionClient?.isReachable !== true) this.#singleClient = caller;
    for (const { connection } of this.#slots.values()) connection.usedBy(caller);
  }

  /** A call has begun on a connection that is open. */
  used(key: string): void {
    const slot = this.#slots.get(key);
    if (slot?.idleTimer !== undefined) this.#stopIdleTimer(slot);
  }

  /** It failed too often: it is not started for a while. */
  get isDown(): boolean {
    return this.#backoffs.isDown;
  }

  /** Why the last start failed, for all callers or for this one; undefined if it did not. */
  startFailureOf(key: string): UpstreamUnavailable | undefined {
    const error = this.#lastError ?? this.#backoffs.errorOf(key);
    return error === undefined ? undefined : this.#unavailable(this.#reason(error), this.#backoffs.waitMs(key), error);
  }

  /** The next start does not wait. */
  allowStart(): void {
    this.#backoffs.allowStart();
  }

  /** Resets the back-off: the next start does not wait. */
  forgetFailures(): void {
    this.#backoffs.reset();
  }

  /** No more calls are expected: those in flight may end. */
  closeWhenIdle(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) return;
    slot.isOver = true;
    this.#becameIdle(slot.connection);
  }

  async closeAll(graceMs: number = closeGraceMs): Promise<void> {
    const slots = [...this.#slots.values()];
    this.#slots.clear();
    const retired = [...this.#retired];
    await Promise.allSettled([
      ...slots.map((slot) => this.#close(slot, graceMs)),
      ...retired.map((connection) => connection.open?.close({ graceMs })),
    ]);
  }

  /** Waits until no call is in flight, for at most `drainMs`, then closes all connections. */
  async drain(drainMs: number): Promise<void> {
    this.#closed = true;
    const until = performance.now() + drainMs;
    while (this.all.some(({ inFlight }) => inFlight > 0) && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(50, drainMs)));
    }
    await this.closeAll();
  }

  close(): Promise<void> {
    this.#closed = true;
    return this.closeAll();
  }

  /** A connection that does not respond gets no new calls, and is closed when its calls have ended. */
  retire(connection: UpstreamConnection): void {
    const slot = this.#slots.get(connection.key);
    if (slot?.connection !== connection) return;
    this.#slots.delete(connection.key);
    this.#stopIdleTimer(slot);
    connection.retired = true;
    this.#retired.add(connection);
    setTimeout(() => this.#drop(connection), this.#config.maxTimeoutMs).unref();
    if (connection.inFlight === 0) this.#drop(connection);
  }

  #drop(connection: UpstreamConnection): void {
    if (this.#retired.delete(connection)) void this.#end(Promise.resolve(connection), 0);
  }

  #start(key: string, call: ConnectionCaller | undefined): Slot {
    if (this.#closed) throw this.#unavailable('it was removed from the configuration');
    this.#makeRoom();
    const closing = new AbortController();
    const isOwned = keepsApart(this.#config);
    const connection = new UpstreamConnection(
      key,
      isOwned ? (call?.principalKey ?? (this.#config.isolation === 'principal' ? key : '')) : undefined,
      this.#settings.singleClient === true,
      {
        idle: (idle) => this.#becameIdle(idle),
        unresponsive: (each) => {
          this.#events.unresponsive(each);
          this.retire(each);
        },
        resourceUpdated: (uri, each) => this.#events.resourceUpdated(uri, each),
        ambiguous: () => this.#events.ambiguous(),
        answered: (durationMs) => this.#events.answered(durationMs),
      },
      this.#settings.logger,
    );
    if (isOwned) connection.listedFor = call && { headers: call.headers };
    connection.usedBy(this.#singleClient ?? call ?? {});
    const ready = this.#open(connection, call, closing.signal);
    const slot: Slot = { connection, ready, closing };
    this.#slots.set(key, slot);
    ready.then(
      () => {
        if (connection.isIdle) this.#becameIdle(connection);
      },
      () => {
        if (this.#slots.get(key) === slot) this.#slots.delete(key);
      },
    );
    return slot;
  }

  /** Opens it, with several attempts. */
  async #open(
    connection: UpstreamConnection,
    call: ConnectionCaller | undefined,
    signal: AbortSignal,
  ): Promise<UpstreamConnection> {
    const backoffs = this.#backoffs;
    const { key } = connection;
    if (backoffs.isDownFor(key) && backoffs.waitMs(key) > 0) {
      const error = backoffs.isDown ? this.#lastError : backoffs.errorOf(key);
      throw this.#unavailable(this.#reason(error), backoffs.waitMs(key), error);
    }
    for (;;) {
      await pause(backoffs.waitMs(key), signal);
      while (this.#closing.size > 0 && this.#processes > this.#maxProcesses) await Promise.race(this.#closing);
      this.#events.starting();
      try {
        const client = await this.#connect(connection, call, signal);
        backoffs.started(key);
        this.#lastError = undefined;
        connection.opened(client, this.#config.asks.includes('roots'));
        this.#events.opened(connection);
        return connection;
      } catch (error) {
        if (signal.aborted) throw this.#unavailable('it was stopped');
        const signIn = signInOf(error);
        if (signIn !== undefined && call !== undefined) {
          this.#events.signInNeeded(connection, call, signIn);
          throw error;
        }
        const isOfCaller = isCallerError(this.#config, error, connection.owner ?? '');
        if (isOfCaller) backoffs.failed(key, error);
        else {
          this.#lastError = error;
          backoffs.startFailed();
        }
        const isOver = isPermanent(error) || (isOfCaller ? backoffs.isDownFor(key) : backoffs.isDown);
        this.#events.startFailed(error, isOver, isOfCaller);
        if (isOver) throw this.#unavailable(this.#reason(error), backoffs.waitMs(key), error);
      }
    }
  }

  async #connect(
    connection: UpstreamConnection,
    call: ConnectionCaller | undefined,
    signal: AbortSignal,
  ): Promise<Client> {
    // Loaded here, because showing lists from the cache does not need the client.
    const { connect } = await import('../../client/index.ts');
    const asks = this.#hasOneClient(call) ? call.asks : everyAsk;
    const options = await connectOptions(this.#config, this.#settings, connection, asks, {
      listChanged: () => this.#events.listChanged(connection),
      unexpected: (what, kind) => this.#events.unexpected(what, kind),
      lost: (error) => this.#lost(connection, error),
      restored: () => this.#events.restored(connection),
    });
    return connect(this.#settings.target?.(this.#config) ?? this.#config.entry, { ...options, signal });
  }

  /** Only this client uses the connection. Others of the user, or of other users, may be able to do more. */
  #hasOneClient(call: ConnectionCaller | undefined): call is ConnectionCaller {
    const { isolation } = this.#config;
    if (call === undefined || isolation === 'call') return call !== undefined;
    // Clients without sessions share a connection with the others of the user.
    return isolation === 'session' && call.sessionKey !== call.principalKey;
  }

  #lost(connection: UpstreamConnection, error: Error | undefined): void {
    const slot = this.#slots.get(connection.key);
    this.#retired.delete(connection);
    if (slot?.connection !== connection) return;
    // The client reopens a connection over HTTP.
    if (this.#config.entry.command === undefined) return this.#events.interrupted(connection);
    this.#slots.delete(connection.key);
    this.#stopIdleTimer(slot);
    // What becomes of the process of one caller does not concern the others.
    if (this.#config.isolation === 'shared') this.#lastError = error;
    this.#backoffs.failed(connection.key, new Error('its process ended repeatedly'));
    this.#events.lost(connection, error);
    void this.#end(Promise.resolve(connection), 0);
  }

  /** Limits how long a call waits for a start; the start itself continues. */
  async #inTime(key: string, ready: Promise<UpstreamConnection>): Promise<UpstreamConnection> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(this.startFailureOf(key) ?? new UpstreamStarting(this.#config.slug, this.#backoffs.waitMs(key)));
      }, maxWaitMs);
    });
    try {
      return await Promise.race([ready, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** At the limit of processes, closes the idle connection that was used least recently. */
  #makeRoom(): void {
    const maxProcesses = this.#maxProcesses;
    if (this.#slots.size + this.#retired.size < maxProcesses) return;
    const idle = [...this.#slots.values()]
      .filter(({ connection }) => connection.open !== undefined && connection.isIdle)
      .sort((a, b) => a.connection.lastUsedMs - b.connection.lastUsedMs);
    const [oldest] = idle;
    if (oldest === undefined) {
      throw this.#unavailable(`all ${maxProcesses} processes are in use (maxProcesses); try again later`, 1_000);
    }
    this.#slots.delete(oldest.connection.key);
    void this.#close(oldest, closeGraceMs);
  }

  get #maxProcesses(): number {
    const { maxProcesses, isolation, entry } = this.#config;
    return isolation === 'shared' || entry.command === undefined ? Number.POSITIVE_INFINITY : maxProcesses;
  }

  get #processes(): number {
    return this.#slots.size + this.#retired.size + this.#closing.size;
  }

  #becameIdle(connection: UpstreamConnection): void {
    if (connection.retired) return this.#drop(connection);
    const slot = this.#slots.get(connection.key);
    if (slot?.connection !== connection || connection.open === undefined || !connection.isIdle) return;
    const { isolation, idleMs, start, entry } = this.#config;
    if (isolation === 'call' || slot.isOver === true) {
      this.#closeIdle(slot);
      return;
    }
    const isKept = idleMs === 0 || start === 'eager' || (isolation === 'shared' && entry.command === undefined);
    this.#stopIdleTimer(slot);
    if (isKept) return;
    // Since its last use: lists that are read from time to time would otherwise keep it open.
    const remainingMs = connection.lastUsedMs + idleMs - performance.now();
    slot.idleTimer = setTimeout(
      () => {
        if (connection.isIdle && this.#slots.get(connection.key) === slot) this.#closeIdle(slot);
      },
      Math.max(0, remainingMs),
    );
    slot.idleTimer.unref();
  }

  #closeIdle(slot: Slot): void {
    this.#slots.delete(slot.connection.key);
    void this.#close(slot, closeGraceMs);
    if (this.#slots.size === 0) this.#events.idle();
  }

  #stopIdleTimer(slot: Slot): void {
    clearTimeout(slot.idleTimer);
    slot.idleTimer = undefined;
  }

  #close(slot: Slot, graceMs: number): Promise<void> {
    this.#stopIdleTimer(slot);
    slot.closing.abort(new Error('the connection is not needed any more'));
    return this.#end(slot.ready, graceMs);
  }

  /** Closes it when it is open. */
  async #end(ready: Promise<UpstreamConnection>, graceMs: number): Promise<void> {
    const ended = ready.then(({ open }) => open?.close({ graceMs })).catch(() => {});
    this.#closing.add(ended);
    await ended;
    this.#closing.delete(ended);
  }

  #reason(error: unknown): string {
    return reasonForCallers(error, this.#config.entry);
  }

  #unavailable(why: string, retryAfterMs?: number, cause?: unknown): UpstreamUnavailable {
    return cannotBeUsed(this.#config.slug, why, retryAfterMs, cause);
  }
}
