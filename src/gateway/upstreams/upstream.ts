// One configured server: its connections, its state and its lists. Lists are known from the cache before anything is started;
// they are read again when the server is connected, when it announces a change, and from time to time.

import { ClientError } from '../../client/index.ts';
import type { Tool } from '../../protocol/model.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import type { UpstreamLists } from '../contract.ts';
import type { ConnectSettings } from './connect-options.ts';
import type { UpstreamConnection } from './connection.ts';
import { UpstreamConnections } from './connections.ts';
import type { UpstreamCall, UpstreamListener, UpstreamStateName, UpstreamStatus } from './contract.ts';
import { InvalidMessages } from './invalid-messages.ts';
import { KnownLists, type ListSettings } from './known-lists.ts';
import { Latencies } from './latencies.ts';
import { ListRefresh } from './list-refresh.ts';
import { readLists } from './read-lists.ts';
import { ResourceFollowers } from './resource-followers.ts';
import { defaultRetryDownMs } from './restart-policy.ts';
import { messageOf, needsLogin, UpstreamUnavailable } from './start-error.ts';

export interface UpstreamSettings extends ConnectSettings, ListSettings {}

/** Which connection a caller uses, by isolation. */
type CallerKeys = Pick<UpstreamCall, 'sessionKey' | 'principalKey'>;

const stderrTail = 4_096;
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
  #state: UpstreamStateName;
  #since = new Date();
  #reason: string | undefined;
  #revision: string | undefined;
  #restarts = 0;
  #wasReady = false;
  #noise: string | undefined;
  readonly #latencies = new Latencies();
  readonly #invalid = new InvalidMessages(() => this.#countedInvalid());
  #isAmbiguous = false;
  #stderr = '';
  readonly #lists: KnownLists;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;
  /** Why they could not be read the last time. */
  #listFailure: string | undefined;

  constructor(config: UpstreamConfig, settings: UpstreamSettings, listener: UpstreamListener) {
    this.config = config;
    this.#settings = settings;
    this.#listener = listener;
    this.#state = config.disabled ? 'disabled' : 'idle';
    this.#connections = new UpstreamConnections(config, settings, {
      starting: () => {
        if (this.#connections.anyOpen === undefined) this.#enter('starting');
      },
      opened: (connection) => this.#opened(connection),
      startFailed: (error, isOver) => this.#startFailed(error, isOver),
      lost: (connection, error) => this.#lost(connection, error),
      interrupted: (connection) => {
        connection.losses++;
        if (this.#lists.mustBeCompared) connection.isReady = false;
      },
      restored: (connection) => void this.#read(connection).catch(() => {}),
      idle: () => {
        this.#refresh.idle();
        this.#enter('idle');
      },
      unresponsive: () => this.#enter('degraded', 'it does not respond'),
      listChanged: () => this.#refresh.soon(),
      resourceUpdated: (uri, { owner }) => this.#listener.resourceUpdated(uri, owner),
      unexpected: (what, kind) => {
        this.#noise ??= what;
        if (kind === 'message') this.#invalid.add();
      },
      answered: (durationMs) => this.#latencies.add(durationMs),
      ambiguous: () => {
        this.#isAmbiguous = true;
      },
    });
    this.followers = new ResourceFollowers(this.#connections, settings.logger);
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

  /** Reads the lists if they are not known; resolves when they are, or to the error if that failed. */
  async known(): Promise<unknown> {
    if (this.config.disabled || this.#lists.shown !== undefined) return undefined;
    return this.#refresh.now().catch((error: unknown) => error);
  }

  /** Starts it without a call. */
  async start(): Promise<void> {
    if (!this.config.disabled) await this.#connections.get(this.#connections.anyKey, undefined);
  }

  get status(): UpstreamStatus {
    const { all } = this.#connections;
    const pid = all.find(({ open }) => open?.pid !== undefined)?.open?.pid;
    const stderr = all.find(({ open }) => (open?.stderr ?? '') !== '')?.open?.stderr ?? this.#stderr;
    return {
      name: this.config.name,
      slug: this.config.slug,
      state: this.#state,
      since: this.#since.toISOString(),
      ...(this.#reason === undefined ? {} : { reason: this.#reason }),
      ...(this.#revision === undefined ? {} : { revision: this.#revision }),
      restarts: this.#restarts,
      inFlight: all.reduce((sum, { inFlight }) => sum + inFlight, 0),
      queued: all.reduce((sum, { inFlight, open }) => sum + (open === undefined ? inFlight : 0), 0),
      ...this.#latencies.percentiles,
      ...(pid === undefined ? {} : { pid }),
      connections: all.filter(({ open }) => open !== undefined).length,
      ...(this.#noise === undefined ? {} : { noise: this.#noise }),
      ...(this.#invalid.total === 0 ? {} : { invalidMessages: this.#invalid.total }),
      ...(this.#isAmbiguous ? { ambiguousInput: true } : {}),
      ...(stderr === '' ? {} : { stderr: stderr.slice(-stderrTail) }),
    };
  }

  // Calls.

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
      for (let left = maxChecks; left > 0 && !connection.isReady; left--) await this.#read(connection);
    } catch (error) {
      throw needsLogin(error) ? error : this.#unavailable(messageOf(error), error);
    }
    if (!connection.isReady) throw this.#unavailable('the connection to it is lost again and again');
  }

  #unavailable(why: string, cause?: unknown): UpstreamUnavailable {
    return new UpstreamUnavailable(this.slug, `The server ${this.slug} cannot be used: ${why}`, undefined, cause);
  }

  /** A call has failed: its lists may be out of date, or what it sends may not be valid. */
  failed(error: unknown): void {
    if (!(error instanceof ClientError)) return;
    // It rejected an item that is in its lists.
    if (error.serverError?.code === invalidParams) this.#refresh.soon();
    if (error.code === 'invalid-result' || error.code === 'invalid-message') this.#invalid.add();
  }

  #countedInvalid(): void {
    if (this.#invalid.areTooMany) {
      if (this.#state === 'ready')
        this.#enter('degraded', `it sends messages that are not valid: ${this.#noise ?? 'results'}`);
    } else if (this.#state === 'degraded') this.#enter('ready');
  }

  /** The roots of a client have changed: notifies the upstream over the client's own connection. */
  rootsChanged(sessionKey: string): void {
    if (this.config.isolation !== 'session') return;
    this.#connections.all.find(({ key, open }) => key === sessionKey && open !== undefined)?.client.rootsChanged();
  }

  /** Passes a notification of a client on, if there is a connection for it. */
  notify(keys: CallerKeys, method: string, params: Readonly<Record<string, unknown>>): void {
    const wanted = this.#keyOf(keys);
    this.#connections.all.find(({ key, open }) => key === wanted && open !== undefined)?.client.notify(method, params);
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
    return isolation === 'session' ? sessionKey : this.#connections.anyKey;
  }

  /** Ends all connections; the next call opens a new one without a pause. */
  async restart(): Promise<void> {
    clearTimeout(this.#retryTimer);
    this.#connections.forgetFailures();
    await this.#connections.closeAll();
    this.#enter('idle');
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
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
    this.#refresh.close();
    this.#invalid.close();
  }

  // Connections.

  #opened(connection: UpstreamConnection): void {
    if (this.#wasReady) this.#restarts++;
    this.#wasReady = true;
    this.#revision = connection.client.revision;
    connection.isReady = !this.#lists.mustBeCompared;
    this.#enter('ready');
    this.followers.opened(connection);
    // What was listed before may be out of date: a server may have changed since it was last connected.
    const isOnly = this.#connections.all.every((each) => each === connection || each.open === undefined);
    if (isOnly) this.#refresh.opened(announcesChanges(connection));
  }

  #startFailed(error: unknown, isOver: boolean): void {
    this.#rememberStderr(error);
    if (needsLogin(error)) this.#enter('needs-login', messageOf(error));
    else if (isOver) this.#isDown(messageOf(error));
    else this.#enter('starting', messageOf(error));
  }

  /** It cannot be used now, and is tried again after a while. Not if a user has to sign in: that could open a browser each time. */
  #isDown(reason: string | undefined): void {
    this.#enter('down', reason);
    clearTimeout(this.#retryTimer);
    if (this.#isClosed) return;
    this.#retryTimer = setTimeout(() => {
      this.#connections.allowStart();
      this.#refresh.now().catch(() => {});
    }, this.#settings.retryDownMs ?? defaultRetryDownMs);
    this.#retryTimer.unref();
  }

  #lost(connection: UpstreamConnection, error: Error | undefined): void {
    this.#rememberStderr(error);
    this.#settings.logger?.warn('an upstream has ended', {
      server: this.slug,
      error: error?.message,
      inFlight: connection.inFlight,
    });
    if (this.#connections.anyOpen === undefined) {
      this.#refresh.idle();
      if (this.#connections.isDown) this.#isDown(error?.message);
      else this.#enter('idle', error?.message);
    }
    if (this.config.start === 'eager') this.start().catch(() => {});
    this.followers.reopen();
  }

  #rememberStderr(error: unknown): void {
    const { stderr } = error as { readonly stderr?: unknown };
    if (typeof stderr === 'string') this.#stderr = stderr;
  }

  #enter(state: UpstreamStateName, reason?: string): void {
    if (this.#state === 'disabled') return;
    const isChange = state !== this.#state || reason !== this.#reason;
    this.#state = state;
    this.#reason = reason;
    if (state === 'ready') clearTimeout(this.#retryTimer);
    if (!isChange) return;
    this.#since = new Date();
    this.#listener.stateChanged(this.status);
  }

  // Lists.

  async #readLists(): Promise<void> {
    const key = this.#connections.anyKey;
    let release: (() => void) | undefined;
    try {
      release = this.#connections.connectionOf(key, undefined).keepOpen();
      await this.#read(await this.#connections.get(key, undefined));
    } catch (error) {
      this.#reportFailure(messageOf(error));
      throw error;
    } finally {
      release?.();
    }
  }

  /** Reads the lists over this connection, or joins a read in progress. */
  #read(connection: UpstreamConnection): Promise<void> {
    connection.reading ??= this.#readOver(connection).finally(() => {
      connection.reading = undefined;
    });
    return connection.reading;
  }

  async #readOver(connection: UpstreamConnection): Promise<void> {
    const { losses } = connection;
    const release = connection.keepOpen();
    try {
      const lists = await readLists(connection.client, { cache: 'bypass' });
      this.#listener.listsChanged(this.#lists.update(lists));
      this.#listFailure = undefined;
      if (losses === connection.losses) connection.isReady = true;
      if (this.#state === 'degraded' && !this.#invalid.areTooMany) this.#enter('ready');
    } catch (error) {
      // The last lists stay, so items do not disappear with every failure.
      if (this.#state === 'ready') this.#enter('degraded', `its lists could not be read: ${messageOf(error)}`);
      throw error;
    } finally {
      release();
    }
  }

  /** Logs the failure once, however often the lists are requested meanwhile. */
  #reportFailure(error: string): void {
    if (this.#listFailure === error) return;
    this.#listFailure = error;
    this.#settings.logger?.warn('the lists of an upstream could not be read', { server: this.slug, error });
  }
}

function announcesChanges({ client }: UpstreamConnection): boolean {
  return (['tools', 'prompts', 'resources'] as const).every(
    (kind) => client.capabilities[kind] === undefined || client.announces(kind),
  );
}
