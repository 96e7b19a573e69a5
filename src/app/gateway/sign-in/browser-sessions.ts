// Browsers on the sign-in pages: who uses each, once that is proven. A cookie that only this program can read names the session.

import { randomBytes } from 'node:crypto';
import { CallerBudget } from '../../../protocol/callers/caller-budget.ts';
import type { Principal } from '../../../security/auth/index.ts';
import type { Proof } from './prove-user.ts';

/** A sign-in takes minutes; users who open a link later prove again who they are. */
const sessionMs = 15 * 60 * 1_000;
/** Stops programs that request pages again and again from filling the memory; the oldest end. */
const maxSessions = 10_000;
/** Proofs that are open for one browser, one for each tab. */
const maxProofs = 10;
/**
 * For all browsers together. A proof takes some 40 KB, and anyone can begin one; beyond this, those of the address that has begun
 * most of them end, so that one visitor does not end the sign-ins of others.
 */
const maxOpenProofs = 2_500;

/** The browser is at the authorization server of the gateway, to prove who its user is; then it goes on to the page. */
export interface OpenProof extends Proof {
  readonly page: string;
  /** The address that has begun it, as a key. */
  readonly caller: string;
}

export interface BrowserSession {
  readonly id: string;
  readonly untilMs: number;
  /** Who the user of this browser is. */
  readonly principal?: Principal | undefined;
  /** One for each tab where a link was opened. */
  readonly proofs: readonly OpenProof[];
}

export class BrowserSessions {
  readonly #cookie: string;
  readonly #attributes: string;
  /** Those that end last are at the end. */
  readonly #sessions = new Map<string, BrowserSession>();
  /** Of all sessions. */
  readonly #openProofs = new CallerBudget(maxOpenProofs, maxOpenProofs);

  /** `isSecure`: the pages are at an https address. */
  constructor(isSecure: boolean) {
    // With this prefix, browsers accept the cookie from no other host.
    this.#cookie = isSecure ? '__Host-mooring-sign-in' : 'mooring-sign-in';
    // Lax: the browser comes back from another site.
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  find(cookies: string | undefined): BrowserSession | undefined {
    for (const each of (cookies ?? '').split(';')) {
      const [name, id = ''] = each.trim().split('=');
      if (name !== this.#cookie) continue;
      const session = this.#sessions.get(id);
      if (session !== undefined && session.untilMs > Date.now()) return session;
    }
    return undefined;
  }

  /** The browser goes to the authorization server of the gateway. Returns the header for it. */
  prove(before: BrowserSession | undefined, proof: OpenProof): string {
    const proofs = [...(before?.proofs ?? []), proof];
    for (const each of proofs.splice(0, proofs.length - maxProofs)) end(each);
    return this.#replace(before, { principal: before?.principal, proofs });
  }

  /** The user is known. `proof`: the one that says so. */
  proven(before: BrowserSession | undefined, principal: Principal, proof?: OpenProof): string {
    const others = (before?.proofs ?? []).filter((each) => each !== proof);
    return this.#replace(before, { principal, proofs: others });
  }

  /** The user is another one. */
  forgetUser(before: BrowserSession | undefined): string {
    return this.#replace(before, { proofs: before?.proofs ?? [] });
  }

  /** The browser goes to the authorization server of a server, and is back within the time that a sign-in may take. */
  extend(session: BrowserSession): void {
    // Another request of the same browser may have replaced it.
    if (!this.#sessions.delete(session.id)) return;
    this.#sessions.set(session.id, { ...session, untilMs: Date.now() + sessionMs });
  }

  /** A new session instead of the one before: an id from before is not one of a user who is known. */
  #replace(before: BrowserSession | undefined, content: Pick<BrowserSession, 'principal' | 'proofs'>): string {
    if (before !== undefined) this.#remove(before);
    const id = randomBytes(32).toString('base64url');
    const now = Date.now();
    this.#sessions.set(id, { id, untilMs: now + sessionMs, ...content });
    for (const { caller } of content.proofs) this.#openProofs.charge(caller);
    for (const [, each] of this.#sessions) {
      if (each.untilMs > now) break;
      this.#end(each);
    }
    if (this.#sessions.size > maxSessions) this.#end(this.#leastWanted());
    while (this.#openProofs.held > maxOpenProofs) this.#end(this.#leastWanted(({ proofs }) => proofs.length > 0));
    return `${this.#cookie}=${id}; ${this.#attributes}`;
  }

  /** The oldest of those that matter least. */
  #leastWanted(isMeant: (session: BrowserSession) => boolean = () => true): BrowserSession {
    let found: BrowserSession | undefined;
    for (const each of this.#sessions.values()) {
      if (!isMeant(each) || (found !== undefined && !this.#isLessWanted(each, found))) continue;
      found = each;
      // The usual case: no other caller can have more.
      if (each.principal === undefined && this.#openOfCaller(each) * 2 >= this.#openProofs.held) break;
    }
    return found as BrowserSession;
  }

  /** Anyone can open pages, but only users of the gateway are known. */
  #isLessWanted(session: BrowserSession, than: BrowserSession): boolean {
    const isKnown = session.principal !== undefined;
    if (isKnown !== (than.principal !== undefined)) return !isKnown;
    return this.#openOfCaller(session) > this.#openOfCaller(than);
  }

  #openOfCaller({ proofs }: BrowserSession): number {
    const last = proofs.at(-1);
    return last === undefined ? 0 : this.#openProofs.heldBy(last.caller);
  }

  #remove({ id, proofs }: BrowserSession): void {
    if (this.#sessions.delete(id)) for (const { caller } of proofs) this.#openProofs.release(caller);
  }

  #end(session: BrowserSession): void {
    this.#remove(session);
    for (const each of session.proofs) end(each);
  }
}

function end({ visit }: OpenProof): void {
  visit.end(new Error('The browser has not come back'));
}
