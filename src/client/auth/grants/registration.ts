// Who we are at an authorization server, in the order the specification gives: registered beforehand, a client ID
// metadata document, an earlier registration of our own, a new one, and as a last resort, the user is asked.

import { type ServerMetadata, sameIssuer } from '../discovery/server-metadata.ts';
import { authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { includesAll } from '../scopes.ts';
import type { Credentials, RegisteredClient } from '../storage/credentials.ts';
import {
  type ClientAuthMethod,
  type ClientIdentity,
  type PreRegisteredClient,
  registrationMethod,
  toIdentity,
} from './client-identity.ts';
import { registerClient } from './oauth.ts';
import { applicationType } from './redirect.ts';
import type { TokenSet } from './tokens.ts';

/** What a client can say about itself. */
export interface RegistrationOptions {
  /** Registered beforehand; several if each names its issuer. */
  readonly client?: PreRegisteredClient | readonly PreRegisteredClient[];
  /** An https URL of our client ID metadata document, used where the server supports such. */
  readonly clientMetadataUrl?: string;
  readonly clientName?: string;
  readonly clientUri?: string;
  /** Asked when nothing else works, with the issuer to register at. */
  readonly promptForClient?: (issuer: string) => Promise<PreRegisteredClient | undefined>;
}

/** An identity, and whether we may replace it by registering again. */
export interface ResolvedClient {
  readonly identity: ClientIdentity;
  readonly replaceable: boolean;
}

/** What one resolution depends on. */
export interface ResolveContext {
  readonly http: AuthHttp;
  readonly credentials: Credentials;
  readonly metadata: ServerMetadata;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly signal?: AbortSignal;
}

/** Finds or makes the identity for the authorization code flow. */
export async function resolveClient(options: RegistrationOptions, context: ResolveContext): Promise<ResolvedClient> {
  const { metadata, credentials } = context;
  const given = await preRegistered(options, metadata, credentials);
  if (given !== undefined) return { identity: await toIdentity(given, metadata), replaceable: false };

  if (options.clientMetadataUrl !== undefined && metadata.clientIdMetadataDocuments) {
    const clientId = checkMetadataUrl(options.clientMetadataUrl);
    return { identity: { clientId, method: 'none' }, replaceable: false };
  }

  const stored = await credentials.client(metadata.issuer);
  if (stored !== undefined && isUsable(stored, context)) return { identity: stored, replaceable: true };
  if (metadata.registrationEndpoint !== undefined) {
    return { identity: await register(options, context), replaceable: true };
  }

  const typed = await options.promptForClient?.(metadata.issuer);
  if (typed === undefined) throw authErrors.registrationUnavailable(metadata.issuer);
  return { identity: await toIdentity(typed, metadata), replaceable: false };
}

/** The configured client for this issuer, if any client is configured at all. Its secret goes to no other server. */
export async function preRegistered(
  options: RegistrationOptions,
  metadata: ServerMetadata,
  credentials: Credentials,
): Promise<PreRegisteredClient | undefined> {
  const clients = [options.client ?? []].flat() as PreRegisteredClient[];
  if (clients.length === 0) return undefined;
  const matching = clients.find(({ issuer }) => issuer !== undefined && isIssuer(issuer, metadata.issuer));
  if (matching !== undefined) return matching;
  const unbound = clients.find(({ issuer }) => issuer === undefined);
  if (unbound === undefined) {
    const issuers = clients.map(({ issuer }) => issuer!);
    throw authErrors.clientBoundElsewhere(clients[0]!.clientId, issuers, metadata.issuer);
  }
  // A client without a stated issuer belongs to the first server it was used with.
  const bound = await credentials.binding();
  if (bound?.clientId !== unbound.clientId || isIssuer(bound.issuer, metadata.issuer)) return unbound;
  throw authErrors.clientBoundElsewhere(unbound.clientId, [bound.issuer], metadata.issuer);
}

/** The identity a token was issued to, as far as we still have it. */
export async function identityOf(
  { clientId, registration }: TokenSet,
  metadata: ServerMetadata,
  options: RegistrationOptions,
  credentials: Credentials,
): Promise<ClientIdentity | undefined> {
  const given = await preRegistered(options, metadata, credentials);
  if (given?.clientId === clientId) return toIdentity(given, metadata);
  if (clientId === options.clientMetadataUrl) return { clientId, method: 'none' };
  return registration === undefined ? undefined : { clientId, ...registration };
}

/** A user may have written the issuer with or without the slash behind a bare host. */
function isIssuer(written: string, issuer: string): boolean {
  return sameIssuer(written, issuer) || sameIssuer(issuer, written);
}

function isUsable(client: RegisteredClient, { redirectUri, scopes }: ResolveContext): boolean {
  const alive = client.secretExpiresAt === undefined || client.secretExpiresAt > Date.now() + 60_000;
  // Some servers hold a client to the scopes it registered with.
  return alive && client.redirectUri === redirectUri && includesAll(client.scope, scopes);
}

async function register(options: RegistrationOptions, context: ResolveContext): Promise<RegisteredClient> {
  const { metadata, http, redirectUri, scopes, credentials, signal } = context;
  const asked = registrationMethod(metadata);
  const document = {
    client_name: options.clientName ?? 'Mooring',
    ...(options.clientUri === undefined ? {} : { client_uri: options.clientUri }),
    redirect_uris: [redirectUri],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: asked,
    application_type: applicationType(redirectUri),
    ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
  };
  const answer = await registerClient(http, metadata, document, signal);
  const client = toRegisteredClient(answer, { metadata, redirectUri, scopes });
  await credentials.saveClient(client);
  return client;
}

function toRegisteredClient(
  answer: Record<string, unknown>,
  context: Pick<ResolveContext, 'metadata' | 'redirectUri' | 'scopes'>,
): RegisteredClient {
  const clientSecret = typeof answer['client_secret'] === 'string' ? answer['client_secret'] : undefined;
  const expiry = Number(answer['client_secret_expires_at'] ?? 0);
  return {
    issuer: context.metadata.issuer,
    clientId: String(answer['client_id']),
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(clientSecret !== undefined && expiry > 0 ? { secretExpiresAt: expiry * 1000 } : {}),
    method: methodOf(answer, clientSecret, context.metadata),
    redirectUri: context.redirectUri,
    // What was asked for, not what was granted: asking for the same again would change nothing.
    scope: context.scopes,
  };
}

/** The server's value counts; without one, its metadata and the kind of credential decide. */
function methodOf(
  answer: Record<string, unknown>,
  clientSecret: string | undefined,
  metadata: ServerMetadata,
): ClientAuthMethod {
  const stated = answer['token_endpoint_auth_method'];
  const withSecret: ClientAuthMethod[] = ['client_secret_basic', 'client_secret_post'];
  if (stated === 'none') return 'none';
  if (clientSecret === undefined) return 'none';
  const known = withSecret.find((method) => method === stated);
  if (known !== undefined) return known;
  const supported = metadata.tokenAuthMethods;
  if (supported === undefined) return 'client_secret_basic';
  return withSecret.find((method) => supported.includes(method)) ?? 'none';
}

function checkMetadataUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol !== 'https:' || url.pathname === '/' || url.hash !== '' || url.username !== '') {
    throw authErrors.configuration('clientMetadataUrl must be an https URL with a path');
  }
  return value;
}
