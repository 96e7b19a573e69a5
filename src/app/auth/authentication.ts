// Authentication from the settings: static tokens, a file of token hashes, an OAuth authorization server; and the
// principal of a stdio connection.

import { reasonText } from '../../common/errno-text.ts';
import type { Logger } from '../../common/logger.ts';
import {
  type Authenticate,
  anyOf,
  authenticateEnvironment,
  createOAuthAuthenticator,
  createTokenAuthenticator,
  type MetadataRoute,
  type OAuthAuthenticator,
  type Principal,
  readTokenFile,
  type TokenEntry,
} from '../../security/auth/index.ts';
import { endpointUrl } from '../../transports/http/endpoint-url.ts';
import type { AuthSettings, HttpSettings, OAuthSettings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { readLiteralTokens } from './literal-tokens.ts';

export interface Authentication {
  readonly authenticate: Authenticate;
  /** Tokens given by value and those of the file, as hashes. */
  readonly tokens: readonly TokenEntry[];
  /** Metadata routes that tell clients where to get a token. */
  readonly routes: readonly MetadataRoute[];
  /** The metadata of the resource at an address below the endpoint. */
  readonly metadataOf?: OAuthAuthenticator['metadataOf'] | undefined;
  /** Builds the challenge for a call that needs more scopes. */
  readonly challenge?: OAuthAuthenticator['challenge'] | undefined;
  /** OAuth authentication, and the settings it was created with. */
  readonly oauth?: { readonly authenticator: OAuthAuthenticator; readonly settings: string } | undefined;
}

/**
 * Creates the authenticator. Throws a `UsageError` for invalid tokens and URLs. Data of `previous` about an authorization
 * server is reused if its settings are the same. Undefined if there are no credentials to accept: an empty token file.
 */
export function createAuthentication(
  auth: AuthSettings,
  http: HttpSettings,
  logger: Logger,
  previous?: Authentication,
): Authentication | undefined {
  const ways: Authenticate[] = [];
  const tokens = [...readLiteralTokens(auth.tokens), ...(auth.tokenFile === undefined ? [] : tokensOf(auth.tokenFile))];
  if (tokens.length > 0) ways.push(asUsageError('auth', () => createTokenAuthenticator({ tokens })));
  const oauth = auth.oauth && oauthOf(auth.oauth, http, logger, previous?.oauth);
  if (oauth !== undefined) ways.push(oauth.authenticator.authenticate);
  if (ways.length === 0) return undefined;
  return {
    authenticate: ways.length === 1 ? (ways[0] as Authenticate) : anyOf(...ways),
    tokens,
    routes: oauth?.authenticator.routes ?? [],
    metadataOf: oauth?.authenticator.metadataOf,
    challenge: oauth?.authenticator.challenge,
    oauth,
  };
}

/**
 * The principal of a stdio connection: that of the token in the environment, by the token file. Without a token there
 * is no principal: the user who starts the server already has all of its rights.
 */
export async function principalOfStdio(
  tokenFile: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Principal | undefined> {
  if (env['MOORING_TOKEN'] === undefined) return undefined;
  const tokens = tokensOf(tokenFile);
  const authenticate = asUsageError(tokenFile, () => createTokenAuthenticator({ tokens }));
  return authenticateEnvironment(authenticate, env).catch((error: unknown) => {
    throw new UsageError(`${(error as Error).message} (token file: ${tokenFile})`);
  });
}

function tokensOf(file: string): TokenEntry[] {
  return asUsageError(file, () => readTokenFile(file));
}

function oauthOf(
  { issuer, audience, jwksUrl, scopes }: OAuthSettings,
  http: HttpSettings,
  logger: Logger,
  previous: Authentication['oauth'],
): NonNullable<Authentication['oauth']> {
  const options = asUsageError('auth.oauth', () => ({
    resource: resourceOf(http),
    path: http.path,
    issuers: [{ issuer, ...(jwksUrl === undefined ? {} : { jwks: jwksUrl }) }],
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { requiredScopes: scopes }),
  }));
  const settings = JSON.stringify(options);
  if (previous?.settings === settings) return previous;
  return {
    settings,
    authenticator: asUsageError('auth.oauth', () => createOAuthAuthenticator({ ...options, logger })),
  };
}

/** The public address of this server: the audience of tokens. */
function resourceOf({ publicUrl, host, port, path }: HttpSettings): string {
  if (publicUrl !== undefined) return endpointUrl(publicUrl, path);
  if (host === '0.0.0.0' || host === '::') {
    throw new UsageError(
      `OAuth tokens are issued for the address of the server, and clients cannot use ${host}. Set the address with --public-url`,
    );
  }
  if (port === 0)
    throw new UsageError(
      'OAuth tokens are issued for the address of the server. Set it with --public-url, or choose a --port other than 0',
    );
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
}

function asUsageError<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const reason = reasonText(error, 'file');
    throw new UsageError(reason.startsWith(where) ? reason : `${where}: ${reason}`);
  }
}
