// Tokens without a sign-in: client credentials, a workload's own assertion (RFC 7523), enterprise-managed authorization, where
// the company's identity provider vouches for a user who is already signed in there, and the exchange of a user's token.

import type { Discovery } from '../discovery/discovery.ts';
import { findServerMetadata, type ServerMetadata, tokenOnlyMetadata } from '../discovery/server-metadata.ts';
import { authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { type ClientIdentity, type PreRegisteredClient, toIdentity } from './client-identity.ts';
import { type DpopKey, requestGrant, type TokenCall } from './oauth.ts';
import type { TokenResponse } from './tokens.ts';

/** What an assertion is needed for. */
export interface AssertionRequest {
  /** The authorization server: the audience of the assertion. */
  readonly issuer: string;
  /** The server that the token is for (RFC 8707). */
  readonly resource: string;
  /** The scopes that the token should have. */
  readonly scopes: readonly string[];
}

/** A token issued elsewhere, or a function that gets a new one. */
export type AssertionSource = string | ((need: AssertionRequest) => string | Promise<string>);

/** The kinds of token that can be exchanged (RFC 8693, section 3). */
export type SubjectTokenType = 'access_token' | 'id_token' | 'jwt' | 'refresh_token' | 'saml1' | 'saml2';

/** How a machine gets its tokens. */
export type MachineGrant =
  | { readonly kind: 'client-credentials' }
  | { readonly kind: 'workload'; readonly assertion: AssertionSource }
  | {
      readonly kind: 'enterprise';
      /** The ID token or SAML assertion of the signed-in user. */
      readonly subjectToken: AssertionSource;
      readonly subjectTokenType?: 'id_token' | 'saml2' | 'refresh_token';
      /** The identity provider, and our client there. The token endpoint is discovered unless given. */
      readonly identityProvider: PreRegisteredClient & { readonly issuer: string; readonly tokenEndpoint?: string };
    }
  | {
      readonly kind: 'token-exchange';
      /** The token of the user for whom the server is called. Only the `issuer` of the client gets it, so that must be set. */
      readonly subjectToken: AssertionSource;
      /** Default `access_token`. */
      readonly subjectTokenType?: SubjectTokenType;
    };

/** One token to get. */
export interface MachineRequest {
  readonly http: AuthHttp;
  readonly discovery: Discovery;
  readonly client: ClientIdentity;
  readonly scopes: readonly string[];
  /** Parameters besides those of OAuth. */
  readonly extraParams: Readonly<Record<string, string>>;
  readonly dpop?: DpopKey;
  readonly signal?: AbortSignal;
}

const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const tokenExchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
const tokenType = (name: string): string => `urn:ietf:params:oauth:token-type:${name}`;
const idJag = tokenType('id-jag');
/** What may be sent to the server; some authorization servers do not say what they issued. Refresh and ID tokens are for us only. */
const sendable = [tokenType('access_token'), tokenType('jwt'), undefined];

/** Gets a token. A rejection is final: no other grant is tried instead. */
export async function requestMachineToken(grant: MachineGrant, request: MachineRequest): Promise<TokenResponse> {
  const { metadata, resource } = request.discovery;
  const { http, client, dpop, signal } = request;
  const call: TokenCall = { http, metadata, client, dpop, signal };
  const parameters = { ...request.extraParams, resource, ...scopeOf(request.scopes) };
  if (grant.kind === 'client-credentials') return requestGrant(call, 'client_credentials', parameters);
  const need: AssertionRequest = { issuer: metadata.issuer, resource, scopes: request.scopes };
  if (grant.kind === 'token-exchange') {
    const subject = await subjectOf(grant, 'access_token', need);
    const issued = await requestGrant(call, tokenExchange, { ...parameters, ...subject }, { types: sendable });
    // The server must never get the token of the user, which others accept.
    if (issued.accessToken !== subject.subject_token) return issued;
    throw authErrors.tokenResponseInvalid(metadata.tokenEndpoint, 'it contains the token that was to be exchanged');
  }
  const assertion =
    grant.kind === 'workload' ? await obtain(grant.assertion, need) : await exchange(grant, request, need);
  return requestGrant(call, jwtBearer, { ...parameters, assertion });
}

/** Token exchange (RFC 8693) at the identity provider: the user's token for a grant that our server accepts. */
async function exchange(
  grant: MachineGrant & { kind: 'enterprise' },
  request: MachineRequest,
  need: AssertionRequest,
): Promise<string> {
  const { identityProvider: provider } = grant;
  // The configuration names the provider, so it may be closer in the network than the MCP server.
  const http = request.http.toward(provider.issuer);
  const { signal } = request;
  const metadata = await providerMetadata(provider, http, signal);
  const { accessToken } = await requestGrant(
    { http, metadata, client: await toIdentity(provider, metadata), signal },
    tokenExchange,
    {
      requested_token_type: idJag,
      audience: need.issuer,
      resource: need.resource,
      ...scopeOf(need.scopes),
      ...(await subjectOf(grant, 'id_token', need)),
    },
    { types: [idJag], isGrant: true },
  );
  return accessToken;
}

async function providerMetadata(
  provider: { issuer: string; tokenEndpoint?: string },
  http: AuthHttp,
  signal: AbortSignal | undefined,
): Promise<ServerMetadata> {
  if (provider.tokenEndpoint === undefined) return findServerMetadata(http, provider.issuer, { signal });
  http.guard.check('the identity provider', provider.tokenEndpoint);
  return tokenOnlyMetadata(provider.issuer, provider.tokenEndpoint);
}

async function subjectOf(
  grant: { readonly subjectToken: AssertionSource; readonly subjectTokenType?: SubjectTokenType },
  defaultType: SubjectTokenType,
  need: AssertionRequest,
): Promise<{ readonly subject_token: string; readonly subject_token_type: string }> {
  return {
    subject_token: await obtain(grant.subjectToken, need),
    subject_token_type: tokenType(grant.subjectTokenType ?? defaultType),
  };
}

async function obtain(source: AssertionSource, need: AssertionRequest): Promise<string> {
  const token = typeof source === 'string' ? source : await source(need);
  if (token === '') throw authErrors.configuration('the assertion is empty');
  return token;
}

function scopeOf(scopes: readonly string[]): Record<string, string> {
  return scopes.length === 0 ? {} : { scope: scopes.join(' ') };
}
