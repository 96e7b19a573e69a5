// From "this server said 401" to "this authorization server, for this resource": the two metadata searches put
// together, with the older rules as a fallback and the choice among several authorization servers.
import { authErrors } from '../errors.ts';
import type { AuthHttp } from '../http.ts';
import { canonicalResource } from './resource.ts';
import { findResourceMetadata } from './resource-metadata.ts';
import { findOriginMetadata, findServerMetadata, type ServerMetadata, sameIssuer } from './server-metadata.ts';
import type { ServerChallenge } from './www-authenticate.ts';

/** Everything an authorization needs to know about the other side. */
export interface Discovery {
  /** The value of every `resource` parameter. */
  readonly resource: string;
  readonly metadata: ServerMetadata;
  /** Scopes the resource lists, if it lists any. */
  readonly scopesSupported: readonly string[] | undefined;
  readonly dpopRequired: boolean;
  /** Where no metadata was found, if only the fixed paths are left. */
  readonly tried: readonly string[];
}

/** What steers discovery besides the challenge itself. */
export interface DiscoveryOptions {
  readonly signal?: AbortSignal;
  /** Sent as `MCP-Protocol-Version` to the MCP server and its origin, which may answer by revision. */
  readonly protocolVersion?: string;
  /** The URL of the rejected request; used where the server was given as an origin only. */
  readonly rejected?: URL;
  /** Authorization servers we have credentials for; preferred when the resource lists several. */
  readonly preferred?: readonly string[];
  /** Picks one of several; the default takes a preferred one, else the first. */
  readonly choose?: (issuers: readonly string[]) => string | Promise<string>;
}

/** Runs the whole search for one challenge. */
export async function discover(
  http: AuthHttp,
  challenge: ServerChallenge,
  options: DiscoveryOptions = {},
): Promise<Discovery> {
  const { signal } = options;
  const headers: Record<string, string> =
    options.protocolVersion === undefined ? {} : { 'mcp-protocol-version': options.protocolVersion };
  const endpoint = endpointOf(http.guard.server, options.rejected);
  const search = await findResourceMetadata(http, challenge.resourceMetadata, { headers, signal }, endpoint);
  if (!search.ok) {
    const origin = await findOriginMetadata(http, { headers, signal });
    return {
      resource: canonicalResource(endpoint),
      metadata: origin.metadata,
      scopesSupported: undefined,
      dpopRequired: challenge.schemes.has('dpop') && !challenge.schemes.has('bearer'),
      tried: [...search.tried, ...origin.tried],
    };
  }
  const { resource, authorizationServers, scopesSupported, dpopRequired } = search.metadata;
  const issuer = await pick(authorizationServers, options);
  return {
    resource,
    metadata: await findServerMetadata(http, issuer, { signal }),
    scopesSupported,
    dpopRequired: dpopRequired || (challenge.schemes.has('dpop') && !challenge.schemes.has('bearer')),
    tried: [],
  };
}

/** An origin without a path means the endpoint it led to; a given path is used exactly. */
function endpointOf(server: URL, rejected: URL | undefined): URL {
  const { pathname, search } = server;
  return pathname === '/' && search === '' && rejected?.origin === server.origin ? rejected : server;
}

async function pick(issuers: readonly string[], options: DiscoveryOptions): Promise<string> {
  if (options.choose !== undefined && issuers.length > 1) {
    const chosen = await options.choose(issuers);
    if (!issuers.includes(chosen)) throw authErrors.configuration(`${chosen} is not among the listed servers`);
    return chosen;
  }
  const known = issuers.find((issuer) => options.preferred?.some((mine) => sameIssuer(issuer, mine)));
  return known ?? issuers[0]!;
}
