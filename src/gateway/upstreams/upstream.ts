// One configured server: its connections, its state and its lists. Lists are known from the cache before anything is started;
// they are read again when the server is connected, when it announces a change, and from time to time.

import { ClientError } from '../../client/index.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import type { ConnectSettings } from './connect-options.ts';
import type { UpstreamConnection } from './connection.ts';
import { UpstreamConnections } from './connections.ts';
import type { UpstreamCall, UpstreamListener, UpstreamStatus } from './contract.ts';
import { KnownLists, type ListSettings } from './known-lists.ts';
import { ListRefresh } from './list-refresh.ts';
import { readLists } from './read-lists.ts';
import { ResourceFollowers } from './resource-followers.ts';
import { defaultRetryDownMs } from './restart-policy.ts';
import { cannotBeUsed, isUnreachable, messageOf, needsLogin } from './start-error.ts';
import { UpstreamRecord } from './upstream-record.ts';
import { UpstreamState } from './upstream-state.ts';

export interface UpstreamSettings extends ConnectSettings, ListSettings {}

/** Which connection a caller uses, by isolation. */
type CallerKeys = Pick<UpstreamCall, 'sessionKey' | 'principalKey'>;

const invalidParams = -32602;
/** How often the lists of a connection are read for one call that waits; stops a server that loses every session. */
const maxChecks = 3;

export class Upstream {
  readonly config: UpstreamConfig;
  readonly #settings: UpstreamSettings;
  readonly #listener: UpstreamListener;
  readonly #connections: UpstreamConnections;
  readonly #refresh: ListRefresh;
  /** The resources whose changes clients follow. */
  readonly followers: ResourceFollowers;
  readonly #state: UpstreamState;
  readonly #record = new UpstreamRecord(() => this.#countedInvalid());
  readonly #lists: KnownLists;

  constructor(config: UpstreamConfig, settings: UpstreamSettings, listener: UpstreamListener) {
    this.config = config;
    this.#settings = settings;
    this.#listener = listener;
    this.#state = new UpstreamState(config.disabled, settings.retryDownMs ?? defaultRetryDownMs, {
      changed: () => this.#listener.stateChanged(this.status),
      retry: () => {
        this.#connections.allowStart();
        this.#refresh.now().catch(() => {});
      },
    });
    this.#connections = new UpstreamConnections(config, settings, {
      starting: () => {
        if (this.#connections.anyOpen === undefined) this.#state.enter('starting');
      },
      opened: (connection) => this.#opened(connection),
      startFailed: (error, isOver) => this.#startFailed(error, isOver),
      lost: (connection, error) => this.#lost(connection, error),
      interrupted: (connection) => {
        if (this.#lists.mustBeCompared) connection.mustBeChecked();
      },
      restored: (connection) => void this.#read(connection).catch(() => {}),
      idle: () => {
        this.#record.idle();
        this.#refresh.idle();
        this.#state.enter('idle');
      },
      unresponsive: (connection) => {
        this.#record.ended(connection);
        this.#state.enter('degraded', 'it does not respond');
      },
      listChanged: () => this.#refresh.soon(),
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
    this.#refresh = new ListRefresh(() => this.#readLists(), config.refreshMs);
    this.#lists = new KnownLists(config, settings);
  }

  get slug(): string {
    return this.config.slug;
  }

  /** Undefined until they have been read. */
  get lists(): UpstreamLists | undefined {
    return this.#lists.shown;
  }

  /** Tools that may not be called, with the reason. */
  get withheld(): ReadonlyMap<string, string> {
    return this.#lists.withheld;
  }

  get withheldTools(): readonly Tool[] {
    return this.#lists.withheldTools;
  }

  /** Compares the last lists with the pins again: some may have been accepted. */
  recheckPins(): void {
    const shown = this.#lists.recheck();
    if (shown !== undefined) this.#listener.listsChanged(shown);
  }

  /** Reads the lists if they are not known; resolves when they are, or when that failed. */
  async known(): Promise<void> {
    if (this.config.disabled || this.#lists.shown !== undefined) return;
    await this.#refresh.now().catch(() => {});
  }

  /** A client requests the lists. Those that are not valid any more are read again, and the client is notified of changes. */
  listsRequested(): void {
    const ttlMs = this.#lists.received?.cache?.ttlMs;
    if (ttlMs === undefined || this.#lists.ageMs < ttlMs) return;
    // The lists of a process that does not run are read when it is started.
    if (this.#isRemote || this.#connections.anyOpen !== undefined) this.#refresh.now().catch(() => {});
  }

  /** Why it could not be started, or its lists could not be read, the last time. */
  get failure(): unknown {
    return this.#connections.startFailure ?? this.#record.failure;
  }

  /** Starts it without a call. */
  async start(): Promise<void> {
    if (!this.config.disabled) await this.#connections.get(this.#connections.listKey, undefined);
  }

  get status(): UpstreamStatus {
    return {
      name: this.config.name,
      slug: this.config.slug,
      ...this.#state.fields,
      ...this.#record.fields(this.#connections.all),
      ...(this.withheld.size === 0 ? {} : { withheldTools: this.withheld.size }),
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
    if (!connection.isReady) return this.#whenReady(key, connection, call);
    this.#connections.used(key);
    return connection;
  }

  async #whenReady(key: string, waiting: UpstreamConnection, call: UpstreamCall): Promise<UpstreamConnection> {
    let connection = waiting;
    try {
      connection = await this.#connections.get(key, call);
      if (connection !== waiting) {
        waiting.end(call);
        connection.begin(call);
      }
      if (!connection.isReady) await this.#check(connection);
      return connection;
    } catch (error) {
      connection.end(call);
      throw error;
    }
  }

  /** Reads the lists of a connection before calls are sent over it. */
  async #check(connection: UpstreamConnection): Promise<void> {
    try {
      // Again if it was lost meanwhile: the lists may be those of the server before.
      for (let left = maxChecks; left > 0 && !connection.isReady; left--) {
        await this.#read(connection, this.#knowsEnough);
      }
    } catch (error) {
      throw needsLogin(error) ? error : cannotBeUsed(this.slug, messageOf(error), undefined, error);
    }
    if (!connection.isReady) throw cannotBeUsed(this.slug, 'the connection to it is lost repeatedly');
  }

  /** A call has failed: its lists may be out of date, or what it sends may not be valid. */
  failed(error: unknown): void {
    if (this.#isRemote) this.#remoteFailed(error);
    if (!(error instanceof ClientError)) return;
    if (this.#isRemote && error.code === 'connection-lost') {
      this.#checkAll();
      this.#refresh.soon();
    }
    // It rejected an item that is in its lists.
    if (error.serverError?.code === invalidParams) this.#refresh.soon();
    if (error.code === 'invalid-result' || error.code === 'invalid-message') this.#record.invalid.add();
  }

  #countedInvalid(): void {
    if (this.#record.invalid.areTooMany) {
      if (this.#state.name === 'ready')
        this.#state.enter('degraded', `it sends messages that are not valid: ${this.#record.noise ?? 'results'}`);
    } else if (this.#state.name === 'degraded') this.#state.enter('ready');
  }

  /** The roots of a client have changed: notifies the upstream over the client's own connection. */
  rootsChanged(sessionKey: string): void {
    if (this.config.isolation !== 'session') return;
    this.#connections.openOf(sessionKey)?.rootsChanged();
  }

  /** A session of a client has ended: its own connection is not needed any more. */
  sessionEnded(sessionKey: string): void {
    if (this.config.isolation !== 'session') return;
    this.#connections.closeWhenIdle(sessionKey);
  }

  /** Passes a notification of a client on, if there is a connection for it. */
  notify(keys: CallerKeys, method: string, params: Readonly<Record<string, unknown>>): void {
    this.#connections.openOf(this.#keyOf(keys))?.notify(method, params);
  }

  /** Cancels a task of the upstream that no call waits for. */
  async cancelTask(keys: CallerKeys, id: string): Promise<void> {
    try {
      const { client } = await this.#connections.get(this.#keyOf(keys), undefined);
      await (await client.tasks.attach(id)).cancel();
    } catch (error) {
      this.#settings.logger?.debug('a task of an upstream could not be cancelled', { server: this.slug, error });
    }
  }

  #keyOf({ principalKey, sessionKey }: CallerKeys): string {
    const { isolation } = this.config;
    if (isolation === 'principal') return principalKey;
    return isolation === 'session' ? sessionKey : this.#connections.listKey;
  }

  /** Ends all connections; the next call opens a new one without a pause. */
  async restart(): Promise<void> {
    this.#connections.forgetFailures();
    for (const connection of this.#connections.open) this.#record.ended(connection);
    await this.#connections.closeAll();
    this.#state.enter('idle');
    if (this.config.disabled) return;
    this.followers.reopen();
    await this.#refresh.now().catch(() => {});
  }

  /** No new calls; those in flight may go on for `drainMs`. */
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
    this.#refresh.close();
    this.#record.invalid.close();
  }

  // Connections.

  #opened(connection: UpstreamConnection): void {
    this.#record.opened(connection);
    connection.isReady = !this.#lists.mustBeCompared;
    this.#state.enter('ready');
    this.followers.opened(connection);
    // What was listed before may be out of date: a server may have changed since it was last connected.
    const isOnly = this.#connections.all.every((each) => each === connection || each.open === undefined);
    if (isOnly && !this.#knowsEnough) this.#refresh.opened(connection.announcesChanges);
  }

  #startFailed(error: unknown, isOver: boolean): void {
    this.#record.failed(error);
    const reason = messageOf(error);
    this.#reportFailure('a server cannot be connected', error);
    const isInUse = this.#connections.anyOpen !== undefined;
    if (needsLogin(error)) {
      if (!isInUse) this.#needsLogin(reason);
    } else if (!isOver) {
      if (!isInUse) this.#state.enter('starting', reason);
    } else if (isInUse) this.#state.enterAndRetry('degraded', `a connection could not be opened: ${reason}`);
    else this.#state.enterAndRetry('down', reason);
  }

  /** A server without a process of ours does not end: what its requests show decides whether it can be used. */
  #remoteFailed(error: unknown): void {
    const isDown = isUnreachable(error);
    // With a connection for each user, others may have signed in.
    if (!isDown && (!needsLogin(error) || this.#connections.open.length > 1)) return;
    this.#checkAll();
    if (isDown) this.#state.enterAndRetry('down', messageOf(error));
    else this.#needsLogin(messageOf(error));
  }

  /** The server may be another one when it is back. */
  #checkAll(): void {
    for (const connection of this.#connections.open) connection.mustBeChecked();
  }

  #needsLogin(reason: string): void {
    // A user who has to sign in would get a page in the browser with every attempt.
    if (this.config.auth.kind === 'oauth') this.#state.enter('needs-login', reason);
    else this.#state.enterAndRetry('needs-login', reason);
  }

  #lost(connection: UpstreamConnection, error: Error | undefined): void {
    this.#record.ended(connection, error);
    this.#settings.logger?.warn('an upstream has ended', {
      server: this.slug,
      error: error?.message,
      inFlight: connection.inFlight,
    });
    if (this.#connections.anyOpen === undefined) {
      this.#refresh.idle();
      if (this.#connections.isDown) this.#state.enterAndRetry('down', error?.message);
      else this.#state.enter('idle', error?.message);
    }
    if (this.config.start === 'eager') this.start().catch(() => {});
    this.followers.reopen();
  }

  // Lists.

  async #readLists(): Promise<void> {
    const key = this.#connections.listKey;
    let release: (() => void) | undefined;
    try {
      release = this.#connections.connectionOf(key, undefined).keepOpen();
      await this.#read(await this.#connections.get(key, undefined));
    } catch (error) {
      this.#reportFailure('the lists of a server could not be read', error);
      throw error;
    } finally {
      release?.();
    }
  }

  /** With a connection for each call, the lists are not read for each, only from time to time. */
  get #knowsEnough(): boolean {
    return this.config.isolation === 'call' && this.#lists.wereReadWithin(this.config.refreshMs);
  }

  /** Reads the lists over this connection, or joins a read in progress. */
  #read(connection: UpstreamConnection, onlyTools = false): Promise<void> {
    connection.reading ??= this.#readOver(connection, onlyTools).finally(() => {
      connection.reading = undefined;
    });
    return connection.reading;
  }

  async #readOver(connection: UpstreamConnection, onlyTools: boolean): Promise<void> {
    const { checks } = connection;
    const release = connection.keepOpen();
    try {
      const options = { cache: 'bypass' } as const;
      const { client } = connection;
      const read = onlyTools ? undefined : await readLists(client, options, this.#lists.received);
      const shown = read ? this.#lists.update(read.lists) : this.#lists.updateTools(await client.listTools(options));
      this.#listener.listsChanged(shown);
      if (checks === connection.checks) connection.isReady = true;
      if (read?.failure !== undefined) return this.#listsFailed(read.failure);
      this.#record.failure = undefined;
      if (this.#state.name !== 'ready' && !this.#record.invalid.areTooMany) this.#state.enter('ready');
    } catch (error) {
      this.#listsFailed(error);
      throw error;
    } finally {
      release();
    }
  }

  /** The last lists stay, so items do not disappear with every failure. */
  #listsFailed(error: unknown): void {
    this.#reportFailure('the lists of a server could not be read', error);
    if (this.#isRemote) this.#remoteFailed(error);
    if (this.#state.name === 'ready') this.#state.enter('degraded', `its lists could not be read: ${messageOf(error)}`);
  }

  /** Logs a failure once, however often it repeats until the lists are read. Those of closing it are none. */
  #reportFailure(what: string, error: unknown): void {
    if (this.#state.isClosed || !this.#record.isNewFailure(error)) return;
    this.#settings.logger?.warn(what, { server: this.slug, error: messageOf(error) });
  }
}
