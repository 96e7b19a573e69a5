// The response of a token endpoint, in the form that is stored, and when it should be refreshed. No requests.
import type { webcrypto } from 'node:crypto';
import type { ClientAuthMethod } from './client-identity.ts';

/** Ways to get a token; part of the storage key, so that a machine's token is never taken for a user's. */
export type GrantKind = 'authorization-code' | 'client-credentials' | 'enterprise' | 'token-exchange' | 'workload';

/** An access token, and what is known about it. */
export interface TokenSet {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly refreshToken?: string;
  /** Epoch milliseconds; absent when the server did not say. */
  readonly expiresAt?: number;
  /** When to refresh ahead of time. */
  readonly renewAt?: number;
  /** What was asked for, over all authorizations: the base of the next step-up. */
  readonly requestedScope: readonly string[];
  /** What was granted. */
  readonly grantedScope: readonly string[];
  /** The private key a DPoP token is bound to. */
  readonly dpopKey?: webcrypto.JsonWebKey;
  /** How to refresh as a client we registered ourselves, whose entry may have been replaced meanwhile. */
  readonly registration?: { readonly method: ClientAuthMethod; readonly clientSecret?: string };
}

/** A token response as the OAuth library leaves it. */
export interface TokenResponse {
  readonly accessToken: string;
  readonly tokenType: 'bearer' | 'dpop';
  readonly refreshToken: string | undefined;
  readonly expiresInSeconds: number | undefined;
  readonly scope: readonly string[] | undefined;
}

// Refreshing this long before the end hides clock differences and the time on the wire; short-lived tokens keep 80 %.
const renewMarginMs = 30_000;

/** Turns a response into the stored form. A refresh that returns no new refresh token or scope keeps the old ones. */
export function toTokenSet(
  response: TokenResponse,
  base: Pick<TokenSet, 'issuer' | 'resource' | 'clientId' | 'requestedScope' | 'dpopKey' | 'registration'>,
  previous?: TokenSet,
): TokenSet {
  const now = Date.now();
  const lifetimeMs = response.expiresInSeconds === undefined ? undefined : response.expiresInSeconds * 1000;
  const refreshToken = response.refreshToken ?? previous?.refreshToken;
  return {
    issuer: base.issuer,
    resource: base.resource,
    clientId: base.clientId,
    accessToken: response.accessToken,
    tokenType: response.tokenType,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(lifetimeMs === undefined
      ? {}
      : { expiresAt: now + lifetimeMs, renewAt: now + lifetimeMs - Math.min(renewMarginMs, lifetimeMs * 0.2) }),
    requestedScope: base.requestedScope,
    // RFC 6749 §5.1: an omitted scope means exactly what was asked for.
    grantedScope: response.scope ?? previous?.grantedScope ?? base.requestedScope,
    ...(response.tokenType === 'dpop' && base.dpopKey !== undefined ? { dpopKey: base.dpopKey } : {}),
    ...(base.registration === undefined ? {} : { registration: base.registration }),
  };
}

/** Whether a stored value still has the shape of a token set; stores can be edited by hand. */
export function isTokenSet(value: unknown): value is TokenSet {
  if (typeof value !== 'object' || value === null) return false;
  const set = value as Record<string, unknown>;
  const isStringList = (name: string) =>
    Array.isArray(set[name]) && set[name].every((each) => typeof each === 'string');
  const texts = ['issuer', 'resource', 'clientId', 'accessToken'].every((name) => typeof set[name] === 'string');
  const kind = set['tokenType'] === 'bearer' || (set['tokenType'] === 'dpop' && typeof set['dpopKey'] === 'object');
  return texts && kind && isStringList('requestedScope') && isStringList('grantedScope');
}
