// Maps the claims of a token, signed or introspected, to its principal.

import type { JsonObject, Meta } from '../../protocol/model.ts';
import type { Principal } from './contract.ts';

/** Claims as JSON. */
export type Claims = JsonObject;

/** Which scopes include which: `{ 'notes:write': ['notes:read'] }`. */
export type ScopeHierarchy = Readonly<Record<string, readonly string[]>>;

/** The principal of a token; undefined when the token has none. */
export function principalOf(claims: Claims, issuer: string, hierarchy: ScopeHierarchy): Principal | undefined {
  const id = idOf(claims);
  if (id === undefined) return undefined;
  const expires = claims['exp'];
  return {
    id,
    issuer,
    scopes: withImplied(scopesOf(claims), hierarchy),
    ...(typeof expires === 'number' ? { expiresAtMs: expires * 1000 } : {}),
    claims: claims as Meta,
  };
}

/** Claims that name the client a token was issued to: RFC 9068 and RFC 7662, OpenID Connect, and Okta. */
const clientClaims = ['client_id', 'azp', 'cid'] as const;

/**
 * The id of a user is the `sub` of their tokens; the id of a client that acts for itself is `client:` and its client id.
 * Clients may choose their id at some issuers, and could choose a user's (RFC 9700 §4.15), so the two never share a
 * namespace: a `sub` that looks like an id of the other kind is marked with `user:`. RFC 9068 §2.2 lets `sub` be the
 * client if no user is involved; a token whose `sub` is also its client is therefore a client's.
 */
function idOf(claims: Claims): string | undefined {
  const subject = textOf(claims['sub']);
  if (subject === undefined) {
    const client = textOf(claims['client_id']);
    return client === undefined ? undefined : `client:${client}`;
  }
  if (clientClaims.some((name) => claims[name] === subject)) return `client:${subject}`;
  return /^(?:client|user):/.test(subject) ? `user:${subject}` : subject;
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** `scope` is a space-separated text (RFC 6749); some issuers have a list in `scp`. */
function scopesOf(claims: Claims): string[] {
  const given = claims['scope'] ?? claims['scp'];
  const list = Array.isArray(given) ? given : typeof given === 'string' ? given.split(' ') : [];
  return list.filter((each): each is string => typeof each === 'string' && each !== '');
}

/** Adds included scopes, and those that they include. */
export function withImplied(scopes: readonly string[], hierarchy: ScopeHierarchy): string[] {
  const all = new Set(scopes);
  for (const scope of all) {
    for (const implied of Object.hasOwn(hierarchy, scope) ? (hierarchy[scope] as readonly string[]) : [])
      all.add(implied);
  }
  return [...all];
}

/** Whether a principal has all of these scopes. */
export const hasScopes = (principal: Principal | undefined, scopes: readonly string[]): boolean =>
  scopes.every((scope) => principal?.scopes?.includes(scope) === true);
