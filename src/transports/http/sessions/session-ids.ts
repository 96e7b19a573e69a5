// Session ids as sealed tokens: what `initialize` settled travels with the client, so an idle session needs no memory
// and every process with the key can serve it. An id is no credential: it is bound to the principal it was made for.

import { callerKey } from '../../../protocol/caller-budget.ts';
import { monotonicMs } from '../../../protocol/clock.ts';
import type { Peer, SessionFacts } from '../../../protocol/exchange.ts';
import { MarkBudget } from '../../../protocol/mark-budget.ts';
import type { Capabilities, Implementation, Json } from '../../../protocol/model.ts';
import type { ExpiringStore, Sealer } from '../../../protocol/ports.ts';
import { newSessionKey } from '../../../protocol/session-key.ts';
import type { HttpLimits } from '../limits.ts';
import { whenReady } from '../when-ready.ts';

const purpose = 'session';

/** A session id that was opened. Thousands of these are remembered, so they are small. */
export class OpenedSession {
  readonly key: string;
  readonly expiresAtMs: number;
  /** Undefined for one that was handed out before `initialize`. */
  readonly settled: NegotiatedFacts | undefined;
  /** Who it was made for. */
  readonly context: string;
  /** What served it last, to serve it again, and where that stands among its like; see active-sessions.ts. */
  recent: unknown = undefined;
  place: number | undefined = undefined;
  /** Where the store has its revocation and its state: spelled once for those in frequent use. */
  #revokedKey: string | undefined = undefined;
  #stateKey: string | undefined = undefined;
  /** It is not over before this moment on the monotonic clock. */
  #soundUntilMs = Number.NEGATIVE_INFINITY;
  readonly id: string;

  constructor(id: string, key: string, expiresAtMs: number, settled: NegotiatedFacts | undefined, context: string) {
    this.id = id;
    this.key = key;
    this.expiresAtMs = expiresAtMs;
    this.settled = settled;
    this.context = context;
  }

  get facts(): SessionFacts | undefined {
    return this.settled && { key: this.key, ...this.settled };
  }

  /**
   * Whether its time is over. Said by the time of day, since the clock that only goes forward stands still while the
   * machine sleeps; but asked for that only so often.
   */
  isExpired(nowMs: number): boolean {
    if (nowMs < this.#soundUntilMs) return false;
    const leftMs = this.expiresAtMs - Date.now();
    this.#soundUntilMs = nowMs + Math.min(leftMs, expiryCheckMs);
    return leftMs <= 0;
  }

  get revokedKey(): string {
    return (this.#revokedKey ??= `revoked ${this.key}`);
  }

  get stateKey(): string {
    return (this.#stateKey ??= `state ${this.key}`);
  }

  /** It has not been used for a while: what can be made again is not kept. */
  dropCaches(): void {
    this.recent = undefined;
    this.#revokedKey = undefined;
    this.#stateKey = undefined;
  }
}

/** What `initialize` settled but for the key: the same for all sessions of one client program. */
type NegotiatedFacts = Omit<SessionFacts, 'key'>;

/** How facts travel: revision, name and version of the client, its capabilities. */
type Packed = readonly [revision: string, name: string | null, version: string | null, capabilities: Capabilities];

/** Instead of facts: they are in the store, being too large to travel; or `initialize` was still to come. */
const storedMark = 'kept';
const reserved = 'reserved';

/** How many opened ids are remembered: opening one costs a tenth of a call, remembering it 300 bytes. */
const maxRemembered = 16_384;
/** For how long nobody looks whether the time of a session is over. */
const expiryCheckMs = 1_000;
/** How many kinds of client are. */
const maxNegotiated = 256;

export class SessionIds {
  readonly #sealer: Sealer;
  readonly #store: ExpiringStore;
  readonly #limits: HttpLimits;
  readonly #remembered = new TwoGenerationCache(maxRemembered);
  readonly #settled = new Map<string, NegotiatedFacts>();
  /** What callers made us remember of ended sessions. */
  readonly #revoked: MarkBudget;

  constructor(sealer: Sealer, store: ExpiringStore, limits: HttpLimits) {
    this.#sealer = sealer;
    this.#store = store;
    this.#limits = limits;
    const { maxRevokedSessions, maxRevokedSessionsPerCaller, sessionTtlMs } = limits;
    this.#revoked = new MarkBudget(maxRevokedSessions, maxRevokedSessionsPerCaller, sessionTtlMs);
  }

  /**
   * How long a caller has to wait before it may open a session, because of those it, or everyone together, has ended.
   * Undefined: it may open one now.
   */
  waitMs(peer: Pick<Peer, 'principal' | 'address'>): number | undefined {
    const caller = callerKey(peer);
    return this.#revoked.isFull(caller) ? this.#revoked.waitMs(caller) : undefined;
  }

  /** Makes the id of a session that `initialize` has settled. */
  create(facts: SessionFacts, context: string): string | Promise<string> {
    const expiresAtMs = Date.now() + this.#limits.sessionTtlMs;
    const { key, revision, clientInfo, capabilities } = facts;
    // Of the client only what handlers see; icons and descriptions are for people and may be large.
    const { name = null, version = null } = clientInfo ?? {};
    const packed = JSON.stringify([revision, name, version, capabilities] satisfies Packed);
    return whenReady(this.#seal(key, expiresAtMs, packed, context), (id) => {
      if (id.length <= this.#limits.maxSessionIdLength) return id;
      return whenReady(this.storeFacts(facts, expiresAtMs, context), () =>
        this.#seal(key, expiresAtMs, storedMark, context),
      );
    });
  }

  /** Makes an id for a session that has yet to be initialized. */
  reserve(context: string): OpenedSession | Promise<OpenedSession> {
    const key = newSessionKey();
    const expiresAtMs = Date.now() + this.#limits.sessionTtlMs;
    return whenReady(
      this.#seal(key, expiresAtMs, reserved, context),
      (id) => new OpenedSession(id, key, expiresAtMs, undefined, context),
    );
  }

  /** Keeps the facts of a session whose id does not carry them. */
  storeFacts({ key, ...settled }: SessionFacts, expiresAtMs: number, context: string): void | Promise<void> {
    return this.#store.set(`facts ${key}`, settled as unknown as Json, expiresAtMs - Date.now(), context);
  }

  /** What is sealed is one text, so that equal facts are recognized without being read again. */
  #seal(key: string, expiresAtMs: number, facts: string, context: string): string | Promise<string> {
    return this.#sealer.seal(purpose, `${key} ${expiresAtMs.toString(36)} ${facts}`, context);
  }

  /** Undefined for whatever is not a live session of this principal: forged, expired, revoked, somebody else's. */
  open(
    id: string,
    context: string,
    nowMs: number = monotonicMs(),
  ): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    if (id.length > this.#limits.maxSessionIdLength) return undefined;
    const remembered = this.#remembered.get(id);
    if (remembered !== undefined) {
      // Whoever asks must be the one it was made for, each time.
      return remembered.context === context ? this.#unrevoked(remembered, nowMs) : undefined;
    }
    return whenReady(this.#sealer.open(purpose, id, context), (opened) => {
      if (typeof opened !== 'string') return undefined;
      return whenReady(this.#read(id, opened, context), (session) => {
        // One that is not settled will be; remembering it would hide that.
        if (session?.settled !== undefined) this.#remembered.add(session);
        return session && this.#unrevoked(session, nowMs);
      });
    });
  }

  #read(id: string, opened: string, context: string): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    const first = opened.indexOf(' ');
    const second = opened.indexOf(' ', first + 1);
    // Copied out of the longer text, which would otherwise be held in memory for the sake of its part.
    const key = flatten(opened.slice(0, first));
    const expiresAtMs = Number.parseInt(opened.slice(first + 1, second), 36);
    const facts = opened.slice(second + 1);
    if (facts !== storedMark && facts !== reserved)
      return new OpenedSession(id, key, expiresAtMs, this.#unpack(facts), context);
    return whenReady(this.#store.get(`facts ${key}`), (stored) => {
      if (stored === undefined && facts === storedMark) return undefined;
      return new OpenedSession(id, key, expiresAtMs, stored as unknown as NegotiatedFacts | undefined, context);
    });
  }

  #unpack(packed: string): NegotiatedFacts {
    let settled = this.#settled.get(packed);
    if (settled === undefined) {
      const [revision, name, version, capabilities] = JSON.parse(packed) as Packed;
      const clientInfo = name === null ? undefined : ({ name, version: version ?? '' } as Implementation);
      settled = { revision, ...(clientInfo && { clientInfo }), capabilities };
      if (this.#settled.size >= maxNegotiated) this.#settled.clear();
      this.#settled.set(flatten(packed), settled);
    }
    return settled;
  }

  #unrevoked(session: OpenedSession, nowMs: number): OpenedSession | undefined | Promise<OpenedSession | undefined> {
    if (session.isExpired(nowMs)) return undefined;
    const mark = this.#store.get(session.revokedKey);
    if (mark instanceof Promise) return mark.then((found) => (found === undefined ? session : undefined));
    return mark === undefined ? session : undefined;
  }

  /**
   * Ends a session for good: the id is dead for every replica once this has returned true. False: there is no room to
   * remember that it ended, so it has not. Sessions that are open when no more may be opened can still be ended, as many
   * again as its caller may have ended.
   */
  revoke(session: OpenedSession, peer: Pick<Peer, 'principal' | 'address'>): boolean | Promise<boolean> {
    const caller = callerKey(peer);
    if (this.#revoked.isFull(caller, this.#limits.maxRevokedSessionsPerCaller)) return false;
    const { key, expiresAtMs, revokedKey, stateKey } = session;
    const ttlMs = expiresAtMs - Date.now();
    return whenReady(this.#store.add(revokedKey, true, ttlMs), (added) => {
      if (added) this.#revoked.charge(caller, ttlMs);
      return whenReady(this.#store.delete(`facts ${key}`), () => whenReady(this.#store.delete(stateKey), () => true));
    });
  }
}

/** A text of its own: a slice keeps the whole it was cut from. */
function flatten(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}

/** A bounded memory of what was used lately: two maps, the older one thrown away when the younger is full. */
class TwoGenerationCache {
  readonly #max: number;
  #young = new Map<string, OpenedSession>();
  #old = new Map<string, OpenedSession>();

  constructor(max: number) {
    this.#max = max / 2;
  }

  get(id: string): OpenedSession | undefined {
    const young = this.#young.get(id);
    if (young !== undefined) return young;
    const old = this.#old.get(id);
    if (old !== undefined) this.add(old);
    return old;
  }

  add(session: OpenedSession): void {
    if (this.#young.size >= this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(session.id, session);
  }
}
