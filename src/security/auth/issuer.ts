// One authorization server: finds its keys, and introspects tokens.

import { type Logger, silentLogger } from '../../common/logger.ts';
import { WireError } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json-rpc.ts';
import { createFetcher, type Fetcher, NetworkError, type NetworkErrorCode } from '../network/fetcher.ts';
import { toWebFetch } from '../network/web-fetch.ts';
import type { Claims } from './claims.ts';
import { type JSONWebKeySet, type JWTVerifyGetKey, loadJose } from './jose.ts';

/** Asks the issuer about each token (RFC 7662), for tokens without readable claims. */
export interface IntrospectionOptions {
  /** The address of the introspection endpoint. */
  readonly endpoint: string;
  /** The client id of this server at the issuer. */
  readonly clientId: string;
  /** The secret of that client. */
  readonly clientSecret: string;
}

/** An authorization server whose tokens are accepted. */
export interface IssuerOptions {
  /** Exactly as in `iss` of tokens. */
  readonly issuer: string;
  /** The key set or its address. Default: found through the metadata of the issuer. */
  readonly jwks?: string | JSONWebKeySet;
  /** Validates each token at the issuer. Default: tokens are validated by their signature. */
  readonly introspection?: IntrospectionOptions;
}

/** The issuer cannot be used now, which is not the fault of the token. Over HTTP it is answered with 503. */
export class AuthUnavailable extends WireError {
  constructor(issuer: string, cause: unknown) {
    super(
      'internal',
      `The authorization server ${issuer} cannot be reached or its response cannot be used; try again later`,
      { cause, http: { status: 503, headers: ['Retry-After', '1'] } },
    );
    this.name = 'AuthUnavailable';
  }
}

/** Errors of a response that is not a metadata document. */
const unusable: ReadonlySet<NetworkErrorCode> = new Set(['NETWORK_BAD_RESPONSE', 'NETWORK_REDIRECT']);

/** Introspection costs the issuer resources; made-up tokens must not turn us into an attack on it. */
const maxLookups = 64;
/** Of them for tokens that were not accepted before: made-up ones must not take the place of those of known callers. */
const maxFirstLookups = 48;

export class Issuer {
  readonly name: string;
  readonly #options: IssuerOptions;
  readonly #fetcher: Fetcher;
  readonly #logger: Logger;
  #hasWarned = false;
  #keys: Promise<JWTVerifyGetKey> | undefined;
  #lookups = 0;
  #firstLookups = 0;

  constructor(options: IssuerOptions, logger = silentLogger) {
    this.name = options.issuer;
    this.#logger = logger;
    this.#options = options;
    const named = [options.issuer, options.jwks, options.introspection?.endpoint].filter(
      (each) => typeof each === 'string',
    );
    const urls = named.map(requireSafe);
    this.#fetcher = createFetcher({
      // The operator configured these, so they may be in a private network; what they refer to may not.
      allow: urls.map(({ host }) => host),
      maxBytes: 1024 * 1024,
      timeoutMs: 10_000,
      maxRedirects: 0,
    });
  }

  get looksUp(): boolean {
    return this.#options.introspection !== undefined;
  }

  /** Whether tokens can be verified by their signature. */
  get signs(): boolean {
    return this.#options.jwks !== undefined || !this.looksUp;
  }

  /** The keys; loaded again after a failure. */
  keys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= this.#findKeys().catch((error: unknown) => {
      this.#keys = undefined;
      throw new AuthUnavailable(this.name, error);
    });
    return this.#keys;
  }

  async #findKeys(): Promise<JWTVerifyGetKey> {
    const { createLocalJWKSet, createRemoteJWKSet, customFetch } = await loadJose();
    const { jwks } = this.#options;
    if (typeof jwks === 'object') return createLocalJWKSet(this.#withoutInvalid(jwks) as JSONWebKeySet);
    const url = requireSafe(jwks ?? (await this.#discover()));
    const fetch = toWebFetch(this.#fetcher);
    return createRemoteJWKSet(url, {
      [customFetch]: async (from: string, init: RequestInit) => {
        const response = await fetch(from, init);
        return response.status === 200 ? Response.json(this.#withoutInvalid(await response.json())) : response;
      },
    });
  }

  /** The key set without entries that are not objects: the library would reject it as a whole. */
  #withoutInvalid(set: unknown): unknown {
    if (!isObject(set) || !Array.isArray(set['keys'])) return set;
    const all: readonly unknown[] = set['keys'];
    const keys = all.filter(isObject);
    const leftOut = all.length - keys.length;
    if (leftOut === 0) return set;
    if (!this.#hasWarned) {
      const fields = { issuer: this.name, leftOut, used: keys.length };
      this.#logger.warn('entries of the key set of an authorization server are not keys, and are left out', fields);
    }
    // Once: the set is fetched again every few minutes.
    this.#hasWarned = true;
    return { ...set, keys };
  }

  /** The metadata of an issuer (RFC 8414, or OpenID Connect), which must name exactly this issuer. */
  async #discover(): Promise<string> {
    const { origin, pathname } = new URL(this.name);
    const path = pathname === '/' ? '' : pathname.replace(/\/$/, '');
    const urls = [
      `${origin}/.well-known/oauth-authorization-server${path}`,
      `${origin}/.well-known/openid-configuration${path}`,
      ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
    ];
    let flaw = new Error('its metadata has no jwks_uri');
    for (const url of urls) {
      try {
        const keys = await this.#keysAt(url);
        if (keys !== undefined) return keys;
      } catch (error) {
        // Some issuers respond with a page to every path that they do not have.
        if (!(error instanceof NetworkError && unusable.has(error.code))) throw error;
        flaw = error;
      }
    }
    throw flaw;
  }

  /** The address of the keys in one metadata document; undefined if the document does not exist or does not have it. */
  async #keysAt(url: string): Promise<string | undefined> {
    const response = await this.#fetcher.fetch(url, { accept: ['application/json'], redirect: 'reject' });
    if (response.status !== 200) {
      response.discard();
      return undefined;
    }
    const metadata = await response.json();
    if (!isObject(metadata)) return undefined;
    const { issuer, jwks_uri: keys } = metadata;
    if (issuer !== this.name) throw new Error(`${url} names another issuer`);
    return typeof keys === 'string' ? keys : undefined;
  }

  /** What the issuer returns about a token; undefined if the token is not active. `wasAccepted`: it was active before. */
  async lookUp(token: string, wasAccepted: boolean): Promise<Claims | undefined> {
    const { endpoint, clientId, clientSecret } = this.#options.introspection as IntrospectionOptions;
    if (this.#lookups >= maxLookups || (!wasAccepted && this.#firstLookups >= maxFirstLookups))
      throw new AuthUnavailable(this.name, new Error('too many introspection requests at the same time'));
    this.#lookups++;
    if (!wasAccepted) this.#firstLookups++;
    try {
      const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`);
      const response = await this.#fetcher.fetch(endpoint, {
        method: 'POST',
        headers: {
          authorization: `Basic ${credentials.toString('base64')}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
        accept: ['application/json'],
        redirect: 'reject',
      });
      if (response.status !== 200) {
        response.discard();
        throw new Error(`introspection responded with status ${response.status}`);
      }
      const claims = (await response.json()) as Claims;
      return claims['active'] === true ? claims : undefined;
    } catch (error) {
      throw new AuthUnavailable(this.name, error);
    } finally {
      this.#lookups--;
      if (!wasAccepted) this.#firstLookups--;
    }
  }
}

/** Keys and secrets are sent encrypted, unless they stay on this machine. */
function requireSafe(address: string): URL {
  const url = new URL(address);
  const local = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && local)) return url;
  throw new TypeError(`The address of an authorization server must use https: ${address}`);
}
