// The authorization code flow with PKCE, from a known authorization server to a token: a user signs in elsewhere and
// comes back with a code. Where that server was found and where the token goes is not decided here.

import type { Discovery } from '../discovery/discovery.ts';
import type { ServerMetadata } from '../discovery/server-metadata.ts';
import { AuthError, authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { createResponseValidator } from './authorization-response.ts';
import type { ClientIdentity } from './client-identity.ts';
import { createPkce, type DpopKey, pushAuthorization, redeemCode } from './oauth.ts';
import type { RedirectListener, Redirector } from './redirect.ts';
import type { TokenResponse } from './tokens.ts';

/** One sign-in. */
export interface SignIn {
  readonly http: AuthHttp;
  readonly discovery: Discovery;
  readonly scopes: readonly string[];
  readonly redirector: Redirector;
  /** The redirect URI of an earlier registration. */
  readonly preferredRedirect: string | undefined;
  /** Finds our identity once the redirect URI is known. */
  readonly identify: (redirectUri: string) => Promise<ClientIdentity>;
  /** Parameters besides those of OAuth. */
  readonly extraParams: Readonly<Record<string, string>>;
  readonly dpop?: DpopKey;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Runs the flow. The verifier, the state and the recorded issuer live in this call and nowhere else. */
export async function signIn(request: SignIn): Promise<{ response: TokenResponse; client: ClientIdentity }> {
  const { metadata } = request.discovery;
  const endpoint = metadata.authorizationEndpoint;
  if (endpoint === undefined) throw authErrors.serverMetadataInvalid(metadata.issuer, 'has no authorization_endpoint');
  requirePkce(metadata);
  const { preferredRedirect: preferred, signal } = request;
  const stop = await request.redirector.prepare({ preferred, signal });
  try {
    const client = await request.identify(stop.redirectUri);
    return { response: await travel(request, new URL(endpoint), stop, client), client };
  } finally {
    await stop.close();
  }
}

async function travel(request: SignIn, endpoint: URL, stop: RedirectListener, client: ClientIdentity) {
  const { http, discovery, scopes, extraParams, dpop, signal } = request;
  const { metadata, resource } = discovery;
  const { verifier, challenge, state } = await createPkce();
  const parameters = new URLSearchParams({
    ...extraParams,
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: stop.redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    resource,
  });
  if (scopes.length > 0) parameters.set('scope', scopes.join(' '));
  // OpenID Connect Core §11 grants offline access only with explicit consent.
  if (scopes.includes('offline_access') && !parameters.has('prompt')) parameters.set('prompt', 'consent');
  if (dpop !== undefined) parameters.set('dpop_jkt', await dpop.handle.calculateThumbprint());

  const call = { http, metadata, client, dpop, signal };
  const pushed = metadata.requiresPushedAuthorization && metadata.pushedAuthorizationEndpoint !== undefined;
  const sent = pushed
    ? new URLSearchParams({ client_id: client.clientId, request_uri: await pushAuthorization(call, parameters) })
    : parameters;
  for (const [name, value] of sent) endpoint.searchParams.set(name, value);

  const validate = createResponseValidator({
    state,
    issuer: metadata.issuer,
    issuerPromised: metadata.namesItselfInResponses,
  });
  const callback = await visit(request, stop, endpoint, validate);
  return redeemCode(call, { parameters: callback, state, redirectUri: stop.redirectUri, verifier }, { resource });
}

async function visit(
  { timeoutMs, signal }: SignIn,
  stop: RedirectListener,
  url: URL,
  validate: (parameters: URLSearchParams) => void,
): Promise<URLSearchParams> {
  // Not AbortSignal.timeout, which would keep everything about a sign-in in memory for that time after it has ended.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs).unref();
  try {
    return await stop.visit({
      url,
      validate,
      signal: signal === undefined ? timeout.signal : AbortSignal.any([signal, timeout.signal]),
    });
  } catch (error) {
    if (!(error instanceof AuthError) && timeout.signal.aborted && !signal?.aborted)
      throw authErrors.interactionTimeout(timeoutMs);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Servers found by the older rules never had to list their methods; a list without S256 is always rejected. */
function requirePkce({ issuer, codeChallengeMethods, source }: ServerMetadata): void {
  if (codeChallengeMethods === undefined) {
    if (source === 'issuer') throw authErrors.pkceUnsupported(issuer, 'does not say that it supports PKCE');
    return;
  }
  if (!codeChallengeMethods.includes('S256')) {
    throw authErrors.pkceUnsupported(issuer, `supports only ${codeChallengeMethods.join(', ') || 'no method at all'}`);
  }
}
