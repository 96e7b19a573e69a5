// Browsers on the sign-in pages: who uses each, once that is proven. A cookie that only this program can read names the session.

import { randomBytes } from 'node:crypto';
import type { Principal } from '../../../security/auth/index.ts';
import type { Proof } from './prove-user.ts';

/** A sign-in takes minutes; users who open a link later prove again who they are. */
const sessionMs = 15 * 60 * 1_000;
/** Stops programs that request pages again and again from filling the memory; the oldest end. */
const maxSessions = 10_000;
/** The same for one browser. */
const maxProofs = 10;

/** The browser is at the authorization server of the gateway, to prove who its user is; then it goes on to the page. */
export interface OpenProof extends Proof {
  readonly page: string;
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
    this.#sessions.delete(session.id);
    this.#sessions.set(session.id, { ...session, untilMs: Date.now() + sessionMs });
  }

  /** A new session instead of the one before: an id from before is not one of a user who is known. */
  #replace(before: BrowserSession | undefined, content: Pick<BrowserSession, 'principal' | 'proofs'>): string {
    if (before !== undefined) this.#sessions.delete(before.id);
    const id = randomBytes(32).toString('base64url');
    const now = Date.now();
    this.#sessions.set(id, { id, untilMs: now + sessionMs, ...content });
    for (const [, each] of this.#sessions) {
      if (each.untilMs > now) break;
      this.#end(each);
    }
    if (this.#sessions.size > maxSessions) this.#end(this.#leastWanted());
    return `${this.#cookie}=${id}; ${this.#attributes}`;
  }

  /** Anybody can open pages, but only users of the gateway are known. */
  #leastWanted(): BrowserSession {
    const [oldest] = this.#sessions.values();
    for (const each of this.#sessions.values()) if (each.principal === undefined) return each;
    return oldest as BrowserSession;
  }

  #end(session: BrowserSession): void {
    this.#sessions.delete(session.id);
    for (const each of session.proofs) end(each);
  }
}

function end({ visit }: OpenProof): void {
  visit.end(new Error('The browser has not come back'));
}
