// The catalog of one upstream: which lists are known, for all callers or for each, and when they are read. They are read when the
// server is connected, when it announces a change, from time to time, and when they are not valid any more.

import type { SignInLink } from '../../client/index.ts';
import type { UpstreamConfig } from '../config/gateway-config.ts';
import { noLists, type UpstreamFacts, type UpstreamLists } from '../contract.ts';
import { CallerLists, type ListedFor } from './caller-lists.ts';
import type { CheckedLists, ListSettings } from './checked-lists.ts';
import type { UpstreamConnection } from './connection.ts';
import type { UpstreamConnections } from './connections.ts';
import type { CallerKeys, ConnectionCaller, UpstreamListener } from './contract.ts';
import { actsAsCaller, isolationKey, keepsApart } from './isolation.ts';
import { factsOf, KnownLists } from './known-lists.ts';
import { ListRefresh } from './list-refresh.ts';
import { readLists } from './read-lists.ts';
import { cannotBeUsed, isAuthorizationError, messageOf, signInOf } from './start-error.ts';

/** How often the lists of a connection are read for one call that waits; stops a server that loses every session. */
const maxChecks = 3;
/** Of a caller that has to sign in; read again from time to time, in case it has to no longer. */
const signInLists: UpstreamLists = { ...noLists, mustSignIn: true, cache: { ttlMs: 60_000, cacheScope: 'private' } };

export interface CatalogEvents extends Pick<UpstreamListener, 'listsChanged' | 'callerListsChanged'> {
  /** All lists were read. */
  read(): void;
  /** Some could not be read; those from before stay, so items do not disappear with every failure. */
  readFailed(error: unknown, connection: UpstreamConnection): void;
  /** A connection for reading them could not be opened, or none of them was read. */
  notRead(error: unknown): void;
}

export class UpstreamCatalog {
  readonly #config: UpstreamConfig;
  readonly #connections: UpstreamConnections;
  readonly #events: CatalogEvents;
  readonly #common: KnownLists;
  /** Empty unless lists are private. */
  readonly #callers: CallerLists;
  /**
   * Set as soon as the server says that its lists are private, while callers have connections of their own. It stays set: a list
   * that is good for all may be that of a caller without rights.
   */
  #isPrivate = false;
  /** Lists were read by this process. Until then, what an earlier process has stored decides. */
  #wasRead = false;
  #facts: UpstreamFacts | undefined;
  readonly #refresh: ListRefresh;
  /** With private lists, each connection has its own. */
  readonly #refreshes = new WeakMap<UpstreamConnection, ListRefresh>();
  /** A caller had to sign in before anything could be read. */
  #requiresSignIn = false;
  /** Sign-ins that have not ended, by isolation key. */
  readonly #signIns = new Map<string, SignInLink>();
  /** Reads in progress of callers that have signed in, by isolation key. */
  readonly #readsAfterSignIn = new Map<string, Promise<void>>();
  /** The first caller finds out whether lists are private. */
  #deciding: Promise<void> | undefined;

  constructor(config: UpstreamConfig, settings: ListSettings, connections: UpstreamConnections, events: CatalogEvents) {
    this.#config = config;
    this.#connections = connections;
    this.#events = events;
    this.#refresh = new ListRefresh(() => this.#readOverAny(), config.refreshMs);
    this.#common = new KnownLists(config, settings);
    this.#callers = new CallerLists(config, settings);
    const { checked, storedFacts } = this.#common;
    this.#facts = checked === undefined ? storedFacts : factsOf(checked.shown);
    this.#isPrivate = storedFacts !== undefined || actsAsCaller(config);
  }

  /** Callers see different lists. */
  get isPrivate(): boolean {
    return this.#isPrivate;
  }

  /** Undefined until it was connected, now or by an earlier process. */
  get facts(): UpstreamFacts | undefined {
    return this.#facts;
  }

  /** What all callers see; undefined until it was read, and if each caller has its own. */
  get common(): CheckedLists | undefined {
    return this.#common.checked;
  }

  /** What a caller sees; undefined until it was read. */
  of(caller: CallerKeys): CheckedLists | undefined {
    return this.#isPrivate ? this.#callers.get(isolationKey(this.#config, caller)) : this.#common.checked;
  }

  /** Different lists that callers see now. */
  get all(): readonly CheckedLists[] {
    if (this.#isPrivate) return this.#callers.all;
    return this.#common.checked === undefined ? [] : [this.#common.checked];
  }

  /** How many callers have lists of their own. */
  get callers(): number | undefined {
    return this.#isPrivate ? this.#callers.size : undefined;
  }

  /** The lists that were read last over a connection, or would be shown for it. */
  over(connection: UpstreamConnection): CheckedLists | undefined {
    return this.#isPrivate ? this.#callers.read(connection.key) : this.#common.checked;
  }

  get mustBeCompared(): boolean {
    return this.#common.mustBeCompared;
  }

  /** With a connection for each call, the lists are not read for each, only from time to time. */
  get knowsEnough(): boolean {
    return this.#config.isolation === 'call' && this.#common.wereReadWithin(this.#config.refreshMs);
  }

  /** Reads the lists if they are not known; for a caller, those that it sees. Rejects if they cannot be read. */
  async known(caller: ConnectionCaller | undefined): Promise<void> {
    if (this.#config.disabled) return;
    if (caller === undefined || !keepsApart(this.#config)) {
      if (this.all.length === 0) await this.now();
      return;
    }
    const lists = this.of(caller);
    if (lists !== undefined) {
      // The user has signed in just now.
      if (lists.shown.mustSignIn === true) await this.#readsAfterSignIn.get(isolationKey(this.#config, caller));
      return;
    }
    if (this.#isPrivate) return this.#readFor(caller);
    if (this.#deciding === undefined) {
      this.#deciding = this.#readFor(caller).finally(() => {
        this.#deciding = undefined;
      });
      return this.#deciding;
    }
    // What another caller gets, and whether that fails, says nothing about this one.
    await this.#deciding.catch(() => {});
    if (this.of(caller) === undefined) await this.#readFor(caller);
  }

  /** A request of this caller did not get the lists: it is notified when they are there. */
  missed(caller: CallerKeys): void {
    if (keepsApart(this.#config)) this.#callers.missed(isolationKey(this.#config, caller));
  }

  /** A caller requests lists. Those that are not valid any more are read again, and the caller is notified of changes. */
  requested(caller: ConnectionCaller): void {
    const key = this.#isPrivate ? isolationKey(this.#config, caller) : this.#connections.listKey;
    // The lists of a process that does not run are read when it is started.
    if (this.#config.entry.command !== undefined && this.#connections.openOf(key) === undefined) return;
    if (this.#isPrivate) {
      if (this.#callers.isExpired(key)) this.#readFor(caller).catch(() => {});
      return;
    }
    const ttlMs = this.#common.checked?.received.cache?.ttlMs;
    // After the response, which does not depend on it (bench row gateway-start, 4 ms).
    if (ttlMs !== undefined && this.#common.ageMs >= ttlMs) setImmediate(() => this.now().catch(() => {}));
  }

  /** The lists may have changed: those that were read over this connection, if callers see different ones. */
  changed(connection: UpstreamConnection | undefined): void {
    if (!this.#isPrivate) this.#refresh.soon();
    else if (connection !== undefined) this.#refreshOf(connection).soon();
  }

  /** A caller has to sign in first. Until its lists can be read, it sees a tool that helps with this. */
  signInNeeded(key: string, caller: ConnectionCaller, signIn: SignInLink): void {
    this.followSignIn(key, signIn, caller);
    // What all callers see was read without a sign-in.
    if (this.#common.checked !== undefined) return;
    this.#requiresSignIn = true;
    if (!this.#isPrivate) {
      this.#isPrivate = true;
      this.#events.listsChanged();
    }
    if (this.#callers.get(key) !== undefined) return;
    const { before, after, isChange } = this.#callers.update(key, signInLists, { headers: caller.headers });
    if (isChange) this.#events.callerListsChanged(key, before, after);
  }

  /** The lists are read again when the user has signed in. `caller`: opens a connection for this. */
  followSignIn(key: string, signIn: SignInLink, caller?: ConnectionCaller): void {
    if (this.#signIns.get(key) === signIn) return;
    this.#signIns.set(key, signIn);
    void signIn.finished.then((isSignedIn) => {
      if (this.#signIns.get(key) === signIn) this.#signIns.delete(key);
      if (!isSignedIn) return;
      const read = this.#readAfterSignIn(key, caller).catch(() => {});
      this.#readsAfterSignIn.set(key, read);
      void read.then(() => {
        if (this.#readsAfterSignIn.get(key) === read) this.#readsAfterSignIn.delete(key);
      });
    });
  }

  async #readAfterSignIn(key: string, caller: ConnectionCaller | undefined): Promise<void> {
    if (caller !== undefined) return this.#readWith(key, caller);
    const open = this.#connections.openOf(key);
    if (open !== undefined) await this.read(open);
  }

  get hasSignIns(): boolean {
    return this.#signIns.size > 0;
  }

  /** The sign-in that a caller has not finished. */
  signInOf(key: string): SignInLink | undefined {
    return this.#signIns.get(key);
  }

  /** Lists that are known may be out of date: a server may have changed since it was last connected. */
  opened(connection: UpstreamConnection): void {
    connection.isReady = !this.mustBeCompared;
    const { announcesChanges } = connection;
    if (this.#isPrivate) return this.#refreshOf(connection).opened(announcesChanges);
    const isOnly = this.#connections.all.every((each) => each === connection || each.open === undefined);
    if (isOnly && !this.knowsEnough) this.#refresh.opened(announcesChanges);
  }

  /** No connection is open: nothing is started only to read lists again. */
  idle(): void {
    this.#refresh.idle();
  }

  /** The caller is gone. */
  left(key: string): void {
    this.#callers.delete(key);
  }

  /** Compares the last lists with the pins again: some may have been accepted. */
  recheck(): void {
    if (this.#common.recheck()) this.#events.listsChanged();
    for (const [key, { before, after }] of this.#callers.recheck()) {
      this.#events.callerListsChanged(key, before, after);
    }
  }

  close(): void {
    this.#refresh.close();
    for (const connection of this.#connections.all) this.#refreshes.get(connection)?.close();
  }

  // Reading.

  /** Reads now, over any connection, or joins a read in progress. */
  now(): Promise<void> {
    return this.#refresh.now();
  }

  async #readOverAny(): Promise<void> {
    // They are read for the first caller.
    const needsCaller = actsAsCaller(this.#config) || this.#requiresSignIn;
    if (needsCaller && this.#connections.anyOpen === undefined) return;
    await this.#readWith(this.#connections.listKey, undefined);
  }

  async #readFor(caller: ConnectionCaller): Promise<void> {
    await this.#readWith(isolationKey(this.#config, caller), caller);
    // It joined a read that was not for a caller.
    if (this.of(caller) === undefined) await this.#readWith(isolationKey(this.#config, caller), caller);
  }

  async #readWith(key: string, caller: ConnectionCaller | undefined): Promise<void> {
    let release: (() => void) | undefined;
    try {
      const connection = this.#connections.connectionOf(key, caller);
      if (caller !== undefined) {
        connection.listedFor = { headers: caller.headers };
        connection.usedBy(caller);
      }
      release = connection.keepOpen(false);
      await this.read(await this.#connections.get(key, caller));
    } catch (error) {
      const signIn = signInOf(error);
      if (signIn !== undefined && caller !== undefined) return this.signInNeeded(key, caller, signIn);
      this.#events.notRead(error);
      throw error;
    } finally {
      release?.();
    }
  }

  /** Reads the lists of a connection before calls are sent over it. */
  async check(connection: UpstreamConnection): Promise<void> {
    const { slug } = this.#config;
    try {
      // Again if it was lost meanwhile: the lists may be those of the server before.
      for (let left = maxChecks; left > 0 && !connection.isReady; left--) await this.read(connection, this.knowsEnough);
    } catch (error) {
      throw isAuthorizationError(error) ? error : cannotBeUsed(slug, messageOf(error), undefined, error);
    }
    if (!connection.isReady) throw cannotBeUsed(slug, 'the connection to it is lost repeatedly');
  }

  /** Reads the lists over this connection, or joins a read in progress. `onlyTools`: the other lists stay as they are. */
  read(connection: UpstreamConnection, onlyTools = false): Promise<void> {
    connection.reading ??= this.#readOver(connection, onlyTools).finally(() => {
      connection.reading = undefined;
    });
    return connection.reading;
  }

  async #readOver(connection: UpstreamConnection, onlyTools: boolean): Promise<void> {
    const { checks, client, listedFor } = connection;
    const release = connection.keepOpen(false);
    try {
      // A server of an earlier revision does not say whether its lists are good for all.
      const { headers } = client.mustListen ? (listedFor ?? {}) : {};
      const options = { cache: 'bypass', ...(headers === undefined ? {} : { headers }) } as const;
      const reading = { before: this.over(connection)?.received, isPrivateByDefault: this.#isPrivateByDefault(client) };
      const read = onlyTools ? undefined : await readLists(client, options, reading);
      if (read === undefined) this.#takeTools(await client.listTools(options));
      else this.#take(connection, read.lists, listedFor);
      if (checks === connection.checks) connection.isReady = true;
      if (read?.failure === undefined) this.#events.read();
      else this.#events.readFailed(read.failure, connection);
    } catch (error) {
      const signIn = signInOf(error);
      if (signIn === undefined) this.#events.readFailed(error, connection);
      else this.followSignIn(connection.key, signIn);
      throw error;
    } finally {
      release();
    }
  }

  #takeTools(tools: UpstreamLists['tools']): void {
    this.#common.updateTools(tools);
    this.#events.listsChanged();
  }

  #take(connection: UpstreamConnection, lists: UpstreamLists, caller: ListedFor | undefined): void {
    const { key, client, announcesChanges } = connection;
    const scope = lists.cache?.cacheScope ?? (this.#isPrivateByDefault(client) ? 'private' : 'public');
    const wasPrivate = this.#isPrivate && this.#wasRead;
    this.#wasRead = true;
    if (!wasPrivate && (scope === 'public' || !keepsApart(this.#config))) {
      this.#isPrivate = false;
      this.#facts = factsOf(this.#common.update(lists).shown);
      return this.#events.listsChanged();
    }
    const { before, after, isChange } = this.#callers.update(key, lists, caller);
    this.#facts = factsOf(after.shown);
    this.#refreshOf(connection).follow(announcesChanges);
    if (!wasPrivate) this.#becomePrivate(lists);
    if (isChange) this.#events.callerListsChanged(key, before, after);
  }

  /** Without a word about it, on a revision that has it, lists may be what the headers of a caller gave it. */
  #isPrivateByDefault({ mustListen }: UpstreamConnection['client']): boolean {
    return mustListen || actsAsCaller(this.#config) || this.#requiresSignIn;
  }

  #becomePrivate(lists: UpstreamLists): void {
    this.#isPrivate = true;
    this.#refresh.idle();
    this.#common.forget(lists);
    this.#events.listsChanged();
  }

  /** Reads the lists over one connection again, as long as that is open. */
  #refreshOf(connection: UpstreamConnection): ListRefresh {
    const known = this.#refreshes.get(connection);
    if (known !== undefined) return known;
    const refresh = new ListRefresh(async () => {
      if (this.#connections.openOf(connection.key) === connection) await this.read(connection);
      else refresh.close();
    }, this.#config.refreshMs);
    this.#refreshes.set(connection, refresh);
    return refresh;
  }
}
