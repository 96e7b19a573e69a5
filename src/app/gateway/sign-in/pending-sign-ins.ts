// The sign-ins of callers that have not ended. Each has a link with a ticket that cannot be guessed; the ticket alone is not
// enough, since links are forwarded: the pages ask who the user is.

import { randomBytes } from 'node:crypto';
import type { SignInLink, SignInVisit } from '../../../client/index.ts';
import { OpenVisit } from './open-visit.ts';

/** All callers together; stops callers that never sign in from filling the memory. The oldest ones end. */
const maxPending = 10_000;

/** Whose sign-in it is, and where. */
export interface SignInOwner {
  readonly principalKey: string;
  /** The server behind the gateway. */
  readonly slug: string;
  readonly server: string;
}

export interface PendingSignIn extends SignInOwner {
  readonly visit: OpenVisit;
  readonly link: SignInLink;
}

export class PendingSignIns {
  readonly #byTicket = new Map<string, PendingSignIn>();
  readonly #isOffered: (server: string) => boolean;
  readonly #signedIn: (owner: SignInOwner) => Promise<void>;

  /**
   * `isOffered`: whether a server is behind the gateway now; one that was removed gets no access. `signedIn`: called for each sign-in
   * that has succeeded; it has finished when this resolves.
   */
  constructor(isOffered: (server: string) => boolean, signedIn: (owner: SignInOwner) => Promise<void>) {
    this.#isOffered = isOffered;
    this.#signedIn = signedIn;
  }

  /** `authorized`: resolves when the credentials are there, or will not be. */
  begin(
    owner: SignInOwner,
    visit: SignInVisit,
    pageOf: (ticket: string) => string,
    authorized: Promise<boolean>,
  ): PendingSignIn {
    const ticket = randomBytes(32).toString('base64url');
    const finished = authorized.then(async (isSignedIn) => {
      this.#byTicket.delete(ticket);
      if (isSignedIn) await this.#signedIn(owner);
      return isSignedIn;
    });
    const link = { id: randomBytes(16).toString('base64url'), url: pageOf(ticket), finished };
    const pending: PendingSignIn = { ...owner, visit: new OpenVisit(visit), link };
    this.#byTicket.set(ticket, pending);
    const [oldest] = this.#byTicket;
    if (this.#byTicket.size > maxPending && oldest !== undefined) {
      this.#byTicket.delete(oldest[0]);
      oldest[1].visit.end(new Error('Too many sign-ins have not ended'));
    }
    return pending;
  }

  find(ticket: string): PendingSignIn | undefined {
    const found = this.#byTicket.get(ticket);
    return found !== undefined && this.#isOffered(found.server) ? found : undefined;
  }

  of(principalKey: string): readonly PendingSignIn[] {
    return [...this.#byTicket.values()].filter(
      (each) => each.principalKey === principalKey && this.#isOffered(each.server),
    );
  }
}
