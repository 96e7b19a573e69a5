// Authentication that can be replaced while the server runs, when the settings are reloaded.

import {
  type Authenticate,
  type MetadataRoute,
  type Principal,
  type TokenEntry,
  tokenHashOf,
} from '../../security/auth/index.ts';
import type { Authentication } from './authentication.ts';

/** Denies all requests: for a server whose last token was revoked while it runs. */
export const noTokens: Authentication = {
  authenticate: () => ({ status: 401, challenge: 'Bearer', message: 'Unauthorized: no token is accepted' }),
  tokens: [],
  routes: [],
};

export class LiveAuthentication implements Authentication {
  #current: Authentication;
  /** The paths of the metadata routes are fixed at the start; their contents are current. */
  readonly routes: readonly MetadataRoute[];

  constructor(first: Authentication) {
    this.#current = first;
    this.routes = first.routes.map((route) => ({
      ...route,
      answer: () => (this.#current.routes.find(({ path }) => path === route.path) ?? route).answer(),
    }));
  }

  get tokens(): readonly TokenEntry[] {
    return this.#current.tokens;
  }
  get oauth(): Authentication['oauth'] {
    return this.#current.oauth;
  }

  get metadataOf(): Authentication['metadataOf'] {
    return this.#current.metadataOf;
  }

  readonly challenge = (scopes: readonly string[], below?: string): string =>
    this.#current.challenge?.(scopes, below) ?? 'Bearer';

  readonly authenticate: Authenticate = (request) => {
    const asked = this.#current;
    const result = asked.authenticate(request);
    if (!(result instanceof Promise)) return result;
    // If the rules changed meanwhile, authenticate again.
    return result.then((found) => (asked === this.#current ? found : this.authenticate(request)));
  };

  /** Replaces the authentication. The returned function matches principals whose credentials are no longer valid. */
  replace(next: Authentication): (principal: Principal) => boolean {
    const before = this.#current;
    this.#current = next;
    const [known, valid] = [before, next].map(
      ({ tokens }) => new Map(tokens.map((token) => [token.hash, textOf(token)])),
    );
    return (principal) => {
      const hash = tokenHashOf(principal);
      if (hash === undefined) return next.oauth !== before.oauth;
      const now = valid?.get(hash);
      return now === undefined || now !== known?.get(hash);
    };
  }
}

/** A token whose caller, scopes or expiry changed counts as another token. */
const textOf = ({ id, scopes = [], expires }: TokenEntry): string => JSON.stringify([id, scopes, expires]);
