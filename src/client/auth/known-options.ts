// The names of the options of authorizers.

import { assertKnownOptions } from '../../common/known-options.ts';
import type { AuthorizerOptions } from './authorizer-options.ts';
import type { UrlGuardOptions } from './discovery/url-guard.ts';
import type { PreRegisteredClient } from './grants/client-identity.ts';
import type { MachineGrant } from './grants/machine-grants.ts';

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

const grants: Record<MachineGrant['kind'], true> = {
  'client-credentials': true,
  workload: true,
  enterprise: true,
  'token-exchange': true,
};

/** Throws for a grant or a client that TypeScript would report. */
export function assertGrant({ grant, client }: Pick<AuthorizerOptions, 'grant' | 'client'>): void {
  if (grant !== undefined && !Object.hasOwn(grants, String(grant?.kind))) {
    const kinds = Object.keys(grants).join(', ');
    throw new TypeError(
      `createAuthorizer, grant: "kind" must be one of ${kinds}; it is ${JSON.stringify(grant?.kind)}`,
    );
  }
  const clients: readonly unknown[] = client === undefined || Array.isArray(client) ? (client ?? []) : [client];
  for (const each of clients as readonly (Partial<PreRegisteredClient> | null)[]) {
    if (typeof each?.clientId === 'string' && each.clientId !== '') continue;
    throw new TypeError(
      'createAuthorizer, client: needs the id that the authorization server gave it: { clientId, clientSecret }',
    );
  }
}

/** Throws for an option that does not exist: without it, other scopes or another grant would be requested. */
export function assertAuthOptions(callee: keyof typeof known, options: object): void {
  assertKnownOptions(callee, options, known[callee]);
}
