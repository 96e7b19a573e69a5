// Who the user of a browser is, at the gateway itself: the user signs in at the authorization server of the gateway, as a client
// would, and the gateway checks the token that this yields as it checks those of clients.

import { type CredentialStore, createAuthorizer, type PreRegisteredClient } from '../../../client/index.ts';
import type { Authenticate, AuthRequest, MetadataRoute, Principal } from '../../../security/auth/index.ts';
import type { SignInFetch } from './metadata-cache.ts';
import { OpenVisit } from './open-visit.ts';

/** How long a user may take. */
const signInTimeoutMs = 10 * 60 * 1_000;

export interface ProofOptions {
  /** The endpoint of the gateway. */
  readonly address: string;
  readonly redirectUri: string;
  readonly authenticate: Authenticate;
  /** The metadata of the gateway as a protected resource. */
  readonly metadata: MetadataRoute;
  /** Where the registration of the gateway at its authorization server is stored. */
  readonly store: CredentialStore;
  readonly client: PreRegisteredClient | undefined;
  /** For requests to the authorization server. */
  readonly fetch: SignInFetch;
}

/** A user on the way. */
export interface Proof {
  readonly visit: OpenVisit;
  /** Rejects if the user is not accepted. */
  readonly principal: Promise<Principal>;
}

/** Resolves when the browser can be sent to the authorization server. */
export function proveUser(options: ProofOptions): Promise<Proof> {
  const { address, redirectUri, authenticate, metadata, store, client, fetch } = options;
  const from = { path: new URL(redirectUri).pathname, address: undefined };
  return new Promise((resolve, reject) => {
    let principal: Promise<Principal>;
    const authorizer = createAuthorizer({
      server: address,
      store,
      ...(client === undefined ? {} : { client }),
      signInTimeoutMs,
      // The operator has named the authorization server.
      allowPrivateNetwork: true,
      clientName: 'Mooring gateway',
      // The gateway may not reach itself at its public address.
      fetch: async (url, init) =>
        isMetadata(url, address, metadata) ? new Response(metadata.answer().body) : fetch(url, init),
      redirector: {
        prepare: async () => ({
          redirectUri,
          visit(given) {
            const visit = new OpenVisit(given);
            resolve({ visit, principal });
            return visit.response;
          },
          close: async () => {},
        }),
      },
    });
    const challenge = `Bearer resource_metadata="${new URL(metadata.path, address).href}"`;
    principal = authorizer
      .challenge(address, { status: 401, headers: { 'www-authenticate': challenge } })
      .then(() => principalOf(authorizer.headers(address, { method: 'POST' }), authenticate, from));
    principal.catch(reject);
  });
}

function isMetadata(url: string, address: string, { path }: MetadataRoute): boolean {
  return url === new URL(path, address).href;
}

/** The principal of a request with these headers. `from`: where the request came from, for the audit log. */
export async function principalOf(
  headers: Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>,
  authenticate: Authenticate,
  from: Pick<AuthRequest, 'path' | 'address'>,
): Promise<Principal> {
  const sent = await headers;
  const { path, address } = from;
  const result = await authenticate({ method: 'POST', path, address, get: (name) => sent[name] });
  if (result === undefined || 'status' in result) throw new Error('The gateway does not accept this token');
  return result;
}
