// The OAuth resource server: accepts tokens that one of our issuers issued for this server and that are still valid.
// What a principal may do with which scopes is decided elsewhere (scopes.ts, policy/).

import { assertKnownOptions } from '../../common/known-options.ts';
import type { Logger } from '../../common/logger.ts';
import { requireList, requireTexts } from '../rule-checks.ts';
import {
  type ChallengeParts,
  challengeOf,
  insufficientScope,
  invalidToken,
  missingToken,
  readBearer,
} from './bearer.ts';
import { type Claims, hasScopes, principalOf, type ScopeHierarchy } from './claims.ts';
import type { Authenticate, Denied, Principal } from './contract.ts';
import { AuthUnavailable, Issuer, type IssuerOptions } from './issuer.ts';
import { type JWTPayload, loadJose, verifyToken } from './jose.ts';
import {
  canonicalResource,
  type MetadataRoute,
  metadataRoutes,
  metadataUrl,
  type ProtectedResourceMetadata,
} from './metadata.ts';
import { TokenCache } from './token-cache.ts';

const oauthOptions: Record<keyof OAuthOptions, true> = {
  resource: true,
  path: true,
  issuers: true,
  audience: true,
  algorithms: true,
  clockToleranceMs: true,
  requiredScopes: true,
  scopesSupported: true,
  scopeHierarchy: true,
  cacheMs: true,
  resourceName: true,
  documentation: true,
  logger: true,
};

/** Which tokens are accepted, and for what. */
export interface OAuthOptions {
  /** The address that clients use for this server: `https://mcp.example.com/mcp`. */
  readonly resource: string;
  /**
   * The path of `resource` in requests. Addresses below it, such as the views of a gateway, are then resources of their own: a
   * client is told to get a token for the address that it uses. A token is valid for its address and those below it.
   */
  readonly path?: string;
  /** The authorization servers whose tokens are accepted: their issuers, or options for them. */
  readonly issuers: readonly (string | IssuerOptions)[];
  /** What `aud` of a token must be. Default: `resource`. */
  readonly audience?: string | readonly string[];
  /** Signature algorithms. Default: all asymmetric ones. */
  readonly algorithms?: readonly string[];
  /** How far clocks may differ. Default 30 s. */
  readonly clockToleranceMs?: number;
  /** Scopes that every request needs. */
  readonly requiredScopes?: readonly string[];
  /** Scopes in the metadata, which clients request first. Default: `requiredScopes`. */
  readonly scopesSupported?: readonly string[];
  /** Which scopes include others. */
  readonly scopeHierarchy?: ScopeHierarchy;
  /** How long the result for a token is cached. Default 30 s; 0 checks every time. */
  readonly cacheMs?: number;
  /** The name of this server in the metadata, for people. */
  readonly resourceName?: string;
  /** The address of a page for developers, in the metadata. */
  readonly documentation?: string;
  /** Where problems with the keys of an issuer are logged. Default: nowhere. */
  readonly logger?: Logger;
}

/** An authenticator for access tokens of OAuth 2.1. */
export interface OAuthAuthenticator {
  /** For `serveHttp`. */
  readonly authenticate: Authenticate;
  /** The metadata of this server (RFC 9728). */
  readonly metadata: ProtectedResourceMetadata;
  /** For `serveHttp`: the metadata that tells clients where to get a token. */
  readonly routes: readonly MetadataRoute[];
  /** The metadata of the resource at an address below this one, such as `/v/team`. */
  metadataOf(below: string): ProtectedResourceMetadata;
  /** The challenge for an operation that needs these scopes; `below`: at an address below this one. */
  challenge(scopes: readonly string[], below?: string): string;
}

/** What a request is for: this server, or one at an address below it. */
interface ProtectedResource {
  readonly parts: ChallengeParts;
  /** What `aud` of a token may be. */
  readonly audiences: ReadonlySet<string>;
}

const signatures = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Makes this server an OAuth resource server.
 *
 * @example
 * const oauth = createOAuthAuthenticator({ resource: 'https://mcp.example.com/mcp', issuers: ['https://id.example.com'] });
 * await serveHttp(server, { authenticate: oauth.authenticate, routes: oauth.routes });
 */
export function createOAuthAuthenticator(options: OAuthOptions): OAuthAuthenticator {
  assertKnownOptions('createOAuthAuthenticator', options, oauthOptions);
  const resource = canonicalResource(options.resource);
  requireList(
    'createOAuthAuthenticator',
    options.issuers,
    'issuers',
    "{ resource, issuers: ['https://id.example.com'] }",
  );
  for (const name of ['requiredScopes', 'scopesSupported', 'algorithms'] as const) {
    requireTexts(`${name} of createOAuthAuthenticator`, options[name]);
  }
  const issuers = options.issuers.map(
    (each) => new Issuer(typeof each === 'string' ? { issuer: each } : each, options.logger),
  );
  if (issuers.length === 0) throw new TypeError('OAuth needs at least one issuer');
  const algorithms = options.algorithms ?? signatures;
  const weak = algorithms.filter((each) => !signatures.includes(each));
  if (weak.length > 0) throw new TypeError(`Signature algorithms that are not allowed: ${weak.join(', ')}`);
  const requiredScopes = options.requiredScopes ?? [];
  const hierarchy = options.scopeHierarchy ?? {};
  const toleranceMs = options.clockToleranceMs ?? 30_000;
  const cache = new TokenCache(options.cacheMs ?? 30_000);

  const scopesSupported = options.scopesSupported ?? requiredScopes;
  const metadata: ProtectedResourceMetadata = {
    resource,
    authorization_servers: issuers.map(({ name }) => name),
    ...(scopesSupported.length === 0 ? {} : { scopes_supported: scopesSupported }),
    bearer_methods_supported: ['header'],
    ...(options.resourceName === undefined ? {} : { resource_name: options.resourceName }),
    ...(options.documentation === undefined ? {} : { resource_documentation: options.documentation }),
  };
  const describeResource = (address: string): ProtectedResource => ({
    parts: { resourceMetadata: metadataUrl(address), scopes: requiredScopes },
    audiences: audiencesOf(options.audience ?? [resource, address]),
  });
  const own = describeResource(resource);
  const resourceAt = (below: string): ProtectedResource =>
    below === '' ? own : describeResource(addressBelow(resource, below));

  const admit = (claims: Claims, issuer: string, { parts }: ProtectedResource): Principal | Denied => {
    // Bound to a key that the request does not prove to have: accepting it would bypass the binding.
    if (claims['cnf'] !== undefined) return invalidToken('sender-constrained tokens are not supported', parts);
    const principal = principalOf(claims, issuer, hierarchy);
    if (principal === undefined) return invalidToken('the token has no subject', parts);
    return hasScopes(principal, requiredScopes) ? principal : insufficientScope(requiredScopes, parts);
  };

  const verify = async (token: string, issuer: Issuer, target: ProtectedResource): Promise<Principal | Denied> => {
    const { parts, audiences } = target;
    const keys = await issuer.keys();
    try {
      const { payload, protectedHeader } = await verifyToken(token, keys, {
        issuer: issuer.name,
        audience: [...audiences],
        algorithms: [...algorithms],
        clockTolerance: toleranceMs / 1000,
        requiredClaims: ['exp'],
      });
      if (!isTokenType(protectedHeader.typ)) return invalidToken('the token is not an access token', parts);
      return admit(payload as JWTPayload & Claims, issuer.name, target);
    } catch (error) {
      const why = claimError(error);
      if (why === undefined) throw new AuthUnavailable(issuer.name, error);
      return invalidToken(why, parts);
    }
  };

  const lookUp = async (
    token: string,
    issuer: Issuer,
    target: ProtectedResource,
    wasAccepted: boolean,
  ): Promise<Principal | Denied> => {
    const { parts, audiences } = target;
    const claims = await issuer.lookUp(token, wasAccepted);
    if (claims === undefined) return invalidToken('the token is not active', parts);
    const flaw = checkClaims(claims, issuer.name, audiences, toleranceMs);
    return flaw === undefined ? admit(claims, issuer.name, target) : invalidToken(flaw, parts);
  };

  const find = async (token: string, target: ProtectedResource, wasAccepted: boolean): Promise<Principal | Denied> => {
    const { parts } = target;
    const said = await issuerNamedBy(token);
    if (said !== undefined) {
      const issuer = issuers.find(({ name }) => name === said);
      if (issuer === undefined) return invalidToken('the token is from another issuer', parts);
      return issuer.signs ? verify(token, issuer, target) : lookUp(token, issuer, target, wasAccepted);
    }
    for (const issuer of issuers.filter(({ looksUp }) => looksUp)) {
      const result = await lookUp(token, issuer, target, wasAccepted);
      if (!('status' in result) || result.status === 403) return result;
    }
    return invalidToken('the token is not known', parts);
  };

  return {
    metadata,
    routes: metadataRoutes(metadata),
    metadataOf: (below) => ({ ...metadata, resource: addressBelow(resource, below) }),
    challenge: (scopes, below = '') => {
      const { parts } = resourceAt(below);
      return challengeOf({ ...parts, error: 'insufficient_scope', scopes, description: 'more scopes are needed' });
    },
    authenticate(request) {
      const below = pathBelow(request.path, options.path);
      const bearer = readBearer(request);
      if (bearer === 'absent') return missingToken(resourceAt(below).parts);
      if (bearer === 'malformed') return invalidToken('the header is not a bearer token', resourceAt(below).parts);
      const { token } = bearer;
      return cache.get(below === '' ? token : `${token} ${below}`, (wasAccepted) =>
        find(token, resourceAt(below), wasAccepted),
      );
    },
  };
}

/** The rest of a path behind another one, with its slash; empty for all other paths. */
function pathBelow(path: string, parent: string | undefined): string {
  return parent !== undefined && path.startsWith(`${parent}/`) ? path.slice(parent.length) : '';
}

function addressBelow(resource: string, below: string): string {
  const url = new URL(resource);
  url.pathname = url.pathname.replace(/\/$/, '') + below;
  return url.href;
}

/** Values of `typ` for an access token; many issuers leave it out. */
const tokenTypes: ReadonlySet<string> = new Set(['', 'jwt', 'at+jwt', 'application/at+jwt']);

const isTokenType = (typ: unknown = ''): boolean => typeof typ === 'string' && tokenTypes.has(typ.toLowerCase());

/** With and without the trailing slash, which has no meaning. */
function audiencesOf(audience: string | readonly string[]): ReadonlySet<string> {
  const given = typeof audience === 'string' ? [audience] : audience;
  if (given.length === 0 || given.includes(''))
    throw new TypeError('The audience is empty: set the value that tokens must have in "aud"');
  return new Set(
    given.flatMap((each) =>
      /^https?:/.test(each) ? [each, each.replace(/\/$/, ''), each.replace(/\/?$/, '/')] : [each],
    ),
  );
}

/** The issuer that a token claims. It is unverified, and only selects the keys to check the token with. */
async function issuerNamedBy(token: string): Promise<string | undefined> {
  const { decodeJwt } = await loadJose();
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    return undefined; // Not a JWT: only its issuer can read the token.
  }
}

/** What is wrong with a token, as text for the client; undefined if the token is not the cause. */
function claimError(error: unknown): string | undefined {
  const { name, code, claim } = error as { readonly name?: unknown; readonly code?: unknown; readonly claim?: unknown };
  // What the platform's cryptography throws for a key that is too short or not on its curve.
  if (name === 'TypeError' || name === 'DataError' || name === 'NotSupportedError' || name === 'OperationError')
    return 'the key that the token names cannot be used';
  switch (code) {
    case 'ERR_JWT_EXPIRED':
      return 'the token has expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return claim === 'aud' ? 'the token is for another audience' : `the claim ${String(claim)} is not valid`;
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
    case 'ERR_JOSE_NOT_SUPPORTED':
    case 'ERR_JWS_INVALID':
    case 'ERR_JWT_INVALID':
      return 'the signature of the token is not valid';
    default:
      return undefined;
  }
}

/** The checks of a signed token, for claims from introspection. */
function checkClaims(
  claims: Claims,
  issuer: string,
  audiences: ReadonlySet<string>,
  toleranceMs: number,
): string | undefined {
  const { exp, nbf, iss, aud } = claims;
  const now = Date.now();
  if (typeof exp === 'number' && exp * 1000 + toleranceMs <= now) return 'the token has expired';
  if (typeof nbf === 'number' && nbf * 1000 - toleranceMs > now) return 'the token is not valid yet';
  if (iss !== undefined && iss !== issuer) return 'the token is from another issuer';
  const given = Array.isArray(aud) ? aud : [aud];
  return given.some((each) => audiences.has(each as string)) ? undefined : 'the token is for another audience';
}
