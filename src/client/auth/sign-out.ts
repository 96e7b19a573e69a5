// The end of a sign-in: what is stored is forgotten, and the authorization server is asked to revoke its tokens.
import type { AuthorizerOptions } from './authorizer-options.ts';
import { findServerMetadata } from './discovery/server-metadata.ts';
import { AuthError } from './errors.ts';
import { revokeToken } from './grants/oauth.ts';
import { identityOf } from './grants/registration.ts';
import type { TokenSet } from './grants/tokens.ts';
import { type AuthHttp, createAuthHttp } from './http.ts';
import { assertAuthOptions } from './known-options.ts';
import type { CredentialStore } from './storage/credential-store.ts';
import { Credentials, type ServerBinding } from './storage/credentials.ts';

/** What the authorizer was created with; the store is where the tokens are. */
export interface SignOutOptions extends AuthorizerOptions {
  /** Where the tokens are. */
  readonly store: CredentialStore;
  /** Aborts the revocation; stored credentials are deleted in any case. */
  readonly signal?: AbortSignal;
}

/** What came of signing out. */
export interface SignedOut {
  /** The authorization server that had given out the tokens. */
  readonly issuer: string;
  /** Whether it revoked them: `not-offered` where it has no way to be asked, so that they stay valid until they expire. */
  readonly revocation: 'done' | 'not-offered' | 'failed';
  /** Why it failed. */
  readonly error?: AuthError;
}

/**
 * Forgets the tokens for an MCP server and has them revoked (RFC 7009) where the authorization server can. Resolves
 * with undefined when there were none. The registration of this client stays: it belongs to the authorization server
 * and is not a credential of a user. An authorizer that is in use keeps what it holds in memory.
 */
export async function signOut(options: SignOutOptions): Promise<SignedOut | undefined> {
  assertAuthOptions('signOut', options);
  const http = createAuthHttp(options.server, options);
  const credentials = new Credentials(options.store, http.guard.server, options.grant?.kind ?? 'authorization-code');
  const held = await credentials.lock(() => take(credentials), { signal: options.signal });
  if (held === undefined) return undefined;
  const { issuer } = held.tokens;
  try {
    const asked = await revoke(held, http, credentials, options);
    return { issuer, revocation: asked ? 'done' : 'not-offered' };
  } catch (error) {
    if (!(error instanceof AuthError)) throw error;
    return { issuer, revocation: 'failed', error };
  }
}

interface StoredSignIn {
  readonly binding: ServerBinding;
  readonly tokens: TokenSet;
}

/** Out of the store before anything can fail: a user who signs out must not stay signed in. */
async function take(credentials: Credentials): Promise<StoredSignIn | undefined> {
  const binding = await credentials.binding();
  if (binding === undefined) return undefined;
  const tokens = await credentials.tokens(binding.issuer, binding.resource);
  await credentials.forgetTokens(binding.issuer, binding.resource);
  await credentials.unbind();
  return tokens === undefined ? undefined : { binding, tokens };
}

/** False where there is no revocation endpoint, or no registered client. */
async function revoke(
  { binding, tokens }: StoredSignIn,
  http: AuthHttp,
  credentials: Credentials,
  options: SignOutOptions,
): Promise<boolean> {
  // The fixed paths of 2025-03-26 name no place for it.
  if (binding.defaults) return false;
  const { signal } = options;
  const metadata = await findServerMetadata(http, tokens.issuer, { signal });
  const { revocationEndpoint } = metadata;
  const client = await identityOf(tokens, metadata, options, credentials);
  if (revocationEndpoint === undefined || client === undefined) return false;
  http.guard.check('revocation_endpoint', revocationEndpoint);
  const call = { http, metadata, client, signal };
  // The refresh token first: many servers then revoke everything that was issued for this sign-in.
  if (tokens.refreshToken !== undefined) {
    await revokeToken(call, revocationEndpoint, tokens.refreshToken, 'refresh_token');
  }
  await revokeToken(call, revocationEndpoint, tokens.accessToken, 'access_token');
  return true;
}
