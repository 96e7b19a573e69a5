// Parameters of an authorization server that OAuth does not define, such as `audience` or `access_type`.

import { authErrors } from '../errors.ts';

/** Parameters that the client sets itself: another value would break the flow or its protection. */
export const reservedParams: ReadonlySet<string> = new Set([
  'response_type',
  'response_mode',
  'client_id',
  'client_secret',
  'client_assertion',
  'client_assertion_type',
  'redirect_uri',
  'state',
  'scope',
  'resource',
  'code',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'grant_type',
  'refresh_token',
  'assertion',
  'dpop_jkt',
  'request',
  'request_uri',
]);

/** Throws if one of them is reserved. */
export function checkExtraParams(params: Readonly<Record<string, string>>): void {
  const reserved = Object.keys(params).filter((name) => reservedParams.has(name));
  if (reserved.length > 0) {
    throw authErrors.configuration(`extraParams cannot contain ${reserved.join(', ')}: the client sets these itself`);
  }
}
