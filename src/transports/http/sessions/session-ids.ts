// Session ids as sealed tokens: what `initialize` negotiated is in the id that the client holds, so an idle session needs
// no memory and every process with the key can serve it. An id is not a credential: it is bound to its principal.

import { monotonicMs } from '../../../common/clock.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { MarkBudget } from '../../../protocol/callers/mark-budget.ts';
import type { Peer, SessionFacts, SessionState } from '../../../protocol/exchange.ts';
import type { Capabilities, Implementation, Json } from '../../../protocol/model.ts';
import type { Bus, ExpiringStore, Sealer } from '../../../protocol/ports.ts';
import { newSessionKey } from '../../../protocol/session-key.ts';
import type { HttpLimits } from '../limits.ts';
import { whenReady } from '../when-ready.ts';
import { type CheckedSession, CheckedSessions } from './checked-sessions.ts';

const purpose = 'session';

/** The state of a session, as the store had it. */
interface CachedState {
  readonly state: SessionState | undefined;
  /** When the store was asked for it, or it was changed here, on the monotonic clock. */
  readonly readAtMs: number;
}

/** A session id that was opened. Thousands of these are cached, so they are small. */
export class OpenedSession implements CheckedSession {
  readonly id: string;
  readonly key: string;
  readonly expiresAtMs: number;
  /** Undefined for an id that was reserved before `initialize`. */
  readonly negotiated: NegotiatedFacts | undefined;
  /** The principal it was created for. */
  readonly context: string;
  /** Names of its revocation and its state in the store, cached while the session is used often. */
  #revokedKey: string | undefined = undefined;
  #stateKey: string | undefined = undefined;
  checkedAtMs = Number.NEGATIVE_INFINITY;
  /** It was ended: a reply of the store that is older than that must not make it valid again. */
  isEnded = false;
  /** With a bus: its state in the store, if that is known and small. It is current if it was read after `checkedAtMs`. */
  cachedState: CachedState | undefined = undefined;
  /** It does not expire before this time on the monotonic clock. */
  #validUntilMs = Number.NEGATIVE_INFINITY;

  constructor(id: string, key: string, expiresAtMs: number, negotiated: NegotiatedFacts | undefined, context: string) {
    this.id = id;
    this.key = key;
    this.expiresAtMs = expiresAtMs;
    this.negotiated = negotiated;
    this.context = context;
  }

  get facts(): SessionFacts | undefined {
    return this.negotiated && { key: this.key, ...this.negotiated };
  }

  /**
   * Whether it has expired. The time of day decides, since the monotonic clock stops while the machine sleeps, but it is
   * read only once in `expiryCheckMs`.
   */
  isExpired(nowMs: number): boolean {
    if (nowMs < this.#validUntilMs) return false;
    const leftMs = this.expiresAtMs - Date.now();
    this.#validUntilMs = nowMs + Math.min(leftMs, expiryCheckMs);
    return leftMs <= 0;
  }

  get revokedKey(): string {
    return (this.#revokedKey ??= `revoked ${this.key}`);
  }

  get stateKey(): string {
    return (this.#stateKey ??= `state ${this.key}`);
  }

  /** Frees memory when the session has not been used for a while. */
  dropCaches(): void {
    this.#revokedKey = undefined;
    this.#stateKey = undefined;
  }
}

/** What `initialize` negotiated, without the key: the same for all sessions of one client program. */
type NegotiatedFacts = Omit<SessionFacts, 'key'>;

/** The facts in an id: revision, name and version of the client, its capabilities. */
type PackedFacts = readonly [revision: string, name: string | null, version: string | null, capabilities: Capabilities];

/** What is sealed. The facts are one text, so that equal facts are recognized without being parsed again. */
type SealedId = readonly [key: string, expiresAtMs: number, facts: string];

/** In place of facts: they are in the store because they are too large, or `initialize` was still to come. */
const storedMark = 'stored';
const reservedMark = 'reserved';

/**
 * How many opened ids are cached at least: those used last. Opening one costs a fifth of a call (bench sessions, "CPU µs
 * with all"), caching it 300 bytes.
 */
const minCached = 16_384;
/** How often the time of day is compared with the expiry of a session in use. */
const expiryCheckMs = 1_000;
/** How many different facts are cached: one for each kind of client. */
const maxCachedFacts = 256;

export class SessionIds {
  readonly #sealer: Sealer;
  readonly #store: ExpiringStore;
  readonly #limits: HttpLimits;
  readonly #bus: Bus | undefined;
  #cache = new TwoGenerationCache(minCached);
  /** The epoch of the bus that the cached ids belong to. */
  #epoch: string;
  /** By their text in the id. */
  readonly #facts = new Map<string, NegotiatedFacts>();
  /** How many ended sessions are stored because of which caller. */
  readonly #revoked: MarkBudget;
  readonly #checked: CheckedSessions;

  constructor(sealer: Sealer, store: ExpiringStore, limits: HttpLimits, bus?: Bus) {
    this.#checked = new CheckedSessions(bus, limits.maxStaleMs);
    this.#bus = bus;
    this.#epoch = bus?.epoch ?? '';
    bus?.onGap(() => this.#checkEpoch());
    this.#sealer = sealer;
    this.#store = store;
    this.#limits = limits;
    const { maxRevokedSessions, maxRevokedSessionsPerCaller, sessionTtlMs } = limits;
    this.#revoked = new MarkBudget(maxRevokedSessions, maxRevokedSessionsPerCaller, sessionTtlMs);
  }

  /**
   * How long a caller must wait before it may open a session, because it, or all callers together, ended too many.
   * Undefined: it may open one now.
   */
  waitMs(peer: Pick<Peer, 'principal' | 'address'>): number | undefined {
    const caller = callerKey(peer);
    return this.#revoked.isFull(caller) ? this.#revoked.waitMs(caller) : undefined;
  }

  /** Creates the id of a session that `initialize` negotiated. */
  create(facts: SessionFacts, context: string): string | Promise<string> {
    const expiresAtMs = Date.now() + this.#limits.sessionTtlMs;
    const { key, revision, clientInfo, capabilities } = facts;
    // Only the part of the client's description that handlers see: icons and texts may be large.
    const { name = null, version = null } = clientInfo ?? {};
    const packed = JSON.stringify([revision, name, version, capabilities] satisfies PackedFacts);
    return whenReady(this.#seal(key, expiresAtMs, packed, context), (id) => {
      if (id.length <= this.#limits.maxSessionIdLength) return id;
      return whenReady(this.storeFacts(facts, expiresAtMs, context), () =>
        this.#seal(key, expiresAtMs, storedMark, context),
      );
    });
  }

  /** Creates the id of a session that will be initialized later. */
  reserve(context: string): OpenedSession | Promise<OpenedSession> {
    const key = newSessionKey();
    const expiresAtMs = Date.now() + this.#limits.sessionTtlMs;
    return whenReady(
      this.#seal(key, expiresAtMs, reservedMark, context),
      (id) => new OpenedSession(id, key, expiresAtMs, undefined, context),
    );
  }

  /** Stores the facts of a session whose id does not contain them. */
  storeFacts({ key, ...negotiated }: SessionFacts, expiresAtMs: number, context: string): void | Promise<void> {
    return this.#store.set(`facts ${key}`, negotiated as unknown as Json, expiresAtMs - Date.now(), context);
  }

  #seal(key: string, expiresAtMs: number, facts: string, context: string): string | Promise<string> {
    const content: SealedId = [key, expiresAtMs, facts];
    return this.#sealer.seal(purpose, content as unknown as Json, this.#bound(context));
  }

  /** What an id is bound to: its principal, and the epoch of the store that knows which sessions were ended. */
  #bound(context: string): string {
    return this.#epoch === '' ? context : `${this.#epoch}\u0000${context}`;
  }

  #checkEpoch(): void {
    const epoch = this.#bus?.epoch ?? '';
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    this.#cache = new TwoGenerationCache(minCached);
  }

  /** Undefined for anything but a valid session of this principal: forged, expired, revoked, or of another principal. */
  open(
    id: string,
    context: string,
    nowMs: number = monotonicMs(),
  ): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    if (id.length > this.#limits.maxSessionIdLength) return undefined;
    const cached = this.#cache.get(id);
    if (cached !== undefined) {
      // The principal is compared on each request, also for a cached id.
      return cached.context === context ? this.check(cached, nowMs) : undefined;
    }
    return whenReady(this.#sealer.open(purpose, id, this.#bound(context)), (content) => {
      if (!Array.isArray(content)) return undefined;
      return whenReady(this.#decode(id, content as unknown as SealedId, context), (session) => {
        // A reserved session is not cached: it changes when it is initialized.
        if (session?.negotiated !== undefined) this.#cache.add(session);
        return session && this.check(session, nowMs);
      });
    });
  }

  #decode(
    id: string,
    [key, expiresAtMs, facts]: SealedId,
    context: string,
  ): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    if (facts !== storedMark && facts !== reservedMark)
      return new OpenedSession(id, key, expiresAtMs, this.#unpack(facts), context);
    return whenReady(this.#store.get(`facts ${key}`), (stored) => {
      if (stored === undefined && facts === storedMark) return undefined;
      return new OpenedSession(id, key, expiresAtMs, stored as unknown as NegotiatedFacts | undefined, context);
    });
  }

  #unpack(packed: string): NegotiatedFacts {
    let facts = this.#facts.get(packed);
    if (facts === undefined) {
      const [revision, name, version, capabilities] = JSON.parse(packed) as PackedFacts;
      const clientInfo = name === null ? undefined : ({ name, version: version ?? '' } as Implementation);
      facts = { revision, ...(clientInfo && { clientInfo }), capabilities };
      if (this.#facts.size >= maxCachedFacts) this.#facts.clear();
      this.#facts.set(packed, facts);
    }
    return facts;
  }

  /** Undefined: the session was ended, or has expired. */
  check(session: OpenedSession, nowMs = monotonicMs()): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    if (session.isEnded || session.isExpired(nowMs)) return undefined;
    if (this.#checked.isCurrent(session, nowMs)) return session;
    const found = (mark: Json | undefined): OpenedSession | undefined => {
      session.isEnded ||= mark !== undefined;
      if (session.isEnded) return undefined;
      if (session.checkedAtMs === Number.NEGATIVE_INFINITY) session.cachedState = undefined;
      session.checkedAtMs = nowMs;
      return session;
    };
    const mark = this.#store.get(session.revokedKey);
    if (!(mark instanceof Promise)) return found(mark);
    return mark.then(found, (error: unknown) => {
      if (!session.isEnded && this.#checked.mayBeStale(session, nowMs)) return session;
      throw error;
    });
  }

  /** Whether a session was changed or ended since it was checked, so that it must be checked again. */
  takeChange(session: OpenedSession): boolean {
    return this.#checked.takeChange(session);
  }

  /** The state of a session while the store cannot be asked; undefined if it is not known, or was changed since. */
  staleState({ key, checkedAtMs, cachedState }: OpenedSession): CachedState | undefined {
    if (cachedState === undefined) return undefined;
    const known = { key, checkedAtMs: Math.min(checkedAtMs, cachedState.readAtMs) };
    return this.#checked.mayBeStale(known, monotonicMs()) ? cachedState : undefined;
  }

  /** The session was ended, or its state was changed: what is known of it must be looked up again. */
  changed(key: string): void {
    this.#checked.changed(key);
  }

  /** Ends a session of which only the key is known, on behalf of the operator: no limit of a caller applies. */
  revokeKey(key: string): void | Promise<void> {
    return whenReady(this.#store.add(`revoked ${key}`, true, this.#limits.sessionTtlMs), () => {
      this.#checked.changed(key);
      return whenReady(this.#store.delete(`facts ${key}`), () => this.#store.delete(`state ${key}`));
    });
  }

  /**
   * Ends a session: once this has returned true, this process does not accept its id any more, and no replica does so
   * for longer than `maxCheckAgeMs`. False: the caller has ended too many sessions
   * that are still stored, so this one was not ended. The limit here is twice that of `waitMs`, so that sessions that
   * were open when it was reached can be ended.
   */
  revoke(session: OpenedSession, peer: Pick<Peer, 'principal' | 'address'>): boolean | Promise<boolean> {
    const caller = callerKey(peer);
    if (this.#revoked.isFull(caller, this.#limits.maxRevokedSessionsPerCaller)) return false;
    const { key, expiresAtMs, revokedKey, stateKey } = session;
    const ttlMs = expiresAtMs - Date.now();
    return whenReady(this.#store.add(revokedKey, true, ttlMs), (added) => {
      this.#checked.changed(key);
      if (added) this.#revoked.charge(caller, ttlMs);
      return whenReady(this.#store.delete(`facts ${key}`), () => whenReady(this.#store.delete(stateKey), () => true));
    });
  }
}

/**
 * A bounded cache of what was used lately: two maps. When the young one is full, the old one is discarded, so it holds
 * at least the given number of ids and at most twice as many.
 */
class TwoGenerationCache {
  readonly #generation: number;
  #young = new Map<string, OpenedSession>();
  #old = new Map<string, OpenedSession>();

  constructor(generation: number) {
    this.#generation = generation;
  }

  get(id: string): OpenedSession | undefined {
    const young = this.#young.get(id);
    if (young !== undefined) return young;
    const old = this.#old.get(id);
    if (old !== undefined) this.add(old);
    return old;
  }

  add(session: OpenedSession): void {
    if (this.#young.size >= this.#generation) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(session.id, session);
  }
}
