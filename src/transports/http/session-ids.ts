// Session ids as sealed tokens: what `initialize` settled travels with the client, so an idle session needs no memory
// and every process with the key can serve it. An id is no credential: it is bound to the principal it was made for.

import type { SessionFacts } from '../../protocol/exchange.ts';
import type { Capabilities, Implementation, Json } from '../../protocol/model.ts';
import type { ExpiringStore, Sealer } from '../../protocol/ports.ts';
import type { HttpLimits } from './limits.ts';
import { whenReady } from './ready.ts';

const purpose = 'session';

/** A session id that was opened. */
export class KnownSession {
  readonly key: string;
  readonly expiresAtMs: number;
  /** Undefined for one that was handed out before `initialize`. */
  readonly facts: SessionFacts | undefined;
  /** Where the store has its revocation and its state: spelled once, looked up with each request. */
  readonly revokedKey: string;
  readonly stateKey: string;
  /** What served it last, to serve it again; worth no more than the time to make it anew. */
  resting: unknown = undefined;

  constructor(key: string, expiresAtMs: number, facts: SessionFacts | undefined) {
    this.key = key;
    this.expiresAtMs = expiresAtMs;
    this.facts = facts;
    this.revokedKey = `revoked ${key}`;
    this.stateKey = `state ${key}`;
  }
}

/** What travels, in as few letters as the reader can bear. */
interface Sealed {
  readonly k: string;
  readonly e: number;
  readonly r?: string;
  readonly i?: Implementation;
  readonly c?: Capabilities;
  /** The facts are in the store: too large to travel, or `initialize` was still to come. */
  readonly s?: 'kept' | 'reserved';
}

/** How many opened ids are remembered. Opening one costs a tenth of a call; an entry is about half a kilobyte. */
const maxRemembered = 2048;

export class SessionIds {
  readonly #sealer: Sealer;
  readonly #store: ExpiringStore;
  readonly #limits: HttpLimits;
  readonly #remembered = new Generations<{ readonly context: string; readonly session: KnownSession }>(maxRemembered);

  constructor(sealer: Sealer, store: ExpiringStore, limits: HttpLimits) {
    this.#sealer = sealer;
    this.#store = store;
    this.#limits = limits;
  }

  /** Makes the id of a session that `initialize` has settled. */
  mint(facts: SessionFacts, context: string): string | Promise<string> {
    const e = Date.now() + this.#limits.sessionTtlMs;
    const { key: k, revision: r, clientInfo, capabilities } = facts;
    // Of the client only what handlers see; icons and descriptions are for people and may be large.
    const i = clientInfo && { name: String(clientInfo.name), version: String(clientInfo.version) };
    return whenReady(this.#seal({ k, e, r, ...(i && { i }), c: capabilities }, context), (id) => {
      if (id.length <= this.#limits.maxSessionIdLength) return id;
      return whenReady(this.settle(facts, e), () => this.#seal({ k, e, s: 'kept' }, context));
    });
  }

  /** Makes an id for a session that has yet to be initialized. */
  reserve(context: string): { readonly known: KnownSession; readonly id: string | Promise<string> } {
    const known = new KnownSession(crypto.randomUUID(), Date.now() + this.#limits.sessionTtlMs, undefined);
    const id = this.#seal({ k: known.key, e: known.expiresAtMs, s: 'reserved' }, context);
    return { known, id };
  }

  /** Keeps the facts of a session whose id does not carry them. */
  settle(facts: SessionFacts, expiresAtMs: number): void | Promise<void> {
    return this.#store.set(`facts ${facts.key}`, facts as unknown as Json, expiresAtMs - Date.now());
  }

  #seal(sealed: Sealed, context: string): string | Promise<string> {
    return this.#sealer.seal(purpose, sealed as unknown as Json, context);
  }

  /** Undefined for whatever is not a live session of this principal: forged, expired, revoked, somebody else's. */
  open(id: string, context: string): KnownSession | undefined | Promise<KnownSession | undefined> {
    if (id.length > this.#limits.maxSessionIdLength) return undefined;
    const remembered = this.#remembered.get(id);
    // Whoever asks must be whom it was made for, each time.
    if (remembered !== undefined) {
      return remembered.context === context ? this.#unrevoked(remembered.session) : undefined;
    }
    return whenReady(this.#sealer.open(purpose, id, context), (opened) => {
      if (opened === undefined) return undefined;
      return whenReady(this.#read(opened as unknown as Sealed), (session) => {
        // One that is not settled will be; remembering it would hide that.
        if (session?.facts !== undefined) this.#remembered.set(id, { context, session });
        return session && this.#unrevoked(session);
      });
    });
  }

  #read({ k: key, e: expiresAtMs, r, i, c, s }: Sealed): KnownSession | undefined | Promise<KnownSession | undefined> {
    if (s === undefined) {
      const facts = { key, revision: r as string, ...(i && { clientInfo: i }), capabilities: c ?? {} };
      return new KnownSession(key, expiresAtMs, facts);
    }
    return whenReady(this.#store.get(`facts ${key}`), (stored) => {
      if (stored === undefined && s === 'kept') return undefined;
      return new KnownSession(key, expiresAtMs, stored as unknown as SessionFacts | undefined);
    });
  }

  #unrevoked(session: KnownSession): KnownSession | undefined | Promise<KnownSession | undefined> {
    if (session.expiresAtMs <= Date.now()) return undefined;
    const mark = this.#store.get(session.revokedKey);
    if (mark instanceof Promise) return mark.then((found) => (found === undefined ? session : undefined));
    return mark === undefined ? session : undefined;
  }

  /** Ends a session for good. The id is dead for every replica once this has returned. */
  revoke({ key, expiresAtMs, revokedKey, stateKey }: KnownSession): void | Promise<void> {
    const ttlMs = expiresAtMs - Date.now();
    return whenReady(this.#store.set(revokedKey, true, ttlMs), () =>
      whenReady(this.#store.delete(`facts ${key}`), () => this.#store.delete(stateKey)),
    );
  }
}

/** A bounded memory of what was used lately: two maps, the older one thrown away when the younger is full. */
class Generations<V> {
  readonly #max: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(max: number) {
    this.#max = max / 2;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
