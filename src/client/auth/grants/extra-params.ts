// Parameters of an authorization server that OAuth does not define, such as `audience` or `access_type`.

import { reservedParams } from '../../../protocol/oauth-params.ts';
import { authErrors } from '../errors.ts';

/** Throws if one of them is reserved. */
export function checkExtraParams(params: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(params).filter((name) => reservedParams.has(name));
  if (reserved.length > 0) {
    throw authErrors.configuration(`extraParams cannot contain ${reserved.join(', ')}: the client sets these itself`);
  }
}
