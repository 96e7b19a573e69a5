// The only file that uses the JOSE library, which is loaded with the first token.

import type * as Jose from 'jose';
import type { JWTVerifyGetKey, JWTVerifyOptions, JWTVerifyResult } from 'jose';

export type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from 'jose';

let loading: Promise<typeof Jose> | undefined;

/** The library. */
export function loadJose(): Promise<typeof Jose> {
  loading ??= import('jose');
  return loading;
}

/** How many keys are tried if several could have signed a token: without `kid`, or with the same. Each try costs time. */
const maxKeysTried = 8;

/** Verifies a token with the key that signed it. */
export async function verifyToken(
  token: string,
  keys: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  const { jwtVerify, errors } = await loadJose();
  try {
    return await jwtVerify(token, keys, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let tried = 0;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (flaw) {
        if (!(flaw instanceof errors.JWSSignatureVerificationFailed)) throw flaw;
      }
      if (++tried === maxKeysTried) break;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
