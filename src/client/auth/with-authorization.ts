// The loop around one HTTP request: add credentials, send, and if the response is a challenge the authorizer can meet,
// send again. Independent of how the transport sends, so the same loop serves POST, GET streams and upgrades.
import type {
  AuthorizationHeaders,
  Authorizer,
  ChallengeContext,
  ChallengedResponse,
  OutgoingRequest,
} from './authorizer.ts';

// The authorizer has its own, lower bound and a better message; this one stops a careless implementation.
const maxAttempts = 8;

/**
 * Sends a request until there is a response or a final rejection. `discard` frees the rejected response (its body) before
 * the next round; a response that is returned is untouched.
 */
export async function withAuthorization<R extends ChallengedResponse>(
  authorizer: Authorizer,
  url: string | URL,
  request: OutgoingRequest & Pick<ChallengeContext, 'hold'>,
  send: (headers: AuthorizationHeaders) => Promise<R>,
  discard: (response: R) => unknown = () => undefined,
): Promise<R> {
  for (let attempt = 1; ; attempt++) {
    const sent = await authorizer.headers(url, request);
    const response = await send(sent);
    authorizer.observe?.(url, response);
    if ((response.status !== 401 && response.status !== 403) || attempt > maxAttempts) return response;
    const { signal, hold } = request;
    const outcome = await authorizer.challenge(url, response, { attempt, sent, signal, hold }).catch(async (error) => {
      await discard(response);
      throw error;
    });
    if (outcome === 'fail') return response;
    await discard(response);
  }
}

/** A `fetch` that authorizes itself. Bodies must be repeatable: text or bytes, not a stream. */
export function createAuthorizedFetch(
  authorizer: Authorizer,
  fetchIt: typeof fetch = fetch,
): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return (url, init = {}) =>
    withAuthorization(
      authorizer,
      url,
      { method: init.method ?? 'GET', signal: init.signal ?? undefined },
      (credentials) => {
        const headers = new Headers(init.headers);
        for (const [name, value] of Object.entries(credentials)) headers.set(name, value);
        return fetchIt(url, { ...init, headers });
      },
      (response) => response.body?.cancel(),
    );
}
