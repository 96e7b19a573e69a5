// Browsers on the sign-in pages: who uses each, once that is proven. A cookie that only this program can read names the session.

import { randomBytes } from 'node:crypto';
import type { Principal } from '../../../security/auth/index.ts';
import type { OpenVisit } from './open-visit.ts';

/** A sign-in takes minutes; whoever opens a link later proves again who they are. */
const sessionMs = 15 * 60 * 1_000;
/** Stops programs that request pages again and again from filling the memory; the oldest end. */
const maxSessions = 10_000;

export interface BrowserSession {
  readonly id: string;
  readonly untilMs: number;
  /** Who the user of this browser is. */
  readonly principal?: Principal;
  /** The browser is at the authorization server of the gateway, to prove it; then it goes on to the page. */
  readonly proof?: { readonly visit: OpenVisit; readonly principal: Promise<Principal>; readonly page: string };
}

export class BrowserSessions {
  readonly #cookie: string;
  readonly #attributes: string;
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

  /** A new session instead of the one before: an id from before is not one of a user who is known. Returns the header for it. */
  replace(before: BrowserSession | undefined, content: Pick<BrowserSession, 'principal' | 'proof'>): string {
    if (before !== undefined) this.#sessions.delete(before.id);
    const id = randomBytes(32).toString('base64url');
    this.#sessions.set(id, { id, untilMs: Date.now() + sessionMs, ...content });
    if (this.#sessions.size > maxSessions) this.#sessions.delete(this.#sessions.keys().next().value as string);
    return `${this.#cookie}=${id}; ${this.#attributes}`;
  }
}
