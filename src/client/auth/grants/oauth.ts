// The only file that knows oauth4webapi: it turns our metadata, identities and bounded HTTP into the library's calls
// and its many errors into ours. Loaded on first use. The library was chosen over hand-written code because it is
// certified, has no dependencies, and keeps every check (PKCE, response shape, DPoP, assertions) explicit.
import type { webcrypto } from 'node:crypto';
import type * as oauth4webapi from 'oauth4webapi';
import type { ServerMetadata } from '../discovery/server-metadata.ts';
import { splitScope } from '../discovery/www-authenticate.ts';
import { AuthError, authErrors, type OAuthErrorInfo } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import type { ClientIdentity } from './client-identity.ts';
import { errorIn, lenientRegistration, withoutIdToken, withoutSecrets } from './response-fixes.ts';
import type { TokenResponse } from './tokens.ts';

type OAuthLibrary = typeof oauth4webapi;
type LibraryServer = oauth4webapi.AuthorizationServer;

let loading: Promise<OAuthLibrary> | undefined;
function library(): Promise<OAuthLibrary> {
  loading ??= import('oauth4webapi');
  return loading;
}

/** A key that DPoP tokens are bound to, with the nonces that servers sent. */
export interface DpopKey {
  readonly privateJwk: webcrypto.JsonWebKey;
  readonly handle: oauth4webapi.DPoPHandle;
}

/** What a request to the token endpoint needs: the server, and the identity of this client there. */
export interface TokenCall {
  readonly http: AuthHttp;
  readonly metadata: Pick<ServerMetadata, 'issuer' | 'tokenEndpoint'>;
  readonly client: ClientIdentity;
  readonly dpop?: DpopKey;
  readonly signal?: AbortSignal;
}

/** Fresh secrets of one authorization request. */
export async function createPkce(): Promise<{ verifier: string; challenge: string; state: string }> {
  const oauth = await library();
  const verifier = oauth.generateRandomCodeVerifier();
  return { verifier, challenge: await oauth.calculatePKCECodeChallenge(verifier), state: oauth.generateRandomState() };
}

/** Redeems an authorization code. State and issuer of `callback` have been checked; the library checks them again. */
export async function redeemCode(
  call: TokenCall & { readonly metadata: ServerMetadata },
  callback: { parameters: URLSearchParams; state: string; redirectUri: string; verifier: string },
  parameters: Record<string, string>,
): Promise<TokenResponse> {
  const oauth = await library();
  const server: LibraryServer = {
    ...toServer(call.metadata),
    authorization_response_iss_parameter_supported: call.metadata.namesItselfInResponses,
  };
  const client = { client_id: call.client.clientId };
  const checked = oauth.validateAuthResponse(server, client, callback.parameters, callback.state);
  return tokenRequest(call, 'authorization_code', async (options, auth) =>
    oauth.authorizationCodeGrantRequest(server, client, auth, checked, callback.redirectUri, callback.verifier, {
      ...options,
      additionalParameters: parameters,
    }),
  );
}

/** Exchanges a refresh token for new tokens. */
export async function refreshTokens(
  call: TokenCall,
  refreshToken: string,
  parameters: Record<string, string>,
): Promise<TokenResponse> {
  const oauth = await library();
  return tokenRequest(call, 'refresh_token', async (options, auth) =>
    oauth.refreshTokenGrantRequest(toServer(call.metadata), { client_id: call.client.clientId }, auth, refreshToken, {
      ...options,
      additionalParameters: parameters,
    }),
  );
}

/** What an exchange may yield (RFC 8693). */
export interface IssuedToken {
  /** By type; undefined: the server does not say. Default: any. */
  readonly types?: readonly (string | undefined)[];
  /** It is a grant for another server, whose token type is `N_A`. */
  readonly isGrant?: boolean;
}

/** Any other grant, by its name. */
export async function requestGrant(
  call: TokenCall,
  grant: string,
  parameters: Record<string, string>,
  issued: IssuedToken = {},
): Promise<TokenResponse> {
  const oauth = await library();
  return tokenRequest(
    call,
    grant,
    async (options, auth) => {
      const [server, client] = [toServer(call.metadata), { client_id: call.client.clientId }];
      const response = await oauth.genericTokenEndpointRequest(server, client, auth, grant, parameters, options);
      return withoutSecrets(response, [parameters['subject_token'], parameters['assertion']]);
    },
    issued,
  );
}

/** Registers a client (RFC 7591) and returns the document the server answers with. */
export async function registerClient(
  http: AuthHttp,
  metadata: ServerMetadata,
  document: Record<string, unknown>,
  signal?: AbortSignal,
): Promise<Record<string, unknown>> {
  const oauth = await library();
  const server: LibraryServer = { issuer: metadata.issuer, registration_endpoint: metadata.registrationEndpoint };
  try {
    const response = await oauth.dynamicClientRegistrationRequest(
      server,
      document as Partial<oauth4webapi.OmitSymbolProperties<oauth4webapi.Client>>,
      httpOptions(oauth, http, 'client registration', signal),
    );
    return await oauth.processDynamicClientRegistrationResponse(await lenientRegistration(response));
  } catch (error) {
    if (error instanceof AuthError || signal?.aborted) throw error;
    throw authErrors.registrationFailed(metadata.issuer, await oauthErrorOf(oauth, error), error);
  }
}

/** Sends the authorization request to the server directly (RFC 9126) and returns its reference. */
export async function pushAuthorization(
  call: TokenCall & { readonly metadata: ServerMetadata },
  parameters: URLSearchParams,
): Promise<string> {
  const oauth = await library();
  const server: LibraryServer = {
    ...toServer(call.metadata),
    pushed_authorization_request_endpoint: call.metadata.pushedAuthorizationEndpoint,
  };
  const client = { client_id: call.client.clientId };
  try {
    const options = httpOptions(oauth, call.http, 'pushed authorization request', call.signal);
    const response = await oauth.pushedAuthorizationRequest(
      server,
      client,
      authOf(oauth, call.client),
      parameters,
      options,
    );
    return (await oauth.processPushedAuthorizationResponse(server, client, response)).request_uri;
  } catch (error) {
    if (error instanceof AuthError || call.signal?.aborted) throw error;
    throw authErrors.authorizationDenied(await oauthErrorOf(oauth, error));
  }
}

/** Revokes a token (RFC 7009). For a token that it does not know, a server responds in the same way. */
export async function revokeToken(
  call: Omit<TokenCall, 'dpop'>,
  endpoint: string,
  token: string,
  hint: 'refresh_token' | 'access_token',
): Promise<void> {
  const oauth = await library();
  const server: LibraryServer = { ...toServer(call.metadata), revocation_endpoint: endpoint };
  const client = { client_id: call.client.clientId };
  try {
    const response = await oauth.revocationRequest(server, client, authOf(oauth, call.client), token, {
      ...httpOptions(oauth, call.http, 'the revocation of a token', call.signal),
      additionalParameters: { token_type_hint: hint },
    });
    await oauth.processRevocationResponse(response);
  } catch (error) {
    if (error instanceof AuthError || call.signal?.aborted) throw error;
    throw authErrors.revocationFailed(endpoint, await oauthErrorOf(oauth, error), error);
  }
}

/** A new DPoP key, or the one a stored token is bound to. */
export async function createDpopKey(stored?: webcrypto.JsonWebKey): Promise<DpopKey> {
  const oauth = await library();
  const pair =
    stored === undefined ? await oauth.generateKeyPair('ES256', { extractable: true }) : await importPair(stored);
  const privateJwk = stored ?? (await crypto.subtle.exportKey('jwk', pair.privateKey));
  return { privateJwk, handle: oauth.DPoP({}, pair) };
}

/** `authorization` and `dpop` headers for a request to the resource. */
export async function dpopHeaders(
  key: DpopKey,
  url: URL,
  method: string,
  accessToken: string,
): Promise<Record<string, string>> {
  const { headers } = await proveTo(key, url, method, accessToken, new Response());
  return { authorization: headers['authorization']!, dpop: headers['dpop']! };
}

/** Remembers a nonce for the next proofs to that origin. */
export async function rememberNonce(key: DpopKey, url: URL, nonce: string): Promise<void> {
  await proveTo(key, url, 'GET', 'none', new Response(null, { headers: { 'dpop-nonce': nonce } }));
}

/**
 * The library proves and remembers nonces only around a request it makes itself; the transport makes its own. So the
 * library is given a fetch that keeps the headers and answers at once with what the real server said.
 */
async function proveTo(key: DpopKey, url: URL, method: string, accessToken: string, answer: Response) {
  const oauth = await library();
  let headers: Record<string, string> = {};
  await oauth.protectedResourceRequest(accessToken, method, url, undefined, null, {
    DPoP: key.handle,
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: async (_url: string, init: { headers: Record<string, string> }) => {
      headers = init.headers;
      return answer;
    },
  });
  return { headers };
}

type TokenAttempt = (
  options: oauth4webapi.TokenEndpointRequestOptions,
  auth: oauth4webapi.ClientAuth,
) => Promise<Response>;

async function tokenRequest(
  call: TokenCall,
  grant: string,
  attempt: TokenAttempt,
  { types, isGrant = false }: IssuedToken = {},
): Promise<TokenResponse> {
  const oauth = await library();
  const server = toServer(call.metadata);
  const client = { client_id: call.client.clientId };
  const options: oauth4webapi.TokenEndpointRequestOptions = {
    ...httpOptions(oauth, call.http, 'a token', call.signal),
    ...(call.dpop === undefined ? {} : { DPoP: call.dpop.handle }),
  };
  const run = async () => {
    const response = await withoutIdToken(await attempt(options, authOf(oauth, call.client)));
    return oauth.processGenericTokenEndpointResponse(server, client, response, {
      // RFC 8693: what an exchange yields is not an access token, and says so.
      ...(isGrant ? { recognizedTokenTypes: { n_a: () => undefined } } : {}),
    });
  };
  try {
    const result = await run().catch((error: unknown) => {
      // The error response carried a nonce, which the DPoP handle has kept: retry once with it.
      if (oauth.isDPoPNonceError(error)) return run();
      throw error;
    });
    if (types?.includes(result['issued_token_type'] as string | undefined) === false) {
      throw authErrors.tokenResponseInvalid(call.metadata.tokenEndpoint, 'it is not the kind of token asked for');
    }
    return toTokenResponse(result);
  } catch (error) {
    if (error instanceof AuthError || call.signal?.aborted) throw error;
    const rejection = await oauthErrorOf(oauth, error);
    if (rejection.error === undefined && (rejection.status === undefined || rejection.status < 300)) {
      throw authErrors.tokenResponseInvalid(call.metadata.tokenEndpoint, (error as Error).message, error);
    }
    throw authErrors.tokenRequestFailed(call.metadata.tokenEndpoint, grant, rejection, error);
  }
}

function toTokenResponse(result: oauth4webapi.TokenEndpointResponse): TokenResponse {
  return {
    accessToken: result.access_token,
    tokenType: result.token_type === 'dpop' ? 'dpop' : 'bearer',
    refreshToken: result.refresh_token,
    expiresInSeconds: result.expires_in,
    scope: result.scope === undefined ? undefined : splitScope(result.scope),
  };
}

function toServer(metadata: Pick<ServerMetadata, 'issuer' | 'tokenEndpoint'>): LibraryServer {
  return { issuer: metadata.issuer, token_endpoint: metadata.tokenEndpoint };
}

/** Endpoints passed the URL guard, which knows about loopback; the library's own https rule is coarser. */
function httpOptions(oauth: OAuthLibrary, http: AuthHttp, what: string, signal?: AbortSignal) {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url: string, init: object) => http.request(what, url, init as RequestInit),
    ...(signal === undefined ? {} : { signal }),
  };
}

function authOf(oauth: OAuthLibrary, client: ClientIdentity): oauth4webapi.ClientAuth {
  if (client.method === 'private_key_jwt' && client.privateKey !== undefined)
    return oauth.PrivateKeyJwt(client.privateKey);
  if (client.method === 'client_secret_basic' && client.clientSecret !== undefined) return basic(client.clientSecret);
  if (client.method === 'client_secret_post' && client.clientSecret !== undefined) {
    return oauth.ClientSecretPost(client.clientSecret);
  }
  if (client.method === 'none') return oauth.None();
  throw authErrors.configuration(`client ${client.clientId} has no credential for ${client.method}`);
}

/**
 * The library's own version also escapes "-", "_" and ".", which form encoding leaves alone; servers that compare
 * without decoding would not know us.
 */
function basic(secret: string): oauth4webapi.ClientAuth {
  const form = (text: string) => new URLSearchParams([['', text]]).toString().slice(1);
  return (_server, client, _body, headers) => {
    const pair = `${form(client.client_id)}:${form(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

async function oauthErrorOf(oauth: OAuthLibrary, error: unknown): Promise<OAuthErrorInfo> {
  if (error instanceof oauth.ResponseBodyError) {
    return { status: error.status, error: error.error, description: error.error_description };
  }
  // An authentication challenge hides the body, which often says more; a plain status arrives as the cause.
  if (error instanceof oauth.WWWAuthenticateChallengeError) return errorIn(error.response);
  if (error instanceof Error && error.cause instanceof Response) return errorIn(error.cause);
  return { description: (error as Error).message };
}

async function importPair(jwk: webcrypto.JsonWebKey): Promise<oauth4webapi.CryptoKeyPair> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const { d: _private, key_ops: _operations, ...shared } = jwk;
  return {
    privateKey: await crypto.subtle.importKey('jwk', jwk, algorithm, true, ['sign']),
    publicKey: await crypto.subtle.importKey('jwk', shared, algorithm, true, ['verify']),
  };
}
