// The credentials of the gateway for its servers: one authorizer for each server, or for each caller of it. The credentials of
// callers are for the gateway and never reach a server; a server may get others that were issued in exchange.

import {
  AuthError,
  type Authorizer,
  type CredentialStore,
  createAuthorizer,
  createFileStore,
  createMemoryStore,
} from '../../client/index.ts';
import type { UpstreamAuth, UpstreamConfig } from '../../gateway/config/gateway-config.ts';
import { CallersSignIn } from '../../gateway/index.ts';
import { plainReach } from '../auth/plain-http.ts';
import { clientOf, requestOf } from './auth-request.ts';
import type { SignInAccess } from './sign-in/sign-in-access.ts';

export interface AuthorizerSettings {
  /** Whether a user is at this machine, who can sign in with the browser. */
  readonly isInteractive: boolean;
  /** Whether there are several users: the sign-in of one is not used for another. */
  readonly hasUsers: boolean;
  /** Callers sign in themselves. Default: they cannot. */
  readonly signIns?: Pick<SignInAccess, 'load'>;
  /** The latest token of a caller. Default: none is known. */
  readonly tokenOf?: (principalKey: string) => string | undefined;
}

/** Callers of servers, and their tokens, whose credentials are kept for the next request; the least recently used are forgotten. */
const maxKept = 10_000;

/** Returns the function that finds the authorizer of a server; undefined where it needs none. */
export function upstreamAuthorizers({
  isInteractive,
  hasUsers,
  signIns,
  tokenOf = () => undefined,
}: AuthorizerSettings): (
  config: UpstreamConfig,
  principalKey?: string,
) => Authorizer | undefined | Promise<Authorizer | undefined> {
  const known = new Map<string, Authorizer>();
  const ofCallers = new Map<string, Authorizer>();
  const ofTokens = new Map<string, Authorizer>();
  const exchanging = (server: string, auth: TokenExchange, digest: string, principalKey: string): Authorizer => {
    const key = `${digest} ${principalKey}`;
    const ofToken = (token: string | undefined): Authorizer =>
      kept(ofTokens, `${key} ${token ?? ''}`, () => withPauses(exchangeOf(server, auth, token)));
    return kept(ofCallers, key, () => ofLatestToken(() => tokenOf(principalKey), ofToken));
  };
  return (config, principalKey = '') => {
    const { auth, entry, digest } = config;
    if (entry.url === undefined || auth.kind === 'none' || auth.kind === 'headers') return undefined;
    if (auth.kind === 'token-exchange') return exchanging(entry.url, auth, digest, principalKey);
    // Most servers in a local network, and in containers, need no credentials; tokens would not be sent there.
    if (auth.kind === 'oauth' && plainReach(entry.url) === 'local-network') return undefined;
    // With isolated callers, the sign-in of the operator is not used: callers would act as the operator.
    if (hasUsers && config.isolation !== 'shared' && auth.kind === 'oauth') {
      const users = signIns?.load();
      if (users !== undefined && principalKey !== '') {
        return users.then((each) => each.authorizerOf({ ...config, auth }, principalKey));
      }
      const authorizer = create(entry.url, auth, createMemoryStore(), false);
      return withoutSignIn(authorizer, users === undefined ? explainSignIn : () => new CallersSignIn());
    }
    let authorizer = known.get(digest);
    if (authorizer === undefined) {
      authorizer = create(entry.url, auth, createFileStore(), isInteractive);
      known.set(digest, authorizer);
    }
    return authorizer;
  };
}

function kept(all: Map<string, Authorizer>, key: string, create: () => Authorizer): Authorizer {
  const authorizer = all.get(key) ?? create();
  all.delete(key);
  all.set(key, authorizer);
  if (all.size > maxKept) all.delete(all.keys().next().value as string);
  return authorizer;
}

/** Why no user can sign in: a login would not help. */
function explainSignIn(cause: AuthError): AuthError {
  return new AuthError(
    'configuration',
    'The server requires a user to sign in, and the sign-in of the operator is not used for callers that are kept apart. Callers sign in themselves over HTTP at an https address or on this machine (--public-url). Set "isolation": "shared" if they may act as the operator, or use another kind of "auth"',
    { cause },
  );
}

function withoutSignIn(authorizer: Authorizer, explain: (cause: AuthError) => AuthError): Authorizer {
  return {
    holdsTime: true,
    headers: (url, request) => authorizer.headers(url, request),
    async challenge(url, response, context) {
      try {
        return await authorizer.challenge(url, response, context);
      } catch (error) {
        if (!(error instanceof AuthError && error.code === 'interaction-required')) throw error;
        throw explain(error);
      }
    },
  };
}

type TokenExchange = UpstreamAuth & { readonly kind: 'token-exchange' };

/** The credentials of one caller: what was issued for the token that it has sent last, which may allow less than another one. */
function ofLatestToken(
  callerToken: () => string | undefined,
  ofToken: (token: string | undefined) => Authorizer,
): Authorizer {
  let latest: { readonly token: string | undefined; readonly authorizer: Authorizer } | undefined;
  const current = (): Authorizer => {
    // Without a valid one, what was issued before is used until it expires.
    const token = callerToken() ?? latest?.token;
    if (latest === undefined || latest.token !== token) latest = { token, authorizer: ofToken(token) };
    return latest.authorizer;
  };
  return {
    holdsTime: true,
    headers: (url, request) => current().headers(url, request),
    observe: (url, response) => current().observe?.(url, response),
    challenge: (url, response, context) => current().challenge(url, response, context),
  };
}

/** The credentials for one token. They are stored in memory only. */
function exchangeOf(server: string, auth: TokenExchange, token: string | undefined): Authorizer {
  const subjectToken = (): string => {
    if (token !== undefined) return token;
    throw new AuthError(
      'interaction-required',
      'There is no token of the caller that could be exchanged. Callers must send one of an authorization server (--http with --auth-issuer)',
    );
  };
  const { subjectTokenType = 'access_token' } = auth;
  return createAuthorizer({
    server,
    grant: { kind: 'token-exchange', subjectToken, subjectTokenType },
    client: clientOf(auth),
    redirector: false,
    ...requestOf(auth),
  });
}

/** Stops a caller whose token is not exchanged from causing requests to the authorization server with every call. */
const failurePauseMs = 10_000;

/** After a failure, the next attempts fail in the same way for a while. */
function withPauses(authorizer: Authorizer): Authorizer {
  let last: { readonly error: AuthError; readonly untilMs: number } | undefined;
  return {
    holdsTime: true,
    headers: (url, request) => authorizer.headers(url, request),
    observe: (url, response) => authorizer.observe?.(url, response),
    async challenge(url, response, context) {
      // A 403 is about the scopes of one request.
      const isOfToken = response.status === 401;
      if (isOfToken && last !== undefined && performance.now() < last.untilMs) throw last.error;
      try {
        return await authorizer.challenge(url, response, context);
      } catch (error) {
        if (isOfToken && error instanceof AuthError) last = { error, untilMs: performance.now() + failurePauseMs };
        throw error;
      }
    },
  };
}

type SignedIn = UpstreamAuth & { readonly kind: 'oauth' | 'client-credentials' };

function create(server: string, auth: SignedIn, store: CredentialStore, isInteractive: boolean): Authorizer {
  const request = requestOf(auth);
  if (auth.kind === 'oauth') {
    const client = auth.clientId === undefined ? {} : { client: clientOf({ ...auth, clientId: auth.clientId }) };
    // Stored tokens are used even without a user.
    const redirector = isInteractive ? {} : ({ redirector: false } as const);
    return createAuthorizer({ server, store, ...request, ...client, ...redirector });
  }
  return createAuthorizer({
    server,
    grant: { kind: 'client-credentials' },
    client: clientOf(auth),
    redirector: false,
    ...request,
  });
}
