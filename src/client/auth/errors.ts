// Every way in which authorization can fail is one row here: a string code for programs and a sentence for people.
// These are local errors; nothing of them goes to a peer. What a server said is quoted clipped and without control
// characters, so that a hostile description cannot redraw a terminal.

import { clean, quote } from '../untrusted-text.ts';

/** The error response of an authorization or registration endpoint. */
export interface OAuthErrorInfo {
  /** The HTTP status. */
  readonly status?: number;
  /** The code of RFC 6749, such as `invalid_grant`. */
  readonly error?: string;
  /** The description of the server. Untrusted. */
  readonly description?: string;
}

/** A sign-in that the user can finish with the browser, while the request that needs it has failed. */
export interface SignInLink {
  /** Identifies it; the same for all requests that need the same sign-in. */
  readonly id: string;
  /** The page where it begins. */
  readonly url: string;
  /** Resolves when it has ended, with whether requests can be authorized now. Never rejects. */
  readonly finished: Promise<boolean>;
}

/** A failed authorization. `code` is stable, `message` says what was tried and what to do next. */
export class AuthError extends Error {
  /** What failed, for programs. */
  readonly code: AuthErrorCode;
  /** URLs asked on the way, in order, where that helps. */
  readonly tried: readonly string[];
  /** The server's description, if there is one. */
  readonly oauthError: OAuthErrorInfo | undefined;
  /** The sign-in that is missing, where the user can begin it with a link. */
  readonly signIn: SignInLink | undefined;

  constructor(
    code: AuthErrorCode,
    message: string,
    options: { tried?: readonly string[]; oauthError?: OAuthErrorInfo; signIn?: SignInLink; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AuthError';
    this.code = code;
    this.tried = options.tried ?? [];
    this.oauthError = options.oauthError;
    this.signIn = options.signIn;
  }

  /** Whether an authorization response belongs to another sign-in, so that the own one goes on. */
  get isForeignResponse(): boolean {
    return this.code === 'state-mismatch' || this.code === 'state-replayed';
  }

  /** Whether the same may work later, without a new sign-in: the authorization server does not respond as it should. */
  get isTemporary(): boolean {
    if (this.code === 'token-request-failed') return !isRejection(this.oauthError);
    return this.code === 'unreachable' || this.code === 'token-response-invalid' || this.code === 'store-busy';
  }
}

/**
 * Whether a token endpoint has rejected the grant (RFC 6749 §5.2). Redirects, pages and other statuses come from what is in
 * front of it, such as a proxy or a page for maintenance.
 */
function isRejection({ status = 0, error }: OAuthErrorInfo = {}): boolean {
  if (status >= 500 || status === 429 || error === 'temporarily_unavailable' || error === 'server_error') return false;
  return error !== undefined || status === 400 || status === 401;
}

/** The codes, one per row of the table below. */
export type AuthErrorCode =
  | 'configuration'
  | 'insecure-url'
  | 'private-address'
  | 'unreachable'
  | 'resource-metadata-missing'
  | 'resource-metadata-invalid'
  | 'resource-mismatch'
  | 'server-metadata-missing'
  | 'server-metadata-invalid'
  | 'issuer-mismatch'
  | 'client-bound-elsewhere'
  | 'pkce-unsupported'
  | 'registration-unavailable'
  | 'registration-failed'
  | 'not-offered'
  | 'client-authentication-unsupported'
  | 'interaction-required'
  | 'interaction-timeout'
  | 'callback-invalid'
  | 'state-mismatch'
  | 'state-replayed'
  | 'callback-issuer-missing'
  | 'callback-issuer-mismatch'
  | 'authorization-denied'
  | 'token-request-failed'
  | 'token-response-invalid'
  | 'token-rejected'
  | 'revocation-failed'
  | 'insufficient-scope'
  | 'too-many-challenges'
  | 'dpop-unsupported'
  | 'dpop-unbound'
  | 'store-unsafe'
  | 'store-corrupt'
  | 'store-encrypted'
  | 'store-busy';

/** The sentences. */
export const authErrors = {
  configuration: (why: string) => new AuthError('configuration', `Authorization is misconfigured: ${why}`),
  insecureUrl: (what: string, url: string, why: string) =>
    new AuthError('insecure-url', `Cannot use ${what} ${quote(url)}: ${why}`),
  privateAddress: (what: string, url: string) =>
    new AuthError(
      'private-address',
      `Cannot use ${what} ${quote(url)}: the server points into a network that is closer to this machine than the server itself. A program can permit that with allowPrivateNetwork`,
    ),
  unreachable: (what: string, url: string, why: string, cause?: unknown) =>
    new AuthError('unreachable', `Could not get ${what} from ${quote(url)}: ${clean(why)}`, { tried: [url], cause }),
  resourceMetadataMissing: (tried: readonly string[]) =>
    new AuthError(
      'resource-metadata-missing',
      `The server names protected-resource metadata that cannot be found; tried ${list(tried)}`,
      { tried },
    ),
  resourceMetadataInvalid: (url: string, why: string) =>
    new AuthError('resource-metadata-invalid', `Protected-resource metadata at ${quote(url)} ${why}`, { tried: [url] }),
  resourceMismatch: (url: string, resource: string, server: string) =>
    new AuthError(
      'resource-mismatch',
      `Protected-resource metadata at ${quote(url)} describes ${quote(resource)}, not ${quote(server)}; a token for another resource is never requested`,
      { tried: [url] },
    ),
  serverMetadataMissing: (issuer: string, tried: readonly string[]) =>
    new AuthError(
      'server-metadata-missing',
      `The authorization server ${quote(issuer)} publishes no metadata; tried ${list(tried)}`,
      { tried },
    ),
  serverMetadataInvalid: (url: string, why: string) =>
    new AuthError('server-metadata-invalid', `Authorization server metadata at ${quote(url)} ${why}`, { tried: [url] }),
  issuerMismatch: (url: string, expected: string, received: string) =>
    new AuthError(
      'issuer-mismatch',
      `Authorization server metadata at ${quote(url)} claims issuer ${quote(received)} but ${quote(expected)} was expected; it will not be used`,
      { tried: [url] },
    ),
  clientBoundElsewhere: (clientId: string, bound: readonly string[], issuer: string) =>
    new AuthError(
      'client-bound-elsewhere',
      `Client ${quote(clientId)} is registered with ${list(bound)}, but the server now relies on ${quote(issuer)}. Its credentials are not sent there; register with the new authorization server first`,
    ),
  pkceUnsupported: (issuer: string, why: string) =>
    new AuthError('pkce-unsupported', `The authorization server ${quote(issuer)} ${why}; PKCE with S256 is required`),
  registrationUnavailable: (issuer: string) =>
    new AuthError(
      'registration-unavailable',
      `The authorization server ${quote(issuer)} offers neither client ID metadata documents we could use nor dynamic registration. Register a client there and pass its id as client: { clientId }`,
    ),
  registrationFailed: (issuer: string, oauthError: OAuthErrorInfo, cause?: unknown) =>
    new AuthError('registration-failed', `Registering with ${quote(issuer)} failed: ${said(oauthError)}`, {
      oauthError,
      cause,
    }),
  notOffered: (tried: readonly string[], cause?: unknown) =>
    new AuthError(
      'not-offered',
      `The server asks for authorization but offers no OAuth; tried ${list(tried)}. If it wants a fixed token, send that as a header`,
      { tried, cause },
    ),
  /** Where no user can sign in, so that the usual paths of servers without metadata are not tried. */
  notPublished: (tried: readonly string[]) =>
    new AuthError(
      'not-offered',
      `The server asks for authorization but publishes nothing about OAuth; tried ${list(tried)}. If it wants a fixed token, send that as a header. If it has OAuth without metadata, sign in once from a terminal`,
      { tried },
    ),
  clientAuthenticationUnsupported: (issuer: string, supported: readonly string[]) =>
    new AuthError(
      'client-authentication-unsupported',
      `The authorization server ${quote(issuer)} accepts only ${supported.join(', ')}, for which this client has no credential`,
    ),
  interactionRequired: () =>
    new AuthError(
      'interaction-required',
      'The server requires authorization, and no user can sign in here. Sign in once from a terminal, or use a grant for machines',
    ),
  interactionTimeout: (afterMs: number) =>
    new AuthError('interaction-timeout', `The sign-in was not completed within ${Math.round(afterMs / 1000)} s`),
  callbackInvalid: (why: string) =>
    new AuthError('callback-invalid', `The authorization response is malformed: ${why}; sign in again`),
  stateMismatch: () =>
    new AuthError(
      'state-mismatch',
      'The authorization response does not belong to this sign-in (state differs); discarded',
    ),
  stateReplayed: () => new AuthError('state-replayed', 'This authorization response was used before; sign in again'),
  callbackIssuerMissing: (issuer: string) =>
    new AuthError(
      'callback-issuer-missing',
      `${quote(issuer)} announces that it names itself in the authorization response, but did not; the code is not used`,
    ),
  // The untrusted value and any error text beside it are left out on purpose: RFC 9207 forbids acting on or showing them.
  callbackIssuerMismatch: (issuer: string) =>
    new AuthError(
      'callback-issuer-mismatch',
      `The authorization response names an issuer other than ${quote(issuer)}; the code is not used (possible mix-up attack)`,
    ),
  authorizationDenied: (oauthError: OAuthErrorInfo) =>
    new AuthError('authorization-denied', `The authorization server denied the request: ${said(oauthError)}`, {
      oauthError,
    }),
  tokenRequestFailed: (endpoint: string, grant: string, oauthError: OAuthErrorInfo, cause?: unknown) =>
    new AuthError('token-request-failed', `${quote(endpoint)} rejected the ${grant} grant: ${said(oauthError)}`, {
      tried: [endpoint],
      oauthError,
      cause,
    }),
  tokenResponseInvalid: (endpoint: string, why: string, cause?: unknown) =>
    new AuthError(
      'token-response-invalid',
      `${quote(endpoint)} returned a token response that cannot be used: ${clean(why)}`,
      {
        tried: [endpoint],
        cause,
      },
    ),
  tokenRejected: (server: string, oauthError: OAuthErrorInfo) =>
    new AuthError(
      'token-rejected',
      `${quote(server)} rejects the access token that was just issued for it: ${said(oauthError)}. The server and its authorization server do not agree; ask the operator`,
      { oauthError },
    ),
  revocationFailed: (endpoint: string, oauthError: OAuthErrorInfo, cause?: unknown) =>
    new AuthError('revocation-failed', `${quote(endpoint)} did not revoke a token: ${said(oauthError)}`, {
      tried: [endpoint],
      oauthError,
      cause,
    }),
  insufficientScope: (wanted: readonly string[], oauthError: OAuthErrorInfo) =>
    new AuthError(
      'insufficient-scope',
      `The server requires scope ${wanted.length > 0 ? quote(wanted.join(' ')) : 'it does not name'}, and another authorization will not help: ${said(oauthError)}`,
      { oauthError },
    ),
  tooManyChallenges: (attempts: number, oauthError: OAuthErrorInfo) =>
    new AuthError(
      'too-many-challenges',
      `Still rejected after ${attempts} authorization attempts: ${said(oauthError)}`,
      {
        oauthError,
      },
    ),
  dpopUnsupported: (issuer: string) =>
    new AuthError(
      'dpop-unsupported',
      `The server demands DPoP, but ${quote(issuer)} supports no proof algorithm this client has (ES256)`,
    ),
  dpopUnbound: (issuer: string) =>
    new AuthError('dpop-unbound', `${quote(issuer)} issued a token that is not bound to our DPoP key; it is not used`),
  storeUnsafe: (path: string, why: string) =>
    new AuthError('store-unsafe', `Cannot use the credential store ${path}: ${why}`),
  storeCorrupt: (path: string, kept: string, cause?: unknown) =>
    new AuthError(
      'store-corrupt',
      `The credential store ${path} is damaged. It was kept as ${kept}; run again to start with an empty one, and sign in again`,
      { cause },
    ),
  storeKeyInvalid: (variable: string) =>
    new AuthError(
      'configuration',
      `${variable} must be 32 random bytes in base64. You can create some with: openssl rand -base64 32`,
    ),
  storeEncrypted: (path: string, variable: string, hasKey: boolean) =>
    new AuthError(
      'store-encrypted',
      `The credential store ${path} is encrypted${hasKey ? ' with another key' : ''}. Set ${variable} to the key that it was written with, or delete the file and sign in again`,
    ),
  storeBusy: (path: string, holder: string) =>
    new AuthError(
      'store-busy',
      `${path} is locked by ${holder}; wait for it, or remove the file if that process is gone`,
    ),
} as const;

/** An OAuth error as a phrase. */
export function said(oauthError: OAuthErrorInfo): string {
  const parts = [
    oauthError.status === undefined ? undefined : `HTTP ${oauthError.status}`,
    oauthError.error === undefined ? undefined : clean(oauthError.error),
    oauthError.description === undefined ? undefined : quote(oauthError.description),
  ].filter((part) => part !== undefined);
  return parts.length > 0 ? parts.join(', ') : 'no reason given';
}

function list(items: readonly string[]): string {
  return items.length > 0 ? items.map((item) => quote(item)).join(', ') : 'nothing';
}
