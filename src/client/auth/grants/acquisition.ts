// Getting tokens from an authorization server that is already known: by the sign-in of a user, by a grant for machines, or
// by a refresh token. Says what the tokens are; which of them are current is the authorizer's business.

import type { Discovery } from '../discovery/discovery.ts';
import type { ServerMetadata } from '../discovery/server-metadata.ts';
import { AuthError, authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { unite } from '../scopes.ts';
import type { Credentials } from '../storage/credentials.ts';
import { signIn } from './authorization-code.ts';
import { toIdentity } from './client-identity.ts';
import { type MachineGrant, requestMachineToken } from './machine-grants.ts';
import { createDpopKey, type DpopKey, refreshTokens } from './oauth.ts';
import type { Redirector } from './redirect.ts';
import { identityOf, preRegistered, type RegistrationOptions, resolveClient } from './registration.ts';
import { type TokenSet, toTokenSet } from './tokens.ts';

/** How this client gets its tokens. */
export interface AcquisitionOptions {
  readonly registration: RegistrationOptions;
  /** Absent: a user signs in. */
  readonly grant: MachineGrant | undefined;
  /** Absent: no user can sign in. */
  readonly redirector: Redirector | undefined;
  readonly dpop: 'auto' | 'always' | 'never';
  readonly signInTimeoutMs: number;
  /** Parameters besides those of OAuth. */
  readonly extraParams: Readonly<Record<string, string>>;
}

/** Tokens with the key they may be bound to. */
export interface Acquired {
  readonly tokens: TokenSet;
  readonly dpop: DpopKey | undefined;
}

/** Gets and refreshes tokens for one MCP server. */
export class Acquisition {
  readonly #http: AuthHttp;
  readonly #credentials: Credentials;
  readonly #options: AcquisitionOptions;

  constructor(http: AuthHttp, credentials: Credentials, options: AcquisitionOptions) {
    this.#http = http;
    this.#credentials = credentials;
    this.#options = options;
  }

  /** A whole new grant. */
  async grant(
    discovery: Discovery,
    scopes: readonly string[],
    key: DpopKey | undefined,
    signal: AbortSignal,
  ): Promise<Acquired> {
    const { metadata, resource } = discovery;
    const dpop = await this.#dpopFor(discovery, key);
    const { grant } = this.#options;
    const { response, client, replaceable } =
      grant === undefined
        ? await this.#signIn(discovery, scopes, dpop, signal)
        : await this.#askAsMachine(grant, discovery, scopes, dpop, signal);
    if (dpop !== undefined && response.tokenType !== 'dpop') throw authErrors.dpopUnbound(metadata.issuer);
    const { clientId, clientSecret, method } = client;
    const base = { issuer: metadata.issuer, resource, clientId, requestedScope: scopes, dpopKey: dpop?.privateJwk };
    const registration = replaceable ? { method, clientSecret } : undefined;
    return { tokens: toTokenSet(response, { ...base, registration }), dpop };
  }

  /** New tokens for a refresh token; undefined when the server no longer takes it and a new grant is due. */
  async refresh(
    tokens: TokenSet,
    metadata: ServerMetadata,
    key: DpopKey | undefined,
    signal: AbortSignal,
  ): Promise<Acquired | undefined> {
    const client = await identityOf(tokens, metadata, this.#options.registration, this.#credentials);
    if (client === undefined || tokens.refreshToken === undefined) return undefined;
    const dpop = tokens.dpopKey === undefined ? undefined : (key ?? (await createDpopKey(tokens.dpopKey)));
    const call = { http: this.#http, metadata, client, dpop, signal };
    try {
      const response = await refreshTokens(call, tokens.refreshToken, { resource: tokens.resource });
      if (dpop !== undefined && response.tokenType !== 'dpop') throw authErrors.dpopUnbound(metadata.issuer);
      return { tokens: toTokenSet(response, tokens, tokens), dpop };
    } catch (error) {
      // An outage is not a reason to make a user sign in; a rejection is.
      if (!(error instanceof AuthError) || error.code !== 'token-request-failed' || error.isTemporary) throw error;
      const registered = await this.#credentials.client(metadata.issuer);
      if (meansUnknownClient(error) && registered?.clientId === client.clientId) {
        await this.#credentials.forgetClient(metadata.issuer);
      }
      return undefined;
    }
  }

  async #signIn(discovery: Discovery, scopes: readonly string[], dpop: DpopKey | undefined, signal: AbortSignal) {
    const { redirector, registration, signInTimeoutMs: timeoutMs, extraParams } = this.#options;
    const { metadata } = discovery;
    if (redirector === undefined) {
      throw metadata.source === 'defaults'
        ? authErrors.notPublished(discovery.tried)
        : authErrors.interactionRequired();
    }
    const [http, credentials] = [this.#http, this.#credentials];
    let replaceable = false;
    const attempt = async () => {
      const preferredRedirect = (await credentials.client(metadata.issuer))?.redirectUri;
      const identify = async (redirectUri: string) => {
        // Registered broadly, requested narrowly: a later step-up then needs no new registration.
        const registered = unite(scopes, discovery.scopesSupported);
        const context = { http, credentials, metadata, redirectUri, scopes: registered, signal };
        const resolved = await resolveClient(registration, context);
        replaceable = resolved.replaceable;
        return resolved.identity;
      };
      const flow = { http, discovery, scopes, redirector, preferredRedirect, identify, extraParams };
      return { ...(await signIn({ ...flow, dpop, timeoutMs, signal })), replaceable };
    };
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof AuthError)) throw error;
      if (error.code === 'registration-failed' && metadata.source === 'defaults') {
        throw authErrors.notOffered([...discovery.tried, metadata.registrationEndpoint!], error);
      }
      if (!replaceable || !meansUnknownClient(error)) throw error;
      // The server has forgotten the client it once registered for us: register again, once.
      await credentials.forgetClient(metadata.issuer);
      return attempt();
    }
  }

  async #askAsMachine(
    grant: MachineGrant,
    discovery: Discovery,
    scopes: readonly string[],
    dpop: DpopKey | undefined,
    signal: AbortSignal,
  ) {
    const { metadata } = discovery;
    const given = await preRegistered(this.#options.registration, metadata, this.#credentials);
    if (given === undefined) throw authErrors.configuration(`the ${grant.kind} grant needs a client`);
    // Otherwise the MCP server would choose who gets the user's token.
    if (grant.kind === 'token-exchange' && given.issuer === undefined) {
      throw authErrors.configuration('the token-exchange grant needs the issuer of its client');
    }
    const client = await toIdentity(given, metadata);
    const { extraParams } = this.#options;
    const request = { http: this.#http, discovery, client, scopes, extraParams, dpop, signal };
    const response = await requestMachineToken(grant, request);
    return { response, client, replaceable: false };
  }

  async #dpopFor({ metadata, dpopRequired }: Discovery, key: DpopKey | undefined): Promise<DpopKey | undefined> {
    const { dpop } = this.#options;
    if (dpop === 'never' || (dpop === 'auto' && !dpopRequired)) return undefined;
    if (!metadata.dpopAlgorithms?.includes('ES256')) throw authErrors.dpopUnsupported(metadata.issuer);
    return key ?? createDpopKey();
  }
}

function meansUnknownClient(error: AuthError): boolean {
  return error.oauthError?.error === 'invalid_client' || error.oauthError?.error === 'unauthorized_client';
}
