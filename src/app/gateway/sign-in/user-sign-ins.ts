// Callers of a gateway sign in to its servers themselves: the credentials of each, and the pages where this happens.

import { type Authorizer, createMemoryStore } from '../../../client/index.ts';
import type { Logger } from '../../../common/logger.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../../gateway/config/gateway-config.ts';
import type { Authenticate, MetadataRoute } from '../../../security/auth/index.ts';
import type { HttpExchange } from '../../../transports/http.ts';
import { clientOf, requestOf } from '../auth-request.ts';
import { PendingSignIns } from './pending-sign-ins.ts';
import { proveUser } from './prove-user.ts';
import { callbackName, SignInPages } from './sign-in-pages.ts';
import { createUserAuthorizer } from './user-authorizer.ts';
import { registrationsOnly, UserStores } from './user-stores.ts';

/** Callers whose authorizers are kept for their next connection; the least recently used are created again from what is stored. */
const maxCallers = 10_000;

export interface UserSignInsOptions {
  /** The address of the endpoint, as browsers reach it. */
  readonly address: string;
  /** Where the credentials of users are stored. */
  readonly folder: string;
  readonly authenticate: Authenticate;
  /** The metadata of the gateway as a protected resource; undefined without an authorization server. */
  readonly metadata: MetadataRoute | undefined;
  readonly logger: Logger;
}

export class UserSignIns {
  readonly #pending = new PendingSignIns();
  readonly #stores: UserStores;
  readonly #pages: SignInPages;
  readonly #base: string;
  readonly #authorizers = new Map<string, Authorizer>();

  constructor({ address, folder, authenticate, metadata, logger }: UserSignInsOptions) {
    this.#base = `${address}/login`;
    this.#stores = new UserStores(folder, address);
    const redirectUri = `${this.#base}/${callbackName}`;
    this.#pages = new SignInPages({
      ...{ pending: this.#pending, base: this.#base, authenticate, metadata, logger },
      prove: () => {
        if (metadata === undefined) return Promise.reject(new Error('There is no authorization server'));
        const store = registrationsOnly(this.#stores.registrations, createMemoryStore());
        return proveUser({ address, redirectUri, authenticate, metadata, store });
      },
    });
  }

  /** The credentials of a caller for a server. */
  authorizerOf(
    { slug, digest, entry, auth }: UpstreamConfig & { readonly auth: OAuth },
    principalKey: string,
  ): Authorizer {
    const key = `${digest} ${principalKey}`;
    const known = this.#authorizers.get(key);
    const client = auth.clientId === undefined ? {} : { client: clientOf({ ...auth, clientId: auth.clientId }) };
    const authorizer =
      known ??
      createUserAuthorizer({
        owner: { principalKey, slug, server: entry.url as string },
        pending: this.#pending,
        redirectUri: `${this.#base}/${callbackName}`,
        pageOf: (ticket) => `${this.#base}/${ticket}`,
        store: this.#stores.of(principalKey),
        clientName: 'Mooring gateway',
        ...requestOf(auth),
        ...client,
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

type OAuth = UpstreamAuth & { readonly kind: 'oauth' };
