// Sending with credentials. The time a person takes to sign in does not count, and a message whose caller gave up is not
// sent after all once the person has signed in.

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
  /** Told once how to give up, whether a sign-in is awaited or an answer. */
  readonly onSent: ((abort: Abort) => void) | undefined;
  send(credentials: AuthorizationHeaders, onSent: (abort: Abort) => void): Promise<R>;
  discard(response: R): unknown;
}

/** Clocks stand still no longer than this: an authorizer that never comes back must not stop them for ever. */
const maxHoldMs = 10 * 60_000;

/** Sends until it is answered or refused for good. */
export function sendAuthorized<R extends ChallengedResponse>(request: AuthorizedRequest<R>): Promise<R> {
  const { authorizer, url, method, onSent, discard } = request;
  const given = new AbortController();
  let abortSent: Abort = () => {};
  onSent?.(() => {
    given.abort(new Error('nobody waits for it any more'));
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

/** An authorizer that does not say when it asks a person: while it meets a challenge, the clocks stand still. */
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
