// The one place that knows the JOSE library, loaded when the first token has to be read.

import type * as Jose from 'jose';

export type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';

let loading: Promise<typeof Jose> | undefined;

/** The library. */
export function loadJose(): Promise<typeof Jose> {
  loading ??= import('jose');
  return loading;
}
