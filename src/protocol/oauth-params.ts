// Parameters of OAuth, for the client that sends them and for those who check a configuration without loading the client.

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
  'subject_token',
  'subject_token_type',
  'dpop_jkt',
  'request',
  'request_uri',
]);
