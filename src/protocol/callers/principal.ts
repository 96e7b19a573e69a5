// Who a request acts for, and the key that separates the data of one caller from that of another.

import type { Meta } from '../model.ts';

/** Who a request acts for, as an authenticator established it. Absent = anonymous. */
export interface Principal {
  /** Stable and unique within the issuer; part of every key that separates one caller from another. */
  readonly id: string;
  /** Who established it, such as the issuer of the token; ids are unique within it. */
  readonly issuer?: string;
  /** What the credentials allow. Default: none. */
  readonly scopes?: readonly string[];
  /** When the credentials expire: milliseconds since 1970. Open streams and WebSockets end then. Default: never. */
  readonly expiresAtMs?: number;
  /** What else the authenticator knows, such as the claims of a token. */
  readonly claims?: Meta;
}

/** A principal with that key; undefined for the key of callers without one. */
export function principalOfKey(key: string): Principal | undefined {
  if (key === '') return undefined;
  const end = key.indexOf('\u0000');
  const issuer = key.slice(0, end);
  const id = key.slice(end + 1);
  return issuer === '' ? { id } : { issuer, id };
}

/** The key that separates the data of one caller from that of another. */
export function principalKey(principal: Principal | undefined): string {
  return principal === undefined ? '' : `${principal.issuer ?? ''}\u0000${principal.id}`;
}
