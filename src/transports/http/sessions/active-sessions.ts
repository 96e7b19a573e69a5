// Sessions in use: those with a call under way, an open stream, or something in memory that could not be restored. All
// others exist only as the id their client holds.

import { callerKey } from '../../../protocol/caller-budget.ts';
import { type WireError, wireErrors } from '../../../protocol/errors.ts';
import type { Outlet, Peer, Principal, SessionChannel } from '../../../protocol/exchange.ts';
import type { EventLog } from '../../../protocol/ports.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { AdmittedRequest } from '../exchange.ts';
import type { Heartbeat } from '../streams/event-stream.ts';
import type { Resumable } from '../streams/resumable-stream.ts';
import { StandaloneStream } from '../streams/standalone-stream.ts';
import type { OpenedSession } from './session-ids.ts';

const anonymousPeer: Peer = { transport: 'http' };

/** An exchange that waits for its answer. */
export interface PendingCall {
  readonly principal: Principal | undefined;
  /** Against whose share it counts. */
  readonly caller: string;
  /** Since when there is no connection to answer on; undefined while there is one. */
  readonly abandonedAtMs: number | undefined;
  /** Answers it with an error. */
  fail(error: WireError): void;
}

export class ActiveSession {
  readonly known: OpenedSession;
  readonly #table: ActiveSessions;
  /** Set right after construction: the channel reports changes of its state to this object. */
  channel!: SessionChannel;
  /** Streams of calls under way, by name. */
  #posts: Map<string, Resumable> | undefined;
  #standalone: StandaloneStream | undefined;
  /** Takes what no request asked for, and interim messages of calls that may not stream; see compat-stream.ts. */
  compatOutlet: Outlet | undefined;
  /** The state as the store had it when this was made, or has it since. */
  state: unknown = undefined;
  /** Whether the table holds it. */
  inTable = false;
  #exchanges = 0;
  #pending: Set<PendingCall> | undefined;
  #saving = 0;
  #ended = false;
  usedAtMs = 0;

  constructor(table: ActiveSessions, known: OpenedSession) {
    this.#table = table;
    this.known = known;
  }

  get key(): string {
    return this.known.key;
  }
  get expiresAtMs(): number {
    return this.known.expiresAtMs;
  }

  get log(): EventLog | undefined {
    return this.#table.endpoint.log;
  }
  get heartbeat(): Heartbeat {
    return this.#table.endpoint.beat;
  }
  mayStream(request: AdmittedRequest): boolean {
    return this.#table.endpoint.mayStream(request);
  }
  get posts(): Map<string, Resumable> {
    return (this.#posts ??= new Map());
  }
  get standalone(): StandaloneStream {
    const { maxMissedChanges } = this.#table.endpoint.limits;
    this.#standalone ??= new StandaloneStream(this.key, this.log, maxMissedChanges, () => callerKey(this.channel.peer));
    return this.#standalone;
  }

  /** Exchanges that wait for their answer. */
  get pending(): readonly PendingCall[] {
    return [...(this.#pending ?? [])];
  }

  /** Ends calls that have had no connection since that moment. */
  failAbandoned(sinceMs: number): void {
    if (this.#pending === undefined) return;
    for (const call of [...this.#pending]) {
      if (call.abandonedAtMs !== undefined && call.abandonedAtMs <= sinceMs) call.fail(wireErrors.abandoned());
    }
  }

  pushCompat(text: string): boolean {
    return this.compatOutlet?.push(text) ?? false;
  }

  /** A message is about to be handed to the channel. */
  exchangeBegun(): void {
    this.#exchanges++;
  }

  /** It was not answered at once. */
  pend(call: PendingCall): void {
    this.#pending ??= new Set();
    this.#pending.add(call);
    this.#table.endpoint.requests.charge(call.caller);
    this.releaseIfIdle();
  }

  exchangeEnded(call: PendingCall): void {
    this.#exchanges--;
    if (this.#pending?.delete(call) === true) this.#table.endpoint.requests.release(call.caller);
    this.releaseIfIdle();
  }

  saveBegun(): void {
    this.#saving++;
    this.#table.keep(this);
  }

  saveEnded(): void {
    this.#saving--;
    this.releaseIfIdle();
  }

  /** Something is under way that needs this object. */
  get active(): boolean {
    return (
      this.#exchanges > 0 ||
      this.#saving > 0 ||
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
      // A peer leads to its request, its socket and all that.
      this.channel.peer = anonymousPeer;
      this.#table.release(this);
      return;
    }
    // What it watches is missed until it is back; one that was connected lately may be back soon.
    this.usedAtMs = Date.now();
    if (holding) this.follow();
    this.#table.keep(this);
  }

  follow(): void {
    this.channel.setOutlet(this.compatOutlet ?? this.standalone);
  }

  /** Changes that found no stream open. */
  takeMissed(): Iterable<string> {
    return this.#standalone?.takeMissed() ?? [];
  }

  /** Ends streams and calls; the session may still be valid elsewhere, or in its id. */
  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.channel.close();
    this.#standalone?.close();
    for (const { caller } of this.pending) this.#table.endpoint.requests.release(caller);
    this.#pending = undefined;
  }
}

/** How long a session without anything to keep is kept after its stream broke, in case the client comes back. */
const idleGraceMs = 30_000;
const sweepMs = 10_000;

/** How many sessions without anything to keep are at hand to be served again without being made anew. */
const maxRecent = 256;

/** The sessions that were served last, oldest first, in a ring. */
class RecentSessions {
  readonly #ring = new Array<OpenedSession | undefined>(maxRecent);
  #at = 0;

  add(live: ActiveSession): void {
    const { known } = live;
    known.recent = live;
    if (known.place !== undefined && this.#ring[known.place] === known) return;
    const oldest = this.#ring[this.#at];
    if (oldest !== undefined && oldest !== known) oldest.dropCaches();
    this.#ring[this.#at] = known;
    known.place = this.#at;
    this.#at = (this.#at + 1) % maxRecent;
  }

  take(known: OpenedSession): ActiveSession | undefined {
    const live = known.recent as ActiveSession | undefined;
    known.recent = undefined;
    return live;
  }
}

export class ActiveSessions {
  readonly endpoint: EndpointState;
  readonly #live = new Map<string, ActiveSession>();
  readonly #recent = new RecentSessions();
  #sweeper: ReturnType<typeof setInterval> | undefined;

  constructor(endpoint: EndpointState) {
    this.endpoint = endpoint;
  }

  get size(): number {
    return this.#live.size;
  }

  get(key: string): ActiveSession | undefined {
    return this.#live.get(key);
  }

  all(): ActiveSession[] {
    return [...this.#live.values()];
  }

  keep(live: ActiveSession): void {
    if (live.inTable) return;
    live.inTable = true;
    this.#live.set(live.key, live);
    this.#makeRoom();
    this.#sweeper ??= this.#startSweeper();
  }

  /** Takes a session out of use that has nothing open; what served it may do so again. */
  release(live: ActiveSession): void {
    this.forget(live);
    this.#recent.add(live);
  }

  /** What served this session last, if it is still at hand. */
  takeRecent(known: OpenedSession): ActiveSession | undefined {
    return this.#recent.take(known);
  }

  /** Lets go of a session that has nothing open. */
  forget(live: ActiveSession): void {
    if (!live.inTable) return;
    live.inTable = false;
    this.#live.delete(live.key);
    if (this.#live.size === 0) this.stop();
  }

  /** Ends whatever a session has open, and lets go of it. */
  drop(live: ActiveSession): void {
    this.forget(live);
    live.close();
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Those that only wait give way, the longest unused first; those in use do not. */
  #makeRoom(): void {
    let excess = this.#live.size - this.endpoint.limits.maxHeldSessions;
    if (excess <= 0) return;
    for (const live of this.#live.values()) {
      if (live.active) continue;
      this.drop(live);
      if (--excess <= 0) return;
    }
  }

  #startSweeper(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => this.#sweep(), Math.min(sweepMs, this.endpoint.limits.abandonedCallMs));
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  #sweep(): void {
    for (const live of this.#live.values()) {
      try {
        this.#sweepOne(live, Date.now());
      } catch (error) {
        this.endpoint.logger.error('a session could not be cleaned up', { error });
      }
    }
  }

  #sweepOne(live: ActiveSession, now: number): void {
    const { abandonedCallMs, heldSessionMs } = this.endpoint.limits;
    live.failAbandoned(now - abandonedCallMs);
    if (live.active) return;
    const patienceMs = live.channel.session?.hasState === true ? heldSessionMs : idleGraceMs;
    if (live.usedAtMs + patienceMs <= now || live.expiresAtMs <= now) this.drop(live);
  }
}
