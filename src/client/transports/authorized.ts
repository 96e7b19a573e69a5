// Sending with credentials. The time a user takes to sign in does not count, and a message whose caller cancelled is not
// sent once the user has signed in.

import type { AuthorizationHeaders, Authorizer, ChallengedResponse } from '../auth/authorizer.ts';
import { withAuthorization } from '../auth/with-authorization.ts';

type Abort = () => void;

/** One request that needs credentials. */
export interface AuthorizedRequest<R> {
  readonly authorizer: Authorizer;
  readonly url: URL;
  readonly method: string;
  /** Stops the clocks of those who wait, until the returned function is called. */
  hold(): () => void;
  /** Is called once with a function that aborts, whether it waits for a sign-in or for a response. */
  readonly onSent: ((abort: Abort) => void) | undefined;
  send(credentials: AuthorizationHeaders, onSent: (abort: Abort) => void): Promise<R>;
  discard(response: R): unknown;
}

/** Time limits are paused no longer than this: an authorizer that never settles must not stop them forever. */
const maxHoldMs = 10 * 60_000;

/** Sends until there is a response or a final rejection. */
export function sendAuthorized<R extends ChallengedResponse>(request: AuthorizedRequest<R>): Promise<R> {
  const { authorizer, url, method, onSent, discard } = request;
  const given = new AbortController();
  let abortSent: Abort = () => {};
  onSent?.(() => {
    given.abort(new Error('the request was cancelled'));
    abortSent();
  });
  return withAuthorization(
    authorizer.holdsTime === true ? authorizer : withPausedTimeouts(authorizer, () => request.hold()),
    url,
    { method, signal: given.signal, hold: () => request.hold() },
    (credentials) => {
      given.signal.throwIfAborted();
      return request.send(credentials, (abort) => {
        abortSent = abort;
      });
    },
    discard,
  );
}

/** For an authorizer that does not report when a user signs in: time limits are paused while it answers a challenge. */
function withPausedTimeouts(authorizer: Authorizer, hold: () => () => void): Authorizer {
  return {
    headers: (url, request) => authorizer.headers(url, request),
    async challenge(url, response, context) {
      const release = hold();
      const timer = setTimeout(release, maxHoldMs);
      timer.unref();
      try {
        return await authorizer.challenge(url, response, context);
      } finally {
        clearTimeout(timer);
        release();
      }
    },
    observe: (url, response) => authorizer.observe?.(url, response),
  };
}
