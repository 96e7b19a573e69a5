// Sessions in use: those with an open call, an open stream, or something in memory that could not be restored. All
// others exist only as the id that their client holds.

import { SlotSet } from '../../../common/slot-set.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Outlet, Peer, Principal, SessionChannel, SessionState } from '../../../protocol/exchange.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { AdmittedRequest } from '../exchange.ts';
import type { Heartbeat } from '../streams/event-stream.ts';
import type { Resumable } from '../streams/resumable-stream.ts';
import { StandaloneStream } from '../streams/standalone-stream.ts';
import type { OpenedSession } from './session-ids.ts';

const anonymousPeer: Peer = { transport: 'http' };

/** A POST that is not answered yet. */
export interface PendingCall {
  readonly principal: Principal | undefined;
  /** The caller whose limits it counts against. */
  readonly caller: string;
  /** When its connection was lost; undefined while there is one. */
  readonly abandonedAtMs: number | undefined;
  /** Its place among the calls of its session that are not answered yet. The session sets it. */
  slot: number;
  /** Answers it with an error. */
  fail(error: WireError): void;
}

/** A standalone stream, among those that several processes opened for one session: the newest one counts. */
export interface HeldStream {
  /** The position on the bus at which it was opened; undefined: not opened yet. */
  openedAt: number | undefined;
  /** The client was notified of all changes up to this position; undefined while it is connected. */
  seenUntil: number | undefined;
}

export class ActiveSession {
  readonly opened: OpenedSession;
  readonly #table: ActiveSessions;
  /** Set right after construction: the channel reports changes of its state to this object. */
  channel!: SessionChannel;
  /** Streams of open calls, by name. */
  #posts: Map<string, Resumable> | undefined;
  #standalone: StandaloneStream | undefined;
  /** Takes messages that belong to no request, and interim messages of calls without a stream; see compat-stream.ts. */
  compatOutlet: Outlet | undefined;
  /** The state as it is in the store. */
  state: SessionState | undefined = undefined;
  /** Whether it is in the table of sessions in use. */
  inTable = false;
  #exchanges = 0;
  #pending: SlotSet<PendingCall> | undefined;
  #uses = 0;
  /** With a bus: resolves when the state that was changed is in the store, and other processes know. */
  saved: Promise<void> | undefined = undefined;
  /** With a bus: the standalone stream of this session is here, or was here last. */
  heldStream: HeldStream | undefined = undefined;
  #ended = false;
  usedAtMs = 0;

  constructor(table: ActiveSessions, opened: OpenedSession) {
    this.#table = table;
    this.opened = opened;
  }

  get key(): string {
    return this.opened.key;
  }
  get ended(): boolean {
    return this.#ended;
  }
  get expiresAtMs(): number {
    return this.opened.expiresAtMs;
  }

  get log(): EventLog | undefined {
    return this.#table.endpoint.log;
  }
  /** The name of this process on the bus. */
  get process(): string | undefined {
    return this.#table.endpoint.bus?.process;
  }

  get heartbeat(): Heartbeat {
    return this.#table.endpoint.heartbeat;
  }
  mayStream(request: AdmittedRequest): boolean {
    return this.#table.endpoint.mayStream(request);
  }
  get posts(): Map<string, Resumable> {
    return (this.#posts ??= new Map());
  }
  get standalone(): StandaloneStream {
    const { maxMissedChanges } = this.#table.endpoint.limits;
    this.#standalone ??= new StandaloneStream(
      this.key,
      this.log,
      maxMissedChanges,
      () => callerKey(this.channel.peer),
      this.process,
    );
    return this.#standalone;
  }

  /** POSTs that are not answered yet. */
  get pending(): readonly PendingCall[] {
    return this.#pending?.values() ?? [];
  }

  /** Ends calls that have had no connection since that time. */
  failAbandoned(sinceMs: number): void {
    if (this.#pending === undefined) return;
    for (const call of this.#pending.values()) {
      if (call.abandonedAtMs !== undefined && call.abandonedAtMs <= sinceMs) call.fail(wireErrors.abandoned());
    }
  }

  /** Event streams: those of open calls, and the standalone one. */
  get streams(): number {
    return (this.#posts?.size ?? 0) + (this.#standalone?.connected === true ? 1 : 0);
  }

  pushCompat(text: string): boolean {
    return this.compatOutlet?.push(text) ?? false;
  }

  /** A message is about to be passed to the channel. */
  exchangeBegun(): void {
    this.#exchanges++;
  }

  /** It was not answered in the same turn of the event loop. */
  pend(call: PendingCall): void {
    this.#pending ??= new SlotSet();
    call.slot = this.#pending.add(call);
    this.#table.endpoint.requests.charge(call.caller);
    this.releaseIfIdle();
  }

  exchangeEnded(call: PendingCall): void {
    this.#exchanges--;
    if (this.#pending?.delete(call.slot, call) === true) this.#table.endpoint.requests.release(call.caller);
    this.releaseIfIdle();
  }

  /** Something needs this object until `useEnded`: its state is being saved, or a request waits for its turn. */
  useBegun(): void {
    this.#uses++;
    this.#table.keep(this);
  }

  useEnded(): void {
    this.#uses--;
    this.releaseIfIdle();
  }

  /** Something is open that needs this object. */
  get active(): boolean {
    return (
      this.#exchanges > 0 ||
      this.#uses > 0 ||
      this.compatOutlet !== undefined ||
      this.#standalone?.connected === true ||
      (this.#posts !== undefined && this.#posts.size > 0)
    );
  }

  /** Decides whether the session stays in memory. */
  releaseIfIdle(): void {
    if (this.#ended) return;
    if (this.active) return this.#table.keep(this);
    const holding = this.channel.session?.hasState === true;
    if (!holding && this.#standalone === undefined) {
      // A peer would keep its request and its socket in memory.
      this.channel.peer = anonymousPeer;
      this.#table.release(this);
      return;
    }
    // It collects changes for its client, which may reconnect soon.
    this.usedAtMs = Date.now();
    // With a bus, every process remembers what was changed lately, so a session does not collect it.
    if (holding && this.process === undefined) this.follow();
    this.#table.keep(this);
  }

  /** Ends the standalone stream, if it is connected. */
  releaseStream(): void {
    this.#standalone?.release();
    this.channel.setOutlet(undefined);
    this.releaseIfIdle();
  }

  follow(): void {
    this.channel.setOutlet(this.compatOutlet ?? this.standalone);
  }

  /** Changes that happened while no stream was open. */
  takeMissed(): Iterable<string> {
    return this.#standalone?.takeMissed() ?? [];
  }

  /** Ends streams and calls. The session itself may continue: its id is still valid. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.channel.close();
    this.#standalone?.close();
    for (const { caller } of this.pending) this.#table.endpoint.requests.release(caller);
    this.#pending = undefined;
  }
}

/** How long a session that holds nothing stays in memory after its stream was lost, in case the client reconnects. */
const idleGraceMs = 30_000;
const sweepMs = 10_000;

/** How many idle sessions are cached, so that the next request need not restore them. */
const maxRecent = 256;

/** A cache of sessions that were idle, oldest first. A session stays in it while requests use it: see SlotSet. */
class RecentSessions {
  readonly #sessions = new Map<OpenedSession, ActiveSession>();

  add(session: ActiveSession): void {
    const { opened } = session;
    if (this.#sessions.get(opened) === session) return;
    this.#sessions.set(opened, session);
    if (this.#sessions.size <= maxRecent) return;
    for (const oldest of this.#sessions.keys()) {
      this.#sessions.delete(oldest);
      return oldest.dropCaches();
    }
  }

  get(opened: OpenedSession): ActiveSession | undefined {
    return this.#sessions.get(opened);
  }

  delete(session: ActiveSession): void {
    if (this.#sessions.get(session.opened) === session) this.#sessions.delete(session.opened);
  }
}

export class ActiveSessions {
  readonly endpoint: EndpointState;
  readonly #sessions = new Map<string, ActiveSession>();
  readonly #recent = new RecentSessions();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(endpoint: EndpointState) {
    this.endpoint = endpoint;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(key: string): ActiveSession | undefined {
    return this.#sessions.get(key);
  }

  all(): ActiveSession[] {
    return [...this.#sessions.values()];
  }

  keep(session: ActiveSession): void {
    if (session.inTable) return;
    session.inTable = true;
    this.#sessions.set(session.key, session);
    this.#makeRoom();
    this.#sweeper ??= this.#startSweeper();
  }

  /** Takes a session out of use that has nothing open. It is cached for the next request. */
  release(session: ActiveSession): void {
    this.forget(session);
    this.#recent.add(session);
  }

  /** A session that was idle, if it is in the cache. */
  recent(opened: OpenedSession): ActiveSession | undefined {
    return this.#recent.get(opened);
  }

  /** Removes a session that has nothing open. */
  forget(session: ActiveSession): void {
    if (!session.inTable) return;
    session.inTable = false;
    this.#sessions.delete(session.key);
    if (this.#sessions.size === 0) this.stop();
  }

  /** Ends what a session has open and removes it. */
  drop(session: ActiveSession): void {
    this.forget(session);
    this.#recent.delete(session);
    session.close();
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Removes sessions that nothing is open in, the least recently used first. */
  #makeRoom(): void {
    let excess = this.#sessions.size - this.endpoint.limits.maxHeldSessions;
    if (excess <= 0) return;
    for (const session of this.#sessions.values()) {
      if (session.active) continue;
      this.drop(session);
      if (--excess <= 0) return;
    }
  }

  #startSweeper(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.#sweep(), Math.min(sweepMs, this.endpoint.limits.abandonedCallMs));
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  #sweep(): void {
    for (const session of this.#sessions.values()) {
      try {
        this.#sweepOne(session, Date.now());
      } catch (error) {
        this.endpoint.logger.error('a session could not be cleaned up', { error });
      }
    }
  }

  #sweepOne(session: ActiveSession, now: number): void {
    const { abandonedCallMs, heldSessionMs } = this.endpoint.limits;
    session.failAbandoned(now - abandonedCallMs);
    if (session.active) return;
    const keepMs = session.channel.session?.hasState === true ? heldSessionMs : idleGraceMs;
    if (session.usedAtMs + keepMs <= now || session.expiresAtMs <= now) this.drop(session);
  }
}
