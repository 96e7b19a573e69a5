// Finds and validates protected-resource metadata (RFC 9728): where the MCP server says which authorization servers
// it trusts. What those servers say of themselves is in server-metadata.ts.
import { AuthError, type AuthErrorCode, authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { coversServer } from './resource.ts';

/** The part of the document that is used. */
export interface ResourceMetadata {
  /** Exactly as published: this form goes into `resource` parameters. */
  readonly resource: string;
  readonly authorizationServers: readonly string[];
  readonly scopesSupported: readonly string[] | undefined;
  readonly dpopRequired: boolean;
}

/** The document, or the URLs where it was not found. */
export type ResourceMetadataSearch =
  | { readonly ok: true; readonly metadata: ResourceMetadata }
  | { readonly ok: false; readonly tried: readonly string[] };

// Stops a server from making us try a long list.
const maxAuthorizationServers = 20;

const passable: ReadonlySet<AuthErrorCode> = new Set(['unreachable', 'insecure-url', 'private-address']);

/**
 * Looks where the challenge points, then at the well-known places (path inserted first, root last). A document that
 * describes another resource ends the search: going on would let an attacker choose by failing. `endpoint` is what the
 * document has to be about, on the server's origin.
 */
export async function findResourceMetadata(
  http: AuthHttp,
  named: string | undefined,
  init: { headers?: Record<string, string>; signal?: AbortSignal },
  endpoint: URL = http.guard.server,
): Promise<ResourceMetadataSearch> {
  const what = 'protected-resource metadata';
  const tried: string[] = [];
  let failure: unknown;
  for (const candidate of candidates(endpoint, named)) {
    tried.push(candidate);
    try {
      const url = http.guard.check(what, candidate);
      const found = await http.document(what, url, init);
      if (found.ok) return { ok: true, metadata: readResourceMetadata(candidate, found.value, endpoint) };
    } catch (error) {
      // A place that is down, or that we may not ask (a proxy's inner address), may be backed by another;
      // a place that answers wrongly may not.
      if (!(error instanceof AuthError) || !passable.has(error.code)) throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
  if (named !== undefined) throw authErrors.resourceMetadataMissing(tried);
  return { ok: false, tried };
}

function candidates(server: URL, named: string | undefined): string[] {
  const path = server.pathname.replace(/\/$/, '');
  const root = `${server.origin}/.well-known/oauth-protected-resource`;
  const places = named === undefined ? [] : [named];
  if (path !== '' || server.search !== '') places.push(`${root}${path}${server.search}`);
  places.push(root);
  return [...new Set(places)];
}

function readResourceMetadata(url: string, document: Record<string, unknown>, server: URL): ResourceMetadata {
  const { resource, authorization_servers: issuers } = document;
  if (typeof resource !== 'string') throw authErrors.resourceMetadataInvalid(url, 'has no resource');
  if (!coversServer(resource, server)) throw authErrors.resourceMismatch(url, resource, server.href);
  const authorizationServers = strings(issuers);
  if (authorizationServers === undefined || authorizationServers.length === 0) {
    throw authErrors.resourceMetadataInvalid(url, 'names no authorization server');
  }
  return {
    resource,
    authorizationServers: authorizationServers.slice(0, maxAuthorizationServers),
    scopesSupported: strings(document['scopes_supported']),
    dpopRequired: document['dpop_bound_access_tokens_required'] === true,
  };
}

/** An array of strings, or nothing: any other value counts as absent. */
export function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined;
}
