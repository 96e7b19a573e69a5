// Callers of a gateway sign in to its servers themselves: the credentials of each, and the pages where this happens.

import { type Authorizer, fetchThroughProxy, type PreRegisteredClient } from '../../../client/index.ts';
import type { Logger } from '../../../common/logger.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../../gateway/config/gateway-config.ts';
import type { Authenticate, MetadataRoute } from '../../../security/auth/index.ts';
import type { HttpExchange } from '../../../transports/http.ts';
import { clientOf, requestOf } from '../auth-request.ts';
import { rememberingDocuments } from './metadata-cache.ts';
import { PendingSignIns } from './pending-sign-ins.ts';
import { proveUser } from './prove-user.ts';
import { callbackName, callbackOf, SignInPages } from './sign-in-pages.ts';
import { addServer, serversOf, signOutOfAll } from './signed-in-servers.ts';
import { type Attempts, createUserAuthorizer, type UserAuthorizer } from './user-authorizer.ts';
import { UserStores } from './user-stores.ts';

/** Callers whose authorizers are kept for their next connection; the least recently used are created again from what is stored. */
const maxCallers = 10_000;

export interface SignInSettings {
  /** Where the credentials of users are stored. */
  readonly folder: string;
  readonly logger: Logger;
  /** The gateway as a client of its own authorization server. Default: it registers itself. */
  readonly client?: PreRegisteredClient | undefined;
  /** Whether a server with this URL is behind the gateway now. */
  readonly isOffered: (server: string) => boolean;
  /** A user has signed in to these servers, or out of them. */
  readonly changed: (event: 'sign-in' | 'sign-out', principalKey: string, servers: readonly string[]) => void;
}

export interface UserSignInsOptions extends SignInSettings {
  /** The address of the endpoint, as browsers reach it. */
  readonly address: string;
  readonly authenticate: Authenticate;
  /** The metadata of the gateway as a protected resource; undefined without an authorization server. */
  readonly metadata: MetadataRoute | undefined;
  /** Whether the gateway has tokens of its own now. */
  readonly hasTokens: () => boolean;
}

export class UserSignIns {
  readonly #pending: PendingSignIns;
  readonly #stores: UserStores;
  readonly #pages: SignInPages;
  readonly #base: string;
  readonly #changed: SignInSettings['changed'];
  readonly #authorizers = new Map<string, UserAuthorizer>();
  readonly #attempts: Attempts = new Map();
  /** How the gateway is registered with the authorization servers of servers, by URL. */
  readonly #registered = new Map<string, Registered>();

  constructor(options: UserSignInsOptions) {
    const { address, folder, authenticate, metadata, hasTokens, logger, client, isOffered, changed } = options;
    this.#base = `${address.replace(/\/$/, '')}/login`;
    this.#changed = changed;
    this.#stores = new UserStores(folder, address);
    this.#pending = new PendingSignIns(isOffered, async ({ principalKey, server, slug }) => {
      changed('sign-in', principalKey, [slug]);
      await addServer(this.#stores.of(principalKey), server, slug).catch((error: unknown) =>
        logger.warn('a sign-in is not listed for its user', { error: (error as Error).message }),
      );
    });
    const redirectUri = `${this.#base}/${callbackName}`;
    const fetch = rememberingDocuments(fetchThroughProxy);
    this.#pages = new SignInPages({
      ...{ pending: this.#pending, base: this.#base, authenticate, metadata, hasTokens, logger },
      prove: () => {
        if (metadata === undefined) return Promise.reject(new Error('There is no authorization server'));
        const store = this.#stores.forProof(redirectUri);
        return proveUser({ address, redirectUri, authenticate, metadata, store, client, fetch });
      },
      serversOf: (principalKey) => serversOf(this.#stores.of(principalKey)),
      signOut: (principalKey) => this.#signOut(principalKey),
    });
  }

  async #signOut(principalKey: string): Promise<void> {
    const store = this.#stores.of(principalKey);
    const servers = await signOutOfAll(store, (server) => this.#registered.get(server) ?? {});
    for (const [key, authorizer] of this.#authorizers) if (key.endsWith(` ${principalKey}`)) authorizer.forget();
    this.#changed('sign-out', principalKey, servers);
  }

  /** The credentials of a caller for a server. */
  authorizerOf(
    { slug, digest, entry, auth }: UpstreamConfig & { readonly auth: OAuth },
    principalKey: string,
  ): Authorizer {
    const key = `${digest} ${principalKey}`;
    const known = this.#authorizers.get(key);
    const registered = auth.clientId === undefined ? {} : { client: clientOf({ ...auth, clientId: auth.clientId }) };
    const server = entry.url as string;
    const redirectUri = `${this.#base}/${callbackOf(slug)}`;
    this.#registered.set(server, registered);
    const authorizer =
      known ??
      createUserAuthorizer({
        owner: { principalKey, slug, server },
        pending: this.#pending,
        attempts: this.#attempts,
        redirectUri,
        pageOf: (ticket) => `${this.#base}/${ticket}`,
        store: this.#stores.of(principalKey, redirectUri),
        clientName: 'Mooring gateway',
        ...requestOf(auth),
        ...registered,
      });
    this.#authorizers.delete(key);
    this.#authorizers.set(key, authorizer);
    if (this.#authorizers.size > maxCallers) {
      this.#authorizers.delete(this.#authorizers.keys().next().value as string);
    }
    return authorizer;
  }

  /** A request below `/login`; `name`: the rest of its path. */
  handle(exchange: HttpExchange, name: string): Promise<void> {
    return this.#pages.handle(exchange, name);
  }
}

type Registered = { readonly client?: PreRegisteredClient };
type OAuth = UpstreamAuth & { readonly kind: 'oauth' };
