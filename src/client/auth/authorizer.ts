// The interfaces between an HTTP transport and what supplies its credentials. How a token is found,
// refreshed or stored is in create-authorizer.ts and the files beside it, how a transport retries in with-authorization.ts.

/** Header names (lower case) and values to add to one request. */
export type AuthorizationHeaders = Readonly<Record<string, string>>;

/** What the authorizer must know about a request to vouch for it (a DPoP proof covers the method). */
export interface OutgoingRequest {
  /** The HTTP method. */
  readonly method: string;
  /** Ends the wait for credentials. */
  readonly signal?: AbortSignal;
}

/** Response headers in either form: web `Headers`, or the record of `node:http`. */
export type ResponseHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The part of a rejected response that carries the challenge. The body is never read. */
export interface ChallengedResponse {
  /** 401 or 403. */
  readonly status: number;
  /** With `WWW-Authenticate`, where the server sent it. */
  readonly headers: ResponseHeaders;
}

/** What is known about a challenge. */
export interface ChallengeContext {
  /** Ends the wait for a user or a server. */
  readonly signal?: AbortSignal;
  /** Exactly what `headers()` returned for the rejected request: distinguishes a stale token from one refreshed meanwhile. */
  readonly sent?: AuthorizationHeaders;
  /** Stops the time limits of the request until the returned function is called; see `holdsTime`. */
  readonly hold?: () => () => void;
  /** 1 for the first rejection of a request, one more for each retry of the same request that is rejected again. */
  readonly attempt?: number;
}

/** `retry`: ask for headers again and repeat the request. `fail`: not a matter of authorization, show the response. */
export type ChallengeOutcome = 'retry' | 'fail';

/**
 * Supplies credentials to an HTTP transport, for one MCP server. Call `headers` before every request and `challenge`
 * on every 401 and 403; both never let a credential go to another origin. One authorizer serves any number of
 * concurrent requests: they share one refresh.
 */
export interface Authorizer {
  /**
   * It calls `context.hold` while a user is asked. Without this all of `challenge` is taken for asking a user, and
   * time limits are paused meanwhile.
   */
  readonly holdsTime?: boolean;
  /** Headers to add. Answers without a promise while a bearer token is fresh. */
  headers(url: string | URL, request: OutgoingRequest): AuthorizationHeaders | Promise<AuthorizationHeaders>;
  /** Reacts to a 401 or 403. Throws an `AuthError` that says what was tried and what to do. */
  challenge(url: string | URL, response: ChallengedResponse, context?: ChallengeContext): Promise<ChallengeOutcome>;
  /** Present where every response matters (a DPoP nonce may arrive with any of them). */
  observe?(url: string | URL, response: ChallengedResponse): void;
}

/** One header of a response in either shape, repeated fields joined as HTTP joins them. */
export function headerOf(headers: ResponseHeaders, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined;
  const value = headers[name];
  return value === undefined || typeof value === 'string' ? value : value.join(', ');
}
