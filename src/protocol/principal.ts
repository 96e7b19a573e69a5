// Who a request acts for, and how one caller's things are kept apart from another's.

import type { Meta } from './model.ts';

/** Who a request acts for, as an authenticator established it. Absent = anonymous. */
export interface Principal {
  /** Stable and unique within the issuer; part of every key that separates one caller from another. */
  readonly id: string;
  readonly issuer?: string;
  readonly scopes?: readonly string[];
  readonly expiresAtMs?: number;
  readonly claims?: Meta;
}

/** The key under which one caller's things are kept apart from another's. */
export function principalKey(principal: Principal | undefined): string {
  return principal === undefined ? '' : `${principal.issuer ?? ''}\u0000${principal.id}`;
}
