// Finds and validates authorization server metadata: RFC 8414, OpenID Connect Discovery, and the rules
// of 2025-03-26 for servers that have neither. A document counts only if its issuer is the one that was asked.
import { AuthError, authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { strings } from './resource-metadata.ts';

/** Validated metadata. Endpoints have passed the URL guard, but for that of revocation, which signing in does not need. */
export interface ServerMetadata {
  /** Exactly as in the document: the value `iss` is compared with. */
  readonly issuer: string;
  readonly authorizationEndpoint: string | undefined;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint: string | undefined;
  readonly pushedAuthorizationEndpoint: string | undefined;
  readonly revocationEndpoint: string | undefined;
  readonly requiresPushedAuthorization: boolean;
  readonly scopesSupported: readonly string[] | undefined;
  readonly codeChallengeMethods: readonly string[] | undefined;
  readonly tokenAuthMethods: readonly string[] | undefined;
  readonly dpopAlgorithms: readonly string[] | undefined;
  readonly clientIdMetadataDocuments: boolean;
  readonly namesItselfInResponses: boolean;
  /** Where this came from. `resource-origin` and `defaults` follow the older rules, which do not demand a PKCE list. */
  readonly source: 'issuer' | 'resource-origin' | 'defaults';
}

/** Metadata of an issuer that protected-resource metadata (or the configuration) names. */
export async function findServerMetadata(
  http: AuthHttp,
  issuer: string,
  init: { headers?: Record<string, string>; signal?: AbortSignal },
): Promise<ServerMetadata> {
  const search = await searchMetadata(http, issuer, 'issuer', init);
  if (search.ok) return search.metadata;
  throw authErrors.serverMetadataMissing(issuer, search.tried);
}

/**
 * The rules of 2025-03-26, for a server without protected-resource metadata: it is its own authorization server,
 * described at its origin, or else reachable at three fixed paths.
 */
export async function findOriginMetadata(
  http: AuthHttp,
  init: { headers?: Record<string, string>; signal?: AbortSignal },
): Promise<{ metadata: ServerMetadata; tried: readonly string[] }> {
  const { origin } = http.guard.server;
  const search = await searchMetadata(http, origin, 'resource-origin', init);
  if (search.ok) return { metadata: search.metadata, tried: [] };
  return { metadata: defaultMetadata(origin), tried: search.tried };
}

/** The three fixed paths of 2025-03-26. */
export function defaultMetadata(origin: string): ServerMetadata {
  const document = {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
  };
  return readServerMetadata(document, 'defaults');
}

/** A server whose token endpoint is configured, and nothing else needs to be known. */
export function tokenOnlyMetadata(issuer: string, tokenEndpoint: string): ServerMetadata {
  return readServerMetadata({ issuer, token_endpoint: tokenEndpoint }, 'issuer');
}

type Search =
  | { readonly ok: true; readonly metadata: ServerMetadata }
  | { readonly ok: false; readonly tried: readonly string[] };

async function searchMetadata(
  http: AuthHttp,
  issuer: string,
  source: ServerMetadata['source'],
  init: { headers?: Record<string, string>; signal?: AbortSignal },
): Promise<Search> {
  const what = 'authorization server metadata';
  const asked = http.guard.check('the authorization server', issuer);
  if (asked.search !== '' || asked.hash !== '') {
    throw authErrors.insecureUrl('the authorization server', issuer, 'an issuer has neither query nor fragment');
  }
  const tried: string[] = [];
  let failure: unknown;
  for (const url of candidates(asked)) {
    tried.push(url.href);
    try {
      const found = await http.document(what, url, init);
      if (!found.ok) continue;
      const claimed = found.value['issuer'];
      if (typeof claimed !== 'string') throw authErrors.serverMetadataInvalid(url.href, 'has no issuer');
      if (!sameIssuer(issuer, claimed)) throw authErrors.issuerMismatch(url.href, issuer, claimed);
      const metadata = readServerMetadata(found.value, source, url.href);
      for (const [name, endpoint] of endpointsOf(metadata)) http.guard.check(name, endpoint);
      return { ok: true, metadata };
    } catch (error) {
      if (!(error instanceof AuthError) || !['unreachable', 'issuer-mismatch'].includes(error.code)) throw error;
      // Another well-known place may still hold the right document; the wrong one is never used.
      if (failure === undefined || error.code === 'issuer-mismatch') failure = error;
    }
  }
  if (failure !== undefined) throw failure;
  return { ok: false, tried };
}

/** The order that the specification fixes. */
function candidates(issuer: URL): URL[] {
  const path = issuer.pathname.replace(/\/$/, '');
  const places = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'].map(
    (name) => `${name}${path}`,
  );
  if (path !== '') places.push(`${path}/.well-known/openid-configuration`);
  return places.map((place) => new URL(place, issuer.origin));
}

/**
 * Issuers are compared as strings. One slack: a bare origin may be listed with the slash that URL serializers append,
 * which names the same host and the same document.
 */
export function sameIssuer(listed: string, claimed: string): boolean {
  return listed === claimed || (listed === `${claimed}/` && new URL(listed).pathname === '/');
}

function readServerMetadata(
  document: Record<string, unknown>,
  source: ServerMetadata['source'],
  url = '',
): ServerMetadata {
  const text = (name: string) => (typeof document[name] === 'string' ? document[name] : undefined);
  const tokenEndpoint = text('token_endpoint');
  if (tokenEndpoint === undefined) throw authErrors.serverMetadataInvalid(url, 'has no token_endpoint');
  return {
    issuer: text('issuer') ?? '',
    authorizationEndpoint: text('authorization_endpoint'),
    tokenEndpoint,
    registrationEndpoint: text('registration_endpoint'),
    pushedAuthorizationEndpoint: text('pushed_authorization_request_endpoint'),
    revocationEndpoint: text('revocation_endpoint'),
    requiresPushedAuthorization: document['require_pushed_authorization_requests'] === true,
    scopesSupported: strings(document['scopes_supported']),
    codeChallengeMethods: strings(document['code_challenge_methods_supported']),
    tokenAuthMethods: strings(document['token_endpoint_auth_methods_supported']),
    dpopAlgorithms: strings(document['dpop_signing_alg_values_supported']),
    clientIdMetadataDocuments: document['client_id_metadata_document_supported'] === true,
    namesItselfInResponses: document['authorization_response_iss_parameter_supported'] === true,
    source,
  };
}

function endpointsOf(metadata: ServerMetadata): [string, string][] {
  const endpoints: [string, string | undefined][] = [
    ['authorization_endpoint', metadata.authorizationEndpoint],
    ['token_endpoint', metadata.tokenEndpoint],
    ['registration_endpoint', metadata.registrationEndpoint],
    ['pushed_authorization_request_endpoint', metadata.pushedAuthorizationEndpoint],
  ];
  return endpoints.filter((entry): entry is [string, string] => entry[1] !== undefined);
}
