// From the claims about a token, signed or looked up, to the principal it stands for.

import type { Meta } from '../../protocol/model.ts';
import type { Principal } from './contract.ts';

/** Claims as JSON. */
export type Claims = Readonly<Record<string, unknown>>;

/** Which scopes come with which: `{ 'notes:write': ['notes:read'] }`. */
export type ScopeHierarchy = Readonly<Record<string, readonly string[]>>;

/** Whom a token stands for; undefined when it does not say. */
export function principalOf(claims: Claims, issuer: string, hierarchy: ScopeHierarchy): Principal | undefined {
  const id = textOf(claims['sub']) ?? textOf(claims['client_id']);
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

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** `scope` is a text with spaces between (RFC 6749), `scp` a list in some places. */
function scopesOf(claims: Claims): string[] {
  const given = claims['scope'] ?? claims['scp'];
  const list = Array.isArray(given) ? given : typeof given === 'string' ? given.split(' ') : [];
  return list.filter((each): each is string => typeof each === 'string' && each !== '');
}

/** Adds what scopes bring along, and what that brings along. */
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
