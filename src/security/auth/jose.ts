// The only file that uses the JOSE library, which is loaded with the first token.

import type * as Jose from 'jose';

export type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';

let loading: Promise<typeof Jose> | undefined;

/** The library. */
export function loadJose(): Promise<typeof Jose> {
  loading ??= import('jose');
  return loading;
}
