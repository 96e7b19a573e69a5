// The credentials of one caller for one server, for which the caller signs in with the browser. A request that needs a sign-in
// fails with a link; the sign-in goes on meanwhile, and later requests find what it has yielded.

import {
  AuthError,
  type Authorizer,
  type AuthorizerOptions,
  type ChallengeOutcome,
  createAuthorizer,
  type Redirector,
  type SignInLink,
} from '../../../client/index.ts';
import { unlessAborted } from '../../../common/wait.ts';
import type { PendingSignIns, SignInOwner } from './pending-sign-ins.ts';

/** How long a user may take. */
const signInTimeoutMs = 10 * 60 * 1_000;

export interface UserAuthorizerOptions extends Omit<AuthorizerOptions, 'server' | 'redirector' | 'signInTimeoutMs'> {
  readonly owner: SignInOwner;
  readonly pending: PendingSignIns;
  readonly attempts: Attempts;
  readonly redirectUri: string;
  /** The page of a ticket. */
  readonly pageOf: (ticket: string) => string;
}

/** One rejected request that is being dealt with. The others wait, so that a sign-in belongs to exactly one. */
export class Attempt {
  /** Rejects as soon as a user is needed. */
  readonly needsUser: Promise<never>;
  /** Whether requests can be authorized now. */
  readonly finished: Promise<boolean>;
  #finish!: (isSignedIn: boolean) => void;
  #fail!: (error: AuthError) => void;
  #isShown = false;

  constructor() {
    this.needsUser = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.needsUser.catch(() => {});
    this.finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** The user got a link. */
  get isShown(): boolean {
    return this.#isShown;
  }

  /** Begins a sign-in; `begin` gets the promise that says how it ends. */
  show(begin: (finished: Promise<boolean>) => SignInLink): void {
    const signIn = begin(this.finished);
    this.#isShown = true;
    this.#fail(new AuthError('interaction-required', 'The user has to sign in with the browser', { signIn }));
  }

  ended(isSignedIn: boolean): void {
    this.#finish(isSignedIn);
  }
}

/**
 * The attempts of all callers, by server and caller. An entry that was changed, and another one with the same address, have the
 * same credentials, which only one attempt at a time can get.
 */
export type Attempts = Map<string, Attempt>;

/** The credentials of a caller, which can be forgotten. */
export interface UserAuthorizer extends Authorizer {
  /** What is in memory; its user has signed out. */
  forget(): void;
}

export function createUserAuthorizer(options: UserAuthorizerOptions): UserAuthorizer {
  const { owner, pending, attempts, redirectUri, pageOf, ...rest } = options;
  const key = JSON.stringify([owner.server, owner.principalKey]);
  const redirector: Redirector = {
    prepare: async () => ({
      redirectUri,
      visit(visit) {
        let response: Promise<URLSearchParams> | undefined;
        attempts.get(key)?.show((finished) => {
          const begun = pending.begin(owner, visit, pageOf, finished);
          response = begun.visit.response;
          return begun.link;
        });
        return response ?? Promise.reject(new Error('Nothing waits for this sign-in'));
      },
      close: async () => {},
    }),
  };
  const create = (): Authorizer => createAuthorizer({ ...rest, server: owner.server, signInTimeoutMs, redirector });
  let inner = create();
  const deal = (work: () => Promise<ChallengeOutcome>): Promise<ChallengeOutcome> => {
    const own = new Attempt();
    attempts.set(key, own);
    const handled = work();
    const end = (isSignedIn: boolean): void => {
      attempts.delete(key);
      // How often a user let a link expire does not count against the next one.
      if (own.isShown && !isSignedIn) inner = create();
      own.ended(isSignedIn);
    };
    handled.then(
      () => end(true),
      () => end(false),
    );
    return Promise.race([handled, own.needsUser]);
  };
  return {
    holdsTime: true,
    forget() {
      inner = create();
    },
    headers(url, request) {
      const headers = inner.headers(url, request);
      const other = headers instanceof Promise && attempts.get(key);
      // A token is refreshed after a sign-in that has begun: until then, its link is a better answer than none.
      return other ? Promise.race([headers, other.needsUser]) : headers;
    },
    observe: (url, response) => inner.observe?.(url, response),
    async challenge(url, response, { signal, ...context } = {}) {
      for (let other = attempts.get(key); other !== undefined; other = attempts.get(key)) {
        await unlessAborted(Promise.race([other.finished, other.needsUser]), signal);
      }
      // Without the signal and the time limit of this request: the sign-in goes on when it has ended.
      const { hold: _hold, ...rejected } = context;
      return unlessAborted(
        deal(() => inner.challenge(url, response, rejected)),
        signal,
      );
    },
  };
}
