// One connection to an upstream: its client, the calls that are in flight on it, and which of them a message belongs to.

import type { Client, InputContext, LogContext, LogMessage } from '../../client/index.ts';
import type { Logger } from '../../common/logger.ts';
import { SlotSet } from '../../common/slot-set.ts';
import { pause, waitAtMost } from '../../common/wait.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { type JsonObject, type LogLevel, logLevels } from '../../protocol/model.ts';
import { statelessRevisions } from '../../protocol/revisions/index.ts';
import { withoutReserved } from '../relays/meta.ts';
import type { SessionCaller, UpstreamCall, UpstreamSession } from './contract.ts';
import { FollowedResources } from './followed-resources.ts';
import type { CallFinder } from './input-handlers.ts';
import { UsedSessions } from './used-sessions.ts';

/** Time-outs in a row, without any message in between, after which it is checked whether the server responds at all. */
const maxSilentTimeouts = 3;
const pingMs = 10_000;
/** URLs whose completion is waited for; stops an upstream that sends users to many from filling the memory. */
const maxLinks = 1_000;

/** How long calls wait for the roots that a server has asked for. */
const maxCallWaitMs = 2_000;
/** What a server takes to check folders; nothing says when it has. */
const rootsPauseMs = 50;

/** How long an upstream may send messages for a call that was cancelled, because it has not noticed that yet. */
const cancelMs = 2_000;

export interface ConnectionEvents {
  /** Nothing is in flight anymore. */
  idle(connection: UpstreamConnection): void;
  /** It does not respond. */
  unresponsive(connection: UpstreamConnection): void;
  resourceUpdated(uri: string, connection: UpstreamConnection): void;
  ambiguous(): void;
  /** A call has ended, and how long it took. */
  answered(durationMs: number): void;
}

export class UpstreamConnection implements CallFinder {
  /** The isolation key. */
  readonly key: string;
  /** The principal that it belongs to; undefined if several share it. */
  readonly owner: string | undefined;
  readonly #events: ConnectionEvents;
  readonly #logger: Logger | undefined;
  /** Calls in flight, and calls that wait for the connection to open. */
  readonly #calls = new SlotSet<UpstreamCall>();
  #begun = 0;
  /** Callers whose calls were cancelled, and until when messages may belong to these calls. */
  readonly #cancelled = new Map<unknown, number>();
  readonly #tasks = new Map<string, UpstreamCall>();
  /** Undefined on a connection of several callers: messages outside of calls cannot be attributed to one of them. */
  readonly #sessions: UsedSessions | undefined;
  readonly #isOfClient: boolean;
  #mayAskForRoots = false;
  /** It has asked for roots, and its client could not be asked yet. */
  #lacksRoots = false;
  #requestedRoots: Promise<unknown> | undefined;
  /** It may have asked for roots, and calls wait until it has them. */
  rootsGiven: Promise<void> | undefined;
  /** URLs that users were sent to, by the id of the upstream, oldest first. */
  readonly #links = new Map<string, () => void>();
  #client: Client | undefined;
  #followed: FollowedResources | undefined;
  #level: LogLevel | undefined;
  #silentTimeouts = 0;
  #receivedAtTimeout = -1;
  /** Uses other than calls: lists that are being read. */
  #users = 0;
  /** Calls can be sent at once. Otherwise its lists are read first: its server may be another one, or not be there any more. */
  isReady = false;
  /** How often it had to be checked again; lists whose reading began before do not count. */
  checks = 0;
  /** Its lists are read for this caller of it; undefined: for none. */
  listedFor: Pick<UpstreamCall, 'headers'> | undefined;
  /** Its lists are being read. */
  reading: Promise<void> | undefined;
  /** No new calls: another connection replaces it. */
  retired = false;
  /** When it was last used, or else opened, on the clock of `performance.now()`. */
  lastUsedMs = performance.now();

  /** `isOfClient`: the gateway has one client. Otherwise a connection with an owner is of one user. */
  constructor(
    key: string,
    owner: string | undefined,
    isOfClient: boolean,
    events: ConnectionEvents,
    logger: Logger | undefined,
  ) {
    this.key = key;
    this.owner = owner;
    this.#isOfClient = isOfClient;
    this.#sessions = isOfClient || owner !== undefined ? new UsedSessions() : undefined;
    this.#events = events;
    this.#logger = logger;
  }

  /** Undefined until it is open. */
  get open(): Client | undefined {
    return this.#client;
  }

  get client(): Client {
    return this.#client as Client;
  }

  /** `mayAskForRoots`: the server was told that it may. */
  opened(client: Client, mayAskForRoots: boolean): void {
    this.#client = client;
    this.#mayAskForRoots = mayAskForRoots;
    this.lastUsedMs = performance.now();
    this.#awaitRoots();
    this.#announceRoots();
  }

  /** The server announces changes of all its lists. */
  get announcesChanges(): boolean {
    const { client } = this;
    return (['tools', 'prompts', 'resources'] as const).every(
      (kind) => client.capabilities[kind] === undefined || client.announces(kind),
    );
  }

  /** Before the next call, its lists are read. */
  mustBeChecked(): void {
    this.isReady = false;
    this.checks++;
  }

  get inFlight(): number {
    return this.#calls.size;
  }

  /** Nothing needs it now. */
  get isIdle(): boolean {
    return this.#calls.size === 0 && this.#users === 0 && (this.#followed?.size ?? 0) === 0;
  }

  /** Keeps it open until the returned function is called. `isUse`: false for what the gateway does for no caller. */
  keepOpen(isUse = true): () => void {
    this.#users++;
    return () => {
      this.#users--;
      if (isUse) this.lastUsedMs = performance.now();
      if (this.isIdle) this.#events.idle(this);
    };
  }

  // Calls.

  begin(call: UpstreamCall): void {
    call.slot = this.#calls.add(call);
    call.order = ++this.#begun;
    this.usedBy(call);
  }

  /** A call that was not sent yet is sent over another connection, which is returned. */
  moved(call: UpstreamCall, to: UpstreamConnection): UpstreamConnection {
    if (to === this) return this;
    this.end(call);
    to.begin(call);
    return to;
  }

  /** A caller uses it, for a call or to read lists. */
  usedBy(caller: SessionCaller): void {
    if (this.#sessions?.used(caller) === true) this.#announceRoots();
  }

  #announceRoots(): void {
    if (!this.#lacksRoots || this.#client === undefined || !this.#canListRoots) return;
    this.#lacksRoots = false;
    this.rootsChanged();
  }

  /** Whose roots a server gets that asks for some; undefined: those of its configuration. */
  callerWithRoots(
    context: Pick<InputContext, 'call' | 'task'>,
  ): UpstreamCall | UpstreamSession | 'ambiguous' | undefined {
    const call = this.find(context);
    if (context.call !== undefined || context.task !== undefined) return call;
    const session = this.session();
    if (session === undefined && (this.#isOfClient || call === undefined)) this.#lacksRoots = true;
    if (session === undefined || call === undefined) return call ?? session;
    // Servers ask when they start, and the call that they were started for may end before its client has answered.
    const isOfSession = call !== 'ambiguous' && session !== 'ambiguous' && call.sessionClient === session.client;
    return isOfSession || this.#isOfClient ? session : call;
  }

  /** It has asked for roots, which this promise yields. */
  rootsRequested(roots: Promise<unknown>): void {
    this.#requestedRoots = roots;
  }

  /** The roots of its client have changed. */
  rootsChanged(): void {
    if (!this.#mayAskForRoots) return;
    this.#requestedRoots = undefined;
    this.client.rootsChanged();
    this.#awaitRoots();
  }

  get #canListRoots(): boolean {
    const session = this.session();
    return session !== undefined && session !== 'ambiguous' && session.client.can('roots');
  }

  /** Until it has the roots of its client, calls wait: it would reject the files that they are about. */
  #awaitRoots(): void {
    if (!this.#mayAskForRoots || !this.#canListRoots || statelessRevisions.includes(this.client.revision)) return;
    const given = this.#untilRootsGiven()
      .catch(() => {})
      .then(() => {
        if (this.rootsGiven === given) this.rootsGiven = undefined;
      });
    this.rootsGiven = given;
  }

  async #untilRootsGiven(): Promise<void> {
    // A server asks for them before it responds to what comes next. An error is a response, too.
    await this.client.ping({ timeoutMs: maxCallWaitMs, maxTimeoutMs: maxCallWaitMs }).catch(() => {});
    if (this.#requestedRoots === undefined) return;
    await waitAtMost(maxCallWaitMs, this.#requestedRoots);
    await pause(rootsPauseMs);
  }

  end(call: UpstreamCall): void {
    if (!this.#calls.delete(call.slot, call)) return;
    this.lastUsedMs = performance.now();
    if (call.sentAtMs > 0 && !call.hasAsked) this.#events.answered(this.lastUsedMs - call.sentAtMs);
    if (this.#calls.size === 0) this.#events.idle(this);
  }

  /** A call was cancelled, or had no response in time; the upstream may not know that yet. */
  cancelled({ caller, isAnonymous }: UpstreamCall): void {
    // A client that cannot be recognised would not be asked in its own next call.
    if (isAnonymous) return;
    this.#forgetCancelled();
    this.#cancelled.set(caller, performance.now() + cancelMs);
  }

  #forgetCancelled(): void {
    const now = performance.now();
    for (const [caller, until] of this.#cancelled) if (until <= now) this.#cancelled.delete(caller);
  }

  /** The call has become a task of the upstream: messages that name the task belong to the call. */
  beginTask(id: string, call: UpstreamCall): void {
    this.#tasks.set(id, call);
  }

  endTask(id: string): void {
    this.#tasks.delete(id);
  }

  /**
   * The call that a message belongs to: the one whose response stream brought it, the one whose task it names, or the newest
   * if all calls in flight, and those just cancelled, are of one caller. It is never guessed between two callers.
   */
  find({ call, task }: Pick<InputContext, 'call' | 'task'>): UpstreamCall | 'ambiguous' | undefined {
    if (call !== undefined) return this.#calls.values().find((each) => each === call);
    if (task !== undefined) return this.#tasks.get(task);
    let found: UpstreamCall | undefined;
    for (const each of this.#calls.values()) {
      if (found !== undefined && found.caller !== each.caller) return 'ambiguous';
      if (found === undefined || found.order < each.order) found = each;
    }
    if (found === undefined || this.#cancelled.size === 0) return found;
    this.#forgetCancelled();
    for (const caller of this.#cancelled.keys()) if (caller !== found.caller) return 'ambiguous';
    return found;
  }

  /** Where only the caller is certain, the input request may belong to each of its calls. */
  callsOf(context: Pick<InputContext, 'call' | 'task'>): readonly UpstreamCall[] {
    const found = this.find(context);
    if (found === undefined || found === 'ambiguous') return [];
    if (context.call !== undefined || context.task !== undefined) return [found];
    return this.#calls.values().filter(({ caller }) => caller === found.caller);
  }

  /** The session that is asked while no call is in progress. */
  session(): UpstreamSession | 'ambiguous' | undefined {
    return this.#sessions?.only;
  }

  ambiguous(): void {
    this.#events.ambiguous();
  }

  /** The upstream will announce when the user has finished at a URL. `id`: the upstream's. */
  expectCompletion(id: string, completed: () => void): void {
    this.#links.delete(id);
    this.#links.set(id, completed);
    const [oldest] = this.#links.keys();
    if (this.#links.size > maxLinks && oldest !== undefined) this.#links.delete(oldest);
  }

  /** A notification that the client does not handle itself. */
  notified(method: string, params: JsonObject, context: LogContext): void {
    // Tasks are the gateway's own, on both sides; one that is not known here may be another caller's.
    if (method === 'notifications/tasks/status' || method === 'notifications/tasks') return;
    if (method !== 'notifications/elicitation/complete') return this.#passOn(method, params, context);
    const id = params['elicitationId'];
    const completed = typeof id === 'string' ? this.#links.get(id) : undefined;
    // Only once: an unknown id, or one that was completed before, is ignored.
    this.#links.delete(id as string);
    completed?.();
  }

  /** Passes a notification of an extension on, if it is certain who it is for. */
  #passOn(method: string, { _meta, ...rest }: JsonObject, context: LogContext): void {
    const meta = isObject(_meta) ? withoutReserved(_meta) : undefined;
    const params = meta === undefined ? rest : { ...rest, _meta: meta };
    const call = this.find(context);
    const isUnrelated = context.call === undefined && context.task === undefined;
    const session = call === undefined && isUnrelated ? this.session() : undefined;
    if (call !== undefined && call !== 'ambiguous') {
      if (call.passesExtensions) call.notify(method, params);
    } else if (session !== undefined && session !== 'ambiguous' && session.passesExtensions) {
      session.client.notify(method, params);
    } else this.#logger?.debug('notification of an upstream', { method });
  }

  /** Passes a log message on to its caller; messages that cannot be attributed go to our own log. */
  log(message: LogMessage, context: LogContext): void {
    const found = this.find(context);
    if (found !== undefined && found !== 'ambiguous') found.log(message);
    else this.#logger?.debug('log message of an upstream', { ...message });
  }

  /** Asks the server for log messages of this level, unless it sends them already or each request has its own level. */
  wantLevel(level: LogLevel | undefined): void {
    const client = this.#client;
    if (level === undefined || client === undefined || !client.offers('logging/setLevel')) return;
    if (this.#level !== undefined && logLevels.indexOf(level) >= logLevels.indexOf(this.#level)) return;
    this.#level = level;
    client.setLogLevel(level).catch((error: unknown) => {
      this.#logger?.debug('the log level of an upstream could not be set', { error });
    });
  }

  /** A request had no response in time. */
  timedOut(): void {
    const client = this.#client;
    if (client === undefined || this.retired) return;
    this.#silentTimeouts = client.received === this.#receivedAtTimeout ? this.#silentTimeouts + 1 : 1;
    this.#receivedAtTimeout = client.received;
    if (this.#silentTimeouts < maxSilentTimeouts) return;
    this.#silentTimeouts = 0;
    client.ping({ timeoutMs: pingMs, maxTimeoutMs: pingMs }).catch(() => {
      if (!this.retired) this.#events.unresponsive(this);
    });
  }

  // Resources.

  follow(uri: string): Promise<boolean> {
    this.#followed ??= new FollowedResources(
      this.client,
      (changed) => this.#events.resourceUpdated(changed, this),
      this.#logger,
    );
    return this.#followed.follow(uri);
  }

  async unfollow(uri: string): Promise<void> {
    await this.#followed?.unfollow(uri);
    this.lastUsedMs = performance.now();
    if (this.isIdle) this.#events.idle(this);
  }
}
