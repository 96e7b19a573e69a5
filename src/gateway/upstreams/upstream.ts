// One configured server: its connections, its state and its catalog.

import { ClientError, type SignInLink } from '../../client/index.ts';
import type { JsonObject } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamFacts } from '../contract.ts';
import type { CheckedLists, ListSettings } from './checked-lists.ts';
import type { ConnectSettings } from './connect-options.ts';
import type { UpstreamConnection } from './connection.ts';
import { UpstreamConnections } from './connections.ts';
import type { CallerKeys, ConnectionCaller, UpstreamCall, UpstreamListener, UpstreamStatus } from './contract.ts';
import { isolationKey, keepsApart } from './isolation.ts';
import { ResourceFollowers } from './resource-followers.ts';
import { defaultRetryDownMs } from './restart-backoff.ts';
import { isAuthorizationError, isCallerError, isUnreachable, messageOf, needsLogin, signInOf } from './start-error.ts';
import { UpstreamCatalog } from './upstream-catalog.ts';
import { UpstreamRecord } from './upstream-record.ts';
import { UpstreamState } from './upstream-state.ts';

export interface UpstreamSettings extends ConnectSettings, ListSettings {}

const invalidParams = -32602;

export class Upstream {
  readonly config: UpstreamConfig;
  readonly hasSingleClient: boolean;
  readonly #settings: UpstreamSettings;
  readonly #listener: UpstreamListener;
  readonly #connections: UpstreamConnections;
  /** A connection could not be opened. If another one can be, so can it. */
  #hasGivenUp = false;
  /** The resources whose changes clients follow. */
  readonly followers: ResourceFollowers;
  readonly #state: UpstreamState;
  readonly #record = new UpstreamRecord(() => this.#countedInvalid());
  readonly #catalog: UpstreamCatalog;

  constructor(config: UpstreamConfig, settings: UpstreamSettings, listener: UpstreamListener) {
    this.config = config;
    this.hasSingleClient = settings.singleClient === true;
    this.#settings = settings;
    this.#listener = listener;
    this.#state = new UpstreamState(config.disabled, settings.retryDownMs ?? defaultRetryDownMs, {
      changed: () => this.#listener.stateChanged(this.status),
      retry: () => void this.#retry(),
    });
    this.#connections = new UpstreamConnections(config, settings, {
      starting: () => {
        if (this.#connections.anyOpen === undefined) this.#state.starting();
      },
      opened: (connection) => this.#opened(connection),
      startFailed: (...failure) => this.#startFailed(...failure),
      signInNeeded: ({ key }, caller, signIn) => {
        if (this.#connections.anyOpen === undefined) this.#state.signInNeeded();
        this.#catalog.signInNeeded(key, caller, signIn);
      },
      lost: (connection, error) => this.#lost(connection, error),
      interrupted: (connection) => {
        if (this.#catalog.mustBeCompared) connection.mustBeChecked();
      },
      restored: (connection) => {
        this.followers.opened(connection);
        this.#catalog.read(connection).catch(() => {});
      },
      idle: () => {
        this.#record.idle();
        this.#catalog.idle();
        this.#state.enter('idle');
      },
      unresponsive: (connection) => {
        this.#record.ended(connection);
        this.#state.enter('degraded', 'it does not respond');
      },
      listChanged: (connection) => this.#catalog.changed(connection),
      resourceUpdated: (uri, { key }) => this.#listener.resourceUpdated(uri, this.followers.audienceOf(key)),
      unexpected: (what, kind) => {
        this.#record.noise ??= what;
        if (kind === 'message') this.#record.invalid.add();
      },
      answered: (durationMs) => this.#record.latencies.add(durationMs),
      ambiguous: () => {
        this.#record.isAmbiguous = true;
      },
    });
    this.followers = new ResourceFollowers(this.#connections, config.isolation, settings.logger);
    this.#catalog = new UpstreamCatalog(config, settings, this.#connections, {
      listsChanged: () => this.#listener.listsChanged(),
      callerListsChanged: (...change) => this.#listener.callerListsChanged(...change),
      read: () => this.#listsRead(),
      readFailed: (error, connection) => this.#listsFailed(error, connection.owner ?? ''),
      notRead: (error) => this.#reportFailure('the lists of a server could not be read', error),
    });
  }

  get slug(): string {
    return this.config.slug;
  }

  // Lists.

  /** Its lists differ between callers. */
  get isPrivate(): boolean {
    return this.#catalog.isPrivate;
  }

  /** Undefined until it was connected, now or by an earlier process. */
  get facts(): UpstreamFacts | undefined {
    return this.#catalog.facts;
  }

  /** What all callers see; undefined until it was read, and if its lists are private. */
  get lists(): CheckedLists | undefined {
    return this.#catalog.common;
  }

  /** What a caller sees; undefined until it was read. */
  listsOf(caller: CallerKeys): CheckedLists | undefined {
    return this.#catalog.of(caller);
  }

  /** Different lists that callers see now. */
  get allLists(): readonly CheckedLists[] {
    return this.#catalog.all;
  }

  /** Why a tool may not be called over a connection; undefined if it may. */
  whyWithheld(tool: string, connection: UpstreamConnection): string | undefined {
    return this.#catalog.over(connection)?.withheld.get(tool);
  }

  /** Compares the last lists with the pins again: some may have been accepted. */
  recheckPins(): void {
    this.#catalog.recheck();
  }

  /** Reads the lists if they are not known; for a caller, those that it sees. Returns why that failed. */
  async known(caller?: ConnectionCaller): Promise<unknown> {
    if (caller !== undefined) this.#connections.listsRequested(caller);
    try {
      await this.#catalog.known(caller);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** A request of this caller did not get the lists: it is notified when they are there. */
  listsMissed(caller: CallerKeys): void {
    this.#catalog.missed(caller);
  }

  /** A client requests the lists. Those that are not valid any more are read again, and the client is notified of changes. */
  listsRequested(caller: ConnectionCaller): void {
    this.#connections.listsRequested(caller);
    this.#catalog.requested(caller);
  }

  /** Why it could not be started the last time, for this caller. */
  startFailureOf(caller: CallerKeys): unknown {
    return this.#connections.startFailureOf(this.#keyOf(caller));
  }

  /** Resolves when it could not be started, for this caller or for all; there may be more attempts. */
  async untilStartFails(caller: CallerKeys): Promise<void> {
    if (this.startFailureOf(caller) === undefined) await this.#state.untilStartFails();
  }

  /** Some callers have begun to sign in, and not finished. */
  get hasSignIns(): boolean {
    return this.#catalog.hasSignIns;
  }

  /** The sign-in that a caller has not finished. */
  signInOf(caller: CallerKeys): SignInLink | undefined {
    return this.#catalog.signInOf(this.#keyOf(caller));
  }

  /** A request of this caller was rejected until it signs in. */
  signInNeeded(caller: CallerKeys, signIn: SignInLink): void {
    this.#catalog.followSignIn(this.#keyOf(caller), signIn);
  }

  /** Why its lists could not be read the last time, for any caller. */
  get failure(): unknown {
    return this.#record.failure;
  }

  /** Starts it without a call. */
  async start(): Promise<void> {
    if (!this.config.disabled) await this.#connections.get(this.#connections.listKey, undefined);
  }

  get status(): UpstreamStatus {
    const withheldTools = new Set(this.allLists.flatMap(({ withheld }) => [...withheld.keys()])).size;
    return {
      name: this.config.name,
      slug: this.config.slug,
      ...this.#state.fields,
      ...this.#record.fields(this.#connections.all),
      ...(this.#catalog.callers === undefined ? {} : { callerLists: this.#catalog.callers }),
      ...(withheldTools === 0 ? {} : { withheldTools }),
    };
  }

  // Calls.

  /** It has no process of ours. */
  get #isRemote(): boolean {
    return this.config.entry.command === undefined;
  }

  /** The connection for a call, which counts as in flight until `end`; not a promise if the connection is ready. */
  begin(call: UpstreamCall): UpstreamConnection | Promise<UpstreamConnection> {
    const key = this.#connections.keyOf(call);
    const connection = this.#connections.connectionOf(key, call);
    connection.begin(call);
    if (!connection.isReady || connection.rootsGiven !== undefined) return this.#whenReady(key, connection, call);
    this.#connections.used(key);
    return connection;
  }

  async #whenReady(key: string, waiting: UpstreamConnection, call: UpstreamCall): Promise<UpstreamConnection> {
    let connection = waiting;
    try {
      for (;;) {
        connection = connection.moved(call, await this.#connections.get(key, call));
        if (!connection.isReady) await this.#catalog.check(connection);
        if (connection.rootsGiven === undefined) return connection;
        // It may end meanwhile: nothing was sent, so the call goes to the next.
        await connection.rootsGiven;
      }
    } catch (error) {
      connection.end(call);
      throw error;
    }
  }

  /** A call has failed: its lists may be out of date, or what it sends may not be valid. */
  failed(error: unknown, caller: CallerKeys): void {
    if (isAuthorizationError(error) && signInOf(error) === undefined)
      this.#reportFailure('a server could not be authorized', error);
    if (this.#isRemote) this.#remoteFailed(error, caller.principalKey);
    if (!(error instanceof ClientError)) return;
    const isLost = this.#isRemote && error.code === 'connection-lost';
    if (isLost) this.#checkAll();
    // Or it rejected an item that is in its lists.
    if (isLost || error.serverError?.code === invalidParams) {
      this.#catalog.changed(this.#connections.openOf(this.#keyOf(caller)));
    }
    if (error.code === 'invalid-result' || error.code === 'invalid-message') this.#record.invalid.add();
  }

  #countedInvalid(): void {
    if (this.#record.invalid.areTooMany) {
      if (this.#state.name === 'ready')
        this.#state.enter('degraded', `it sends messages that are not valid: ${this.#record.noise ?? 'results'}`);
    } else if (this.#state.name === 'degraded') this.#state.enter('ready');
  }

  /** The roots of a client have changed: notifies the upstream, over the client's own connection if there are several clients. */
  rootsChanged(caller: CallerKeys): void {
    if (this.hasSingleClient) for (const connection of this.#connections.open) connection.rootsChanged();
    else if (keepsApart(this.config)) this.#connections.openOf(this.#keyOf(caller))?.rootsChanged();
  }

  /** A session of a client has ended: its own connection is not needed any more. */
  sessionEnded(sessionKey: string): void {
    if (this.config.isolation !== 'session') return;
    this.#catalog.left(sessionKey);
    this.#connections.closeWhenIdle(sessionKey);
  }

  /** Passes a notification of a client on, if there is a connection for it. */
  notify(keys: CallerKeys, method: string, params: JsonObject): void {
    this.#connections.openOf(this.#keyOf(keys))?.client.notify(method, params);
  }

  /** Cancels a task of the upstream that no call waits for. */
  async cancelTask(caller: ConnectionCaller, id: string): Promise<void> {
    let release: (() => void) | undefined;
    try {
      const key = this.#keyOf(caller);
      release = this.#connections.connectionOf(key, caller).keepOpen();
      const { client } = await this.#connections.get(key, caller);
      await (await client.tasks.attach(id)).cancel();
    } catch (error) {
      this.#settings.logger?.debug('a task of an upstream could not be cancelled', { server: this.slug, error });
    } finally {
      release?.();
    }
  }

  #keyOf(caller: CallerKeys): string {
    return keepsApart(this.config) ? isolationKey(this.config, caller) : this.#connections.listKey;
  }

  /** Ends all connections; the next call opens a new one without a pause. */
  async restart(): Promise<void> {
    this.#connections.forgetFailures();
    for (const connection of this.#connections.open) this.#record.ended(connection);
    await this.#connections.closeAll();
    this.#state.enter('idle');
    if (this.config.disabled) return;
    this.followers.reopen();
    await this.#catalog.now().catch(() => {});
  }

  /** No new calls; those in flight may continue for `drainMs`. */
  async drain(drainMs: number): Promise<void> {
    this.#stopTimers();
    await this.#connections.drain(drainMs);
  }

  async close(): Promise<void> {
    this.#stopTimers();
    await this.#connections.close();
  }

  #stopTimers(): void {
    this.#state.close();
    this.#catalog.close();
    this.#record.invalid.close();
  }

  // Connections.

  #opened(connection: UpstreamConnection): void {
    this.#record.opened(connection);
    this.#state.enter('ready');
    this.followers.opened(connection);
    this.#catalog.opened(connection);
    if (!this.#hasGivenUp) return;
    this.#hasGivenUp = false;
    this.followers.reopen();
  }

  #startFailed(error: unknown, isOver: boolean, isOfCaller: boolean): void {
    this.#record.failed(error);
    this.#hasGivenUp ||= isOver && !isOfCaller && !needsLogin(error);
    this.#reportFailure('a server cannot be connected', error);
    const isInUse = this.#connections.anyOpen !== undefined;
    this.#state.startFailed(error, { isOver, isOfCaller, isInUse }, this.config.auth);
  }

  /** A server without a process of ours does not end: what its requests show decides whether it can be used. */
  #remoteFailed(error: unknown, principalKey: string): void {
    // With a connection for each user, others may have signed in.
    const isOfCaller = isCallerError(this.config, error, principalKey) || this.#connections.open.length > 1;
    const mustLogIn = needsLogin(error) && !isOfCaller;
    if (!mustLogIn && !isUnreachable(this.config, error)) return;
    this.#checkAll();
    if (mustLogIn) this.#state.loginNeeded(messageOf(error), this.config.auth);
    else this.#state.enterAndRetry('down', messageOf(error));
  }

  /** The server may be another one when it is back. */
  #checkAll(): void {
    for (const connection of this.#connections.open) connection.mustBeChecked();
  }

  async #retry(): Promise<void> {
    this.#connections.allowStart();
    await this.#catalog.now().catch(() => {});
    // Lists are read over one connection. Callers that follow something over their own have to wait for no call.
    if (this.#state.name !== 'down') this.followers.reopen();
  }

  #lost(connection: UpstreamConnection, error: Error | undefined): void {
    this.#record.ended(connection, error);
    if (this.#connections.anyOpen === undefined) {
      this.#catalog.idle();
      if (this.#connections.isDown) this.#state.enterAndRetry('down', error?.message);
      else this.#state.enter('idle', error?.message);
    }
    if (this.config.start === 'eager') this.start().catch(() => {});
    this.followers.reopen();
  }

  // Lists.

  #listsRead(): void {
    this.#record.failure = undefined;
    if (this.#state.name !== 'ready' && !this.#record.invalid.areTooMany) this.#state.enter('ready');
  }

  #listsFailed(error: unknown, principalKey: string): void {
    this.#reportFailure('the lists of a server could not be read', error);
    if (isAuthorizationError(error) && isCallerError(this.config, error, principalKey)) return;
    if (this.#isRemote) this.#remoteFailed(error, principalKey);
    this.#state.listsFailed(messageOf(error), this.lists !== undefined, !this.isPrivate);
  }

  /** Logs a failure once, however often it repeats until the lists are read. Those of closing it are none. */
  #reportFailure(what: string, error: unknown): void {
    if (this.#state.isClosed || !this.#record.isNewFailure(error)) return;
    this.#settings.logger?.warn(what, { server: this.slug, error: messageOf(error) });
  }
}
