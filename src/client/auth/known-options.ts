// The names of the options of authorizers.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { AuthorizerOptions } from './authorizer-options.ts';
import type { UrlGuardOptions } from './discovery/url-guard.ts';

const ofGuards: Record<keyof UrlGuardOptions, true> = { allowInsecureHttp: true, allowPrivateNetwork: true };
const ofAuthorizers: Record<keyof AuthorizerOptions, true> = {
  server: true,
  client: true,
  clientMetadataUrl: true,
  clientName: true,
  clientUri: true,
  promptForClient: true,
  grant: true,
  scopes: true,
  resource: true,
  extraParams: true,
  store: true,
  redirector: true,
  dpop: true,
  offlineAccess: true,
  chooseServer: true,
  protocolVersion: true,
  signInTimeoutMs: true,
  maxAttempts: true,
  fetch: true,
  timeoutMs: true,
  maxBytes: true,
  ...ofGuards,
};
const known = {
  createAuthorizer: ofAuthorizers,
  createStaticAuthorizer: { server: true, token: true, ...ofGuards },
  signOut: { ...ofAuthorizers, signal: true } satisfies Record<keyof AuthorizerOptions | 'signal', true>,
};

/** Throws for an option that does not exist: without it, other scopes or another grant would be requested. */
export function assertAuthOptions(callee: keyof typeof known, options: object): void {
  assertKnownOptions(callee, options, known[callee]);
}
