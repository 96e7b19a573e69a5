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
  readonly redirectUri: string;
  /** The page of a ticket. */
  readonly pageOf: (ticket: string) => string;
}

/** One rejected request that is being dealt with. The others wait, so that a sign-in belongs to exactly one. */
class Attempt {
  /** Rejects as soon as a user is needed. */
  readonly needsUser: Promise<never>;
  readonly #finished: Promise<boolean>;
  #finish!: (isSignedIn: boolean) => void;
  #fail!: (error: AuthError) => void;

  constructor() {
    this.needsUser = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.needsUser.catch(() => {});
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** Begins a sign-in; `begin` gets the promise that says how it ends. */
  show(begin: (finished: Promise<boolean>) => SignInLink): void {
    const signIn = begin(this.#finished);
    this.#fail(new AuthError('interaction-required', 'The user has to sign in with the browser', { signIn }));
  }

  ended(isSignedIn: boolean): void {
    this.#finish(isSignedIn);
  }
}

/** The credentials of a caller, which can be forgotten. */
export interface UserAuthorizer extends Authorizer {
  /** What is in memory; its user has signed out. */
  forget(): void;
}

export function createUserAuthorizer(options: UserAuthorizerOptions): UserAuthorizer {
  const { owner, pending, redirectUri, pageOf, ...rest } = options;
  let attempt: Attempt | undefined;
  let over: Promise<void> | undefined;
  const redirector: Redirector = {
    prepare: async () => ({
      redirectUri,
      visit(visit) {
        let response: Promise<URLSearchParams> | undefined;
        attempt?.show((finished) => {
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
    attempt = own;
    const handled = work();
    const end = (isSignedIn: boolean): void => {
      own.ended(isSignedIn);
      attempt = undefined;
    };
    over = handled.then(
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
    headers: (url, request) => inner.headers(url, request),
    observe: (url, response) => inner.observe?.(url, response),
    async challenge(url, response, { signal, ...context } = {}) {
      while (attempt !== undefined) await unlessAborted(Promise.race([over, attempt.needsUser]), signal);
      // Without the signal and the time limit of this request: the sign-in goes on when it has ended.
      const { hold: _hold, ...rejected } = context;
      return unlessAborted(
        deal(() => inner.challenge(url, response, rejected)),
        signal,
      );
    },
  };
}
