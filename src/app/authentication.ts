// Who may connect, from the settings: static tokens, a file of their hashes, an OAuth authorization server; and who is
// at the other end of a pipe.

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
} from '../security/auth/index.ts';
import { readLiteralTokens } from './literal-tokens.ts';
import { Mistake } from './mistake.ts';
import type { AuthSettings, HttpSettings, OAuthSettings } from './settings.ts';

export interface Authentication {
  readonly authenticate: Authenticate;
  /** Tokens given by value and those of the file, as hashes. */
  readonly tokens: readonly TokenEntry[];
  /** Pages that tell clients where to get a token. */
  readonly routes: readonly MetadataRoute[];
  /** Spells the challenge for a call that needs more scopes. */
  readonly challenge?: OAuthAuthenticator['challenge'] | undefined;
  /** Tokens of an authorization server, and the settings they are checked by. */
  readonly oauth?: { readonly authenticator: OAuthAuthenticator; readonly settings: string } | undefined;
}

/**
 * Makes an authenticator. Throws a `Mistake` for tokens and addresses that can not be used. What `previous` knows of an
 * authorization server is kept where its settings are the same. Undefined where there is nothing to be admitted by: a
 * token file without tokens.
 */
export function createAuthentication(
  auth: AuthSettings,
  http: HttpSettings,
  previous?: Authentication,
): Authentication | undefined {
  const ways: Authenticate[] = [];
  const tokens = [...readLiteralTokens(auth.tokens), ...(auth.tokenFile === undefined ? [] : tokensOf(auth.tokenFile))];
  if (tokens.length > 0) ways.push(mistaken('auth', () => createTokenAuthenticator({ tokens })));
  const oauth = auth.oauth && oauthOf(auth.oauth, http, previous?.oauth);
  if (oauth !== undefined) ways.push(oauth.authenticator.authenticate);
  if (ways.length === 0) return undefined;
  return {
    authenticate: ways.length === 1 ? (ways[0] as Authenticate) : anyOf(...ways),
    tokens,
    routes: oauth?.authenticator.routes ?? [],
    challenge: oauth?.authenticator.challenge,
    oauth,
  };
}

/**
 * Whom a pipe is for: the token in the environment, looked up in the token file. Without a token it is for nobody in
 * particular, as ever: whoever starts the server can do all that it can.
 */
export async function principalOfPipe(
  tokenFile: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Principal | undefined> {
  if (env['MOORING_TOKEN'] === undefined) return undefined;
  const tokens = tokensOf(tokenFile);
  const authenticate = mistaken(tokenFile, () => createTokenAuthenticator({ tokens }));
  return authenticateEnvironment(authenticate, env).catch((error: unknown) => {
    throw new Mistake(`${(error as Error).message} (looked for it in ${tokenFile})`);
  });
}

function tokensOf(file: string): TokenEntry[] {
  return mistaken(file, () => readTokenFile(file));
}

function oauthOf(
  { issuer, audience, jwksUrl, scopes }: OAuthSettings,
  http: HttpSettings,
  previous: Authentication['oauth'],
): NonNullable<Authentication['oauth']> {
  const options = mistaken('auth.oauth', () => ({
    resource: resourceOf(http),
    issuers: [{ issuer, ...(jwksUrl === undefined ? {} : { jwks: jwksUrl }) }],
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { requiredScopes: scopes }),
  }));
  const settings = JSON.stringify(options);
  if (previous?.settings === settings) return previous;
  return { settings, authenticator: mistaken('auth.oauth', () => createOAuthAuthenticator(options)) };
}

/** The address clients know us by: tokens are made for it. */
function resourceOf({ publicUrl, host, port, path }: HttpSettings): string {
  if (publicUrl !== undefined) {
    const url = new URL(publicUrl);
    return url.pathname === '/' ? new URL(path, url).href : url.href;
  }
  if (host === '0.0.0.0' || host === '::') {
    throw new Mistake(`Tokens are made for an address, and ${host} is none that clients could use: give --public-url`);
  }
  if (port === 0) throw new Mistake('Tokens are made for an address: give --public-url, or a --port other than 0');
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
}

function mistaken<T>(where: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Mistake) throw error;
    throw new Mistake(`${where}: ${(error as Error).message}`);
  }
}
