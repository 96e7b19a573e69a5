// The OAuth authorizer: knows which tokens are current, when they must be refreshed, and what a rejection requires. How a
// server is found, a token requested or a secret stored is in the other files of this folder.

import type {
  AuthorizationHeaders,
  Authorizer,
  ChallengeContext,
  ChallengedResponse,
  ChallengeOutcome,
  OutgoingRequest,
} from './authorizer.ts';
import type { AuthorizerOptions } from './authorizer-options.ts';
import { type Discovery, discover } from './discovery/discovery.ts';
import { defaultMetadata, findServerMetadata, type ServerMetadata } from './discovery/server-metadata.ts';
import { overHttp } from './discovery/url-guard.ts';
import { readChallenge, type ServerChallenge } from './discovery/www-authenticate.ts';
import { authErrors, type OAuthErrorInfo } from './errors.ts';
import { type Acquired, Acquisition } from './grants/acquisition.ts';
import { checkExtraParams } from './grants/extra-params.ts';
import { createLoopbackRedirector } from './grants/loopback.ts';
import type { RedirectListener, Redirector } from './grants/redirect.ts';
import type { TokenSet } from './grants/tokens.ts';
import { Holds } from './holds.ts';
import { type AuthHttp, createAuthHttp } from './http.ts';
import { assertAuthOptions, assertGrant } from './known-options.ts';
import { Presentation } from './presentation.ts';
import { chooseScopes, includesAll } from './scopes.ts';
import { SingleFlight } from './single-flight.ts';
import { createMemoryStore } from './storage/credential-store.ts';
import { Credentials } from './storage/credentials.ts';

/** Creates the authorizer for one MCP server. */
export function createAuthorizer(options: AuthorizerOptions): Authorizer {
  const server: unknown = options?.server;
  if (typeof server !== 'string' && !(server instanceof URL)) {
    throw new TypeError(
      "createAuthorizer needs the URL of the server: createAuthorizer({ server: 'https://mcp.example.com/mcp', store })",
    );
  }
  assertAuthOptions('createAuthorizer', options);
  assertGrant(options);
  return new OAuthAuthorizer(options);
}

/** One rejected request. */
interface Problem {
  readonly status: number;
  /** What was rejected. */
  readonly target: URL;
  readonly challenge: ServerChallenge;
  readonly oauthError: OAuthErrorInfo;
  /** The token that was rejected; undefined when none was sent. */
  readonly failed: string | undefined;
  readonly attempt: number;
}

// How often a user is asked for the same additional scopes.
const maxStepUps = 2;
// All scopes together. Stops a server that demands other ones with every response from making the request grow without limit.
const maxScopeChars = 65_536;
// After a failed refresh ahead of time, requests use the old token for a while.
const refreshRetryMs = 10_000;
const nothing: AuthorizationHeaders = Object.freeze({});

class OAuthAuthorizer implements Authorizer {
  readonly #options: AuthorizerOptions;
  readonly #http: AuthHttp;
  readonly #credentials: Credentials;
  readonly #acquisition: Acquisition;
  readonly #presentation = new Presentation();
  readonly #flights = new SingleFlight();
  readonly #holds = new Holds();
  readonly holdsTime = true;
  readonly #stepUps = new Map<string, number>();
  #opening: Promise<void> | undefined;
  #opened = false;
  #tokens: TokenSet | undefined;
  #noRenewalBefore = 0;
  /** How and when the current token came about. */
  #origin: 'store' | 'refresh' | 'grant' = 'store';
  #adoptedAt = 0;

  constructor(options: AuthorizerOptions) {
    const { extraParams = {}, grant } = options;
    checkExtraParams(extraParams);
    // A store has one token for each server: that of one user would be used for another.
    if (grant?.kind === 'token-exchange' && options.store !== undefined) {
      throw authErrors.configuration(
        'a store cannot be used with the token-exchange grant: tokens of users are kept apart',
      );
    }
    this.#options = options;
    this.#http = createAuthHttp(options.server, options);
    const store = options.store ?? createMemoryStore();
    const kind = options.grant?.kind ?? 'authorization-code';
    this.#credentials = new Credentials(store, this.#http.guard.server, kind);
    this.#acquisition = new Acquisition(this.#http, this.#credentials, {
      registration: options,
      grant: options.grant,
      redirector: options.redirector === false ? undefined : this.#asking(options.redirector ?? loopbackFor(options)),
      dpop: options.dpop ?? 'auto',
      signInTimeoutMs: options.signInTimeoutMs ?? 300_000,
      extraParams,
    });
  }

  headers(url: string | URL, request: OutgoingRequest): AuthorizationHeaders | Promise<AuthorizationHeaders> {
    const target = this.#own(url);
    if (target === undefined) return nothing;
    if (this.#opened && !this.#isDue()) return this.#presentation.headers(target, request.method);
    return this.#prepare(target, request);
  }

  async challenge(
    url: string | URL,
    response: ChallengedResponse,
    context: ChallengeContext = {},
  ): Promise<ChallengeOutcome> {
    const target = this.#own(url);
    const { status } = response;
    if (target === undefined || (status !== 401 && status !== 403)) return 'fail';
    const challenge = readChallenge(response.headers);
    if (status === 403 && challenge.error !== 'insufficient_scope') return 'fail';
    const { attempt = 1, signal } = context;
    const oauthError = { status, error: challenge.error, description: challenge.errorDescription };
    if (attempt > (this.#options.maxAttempts ?? 4)) throw authErrors.tooManyChallenges(attempt - 1, oauthError);
    await this.#open();
    if (status === 401 && challenge.error === 'use_dpop_nonce') {
      if (this.#presentation.meetNonce(target, response, context.sent)) return 'retry';
    }
    const failed = context.sent === undefined ? this.#tokens?.accessToken : tokenIn(context.sent);
    const problem: Problem = { status, target, challenge, oauthError, failed, attempt };
    const key = JSON.stringify([status, failed, challenge.scope]);
    const handle = (): Promise<void> =>
      this.#flights.run(key, (ended) => this.#handleChallenge(problem, ended), signal);
    await this.#holds.waiting(context.hold, handle);
    return 'retry';
  }

  observe(url: string | URL, response: ChallengedResponse): void {
    const target = this.#own(url);
    if (target !== undefined) this.#presentation.observe(target, response);
  }

  /** The URL if it is on the server's origin; credentials go nowhere else. */
  #own(url: string | URL): URL | undefined {
    const { server } = this.#http.guard;
    if (url === server.href) return server;
    const target = new URL(overHttp(url));
    return target.origin === server.origin ? target : undefined;
  }

  async #prepare(target: URL, request: OutgoingRequest): Promise<AuthorizationHeaders> {
    await this.#open();
    if (this.#isDue()) await this.#renewAhead(request.signal);
    return this.#presentation.headers(target, request.method);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#reload().then(
      () => {
        this.#opened = true;
      },
      (error) => {
        this.#opening = undefined; // The store may be repaired meanwhile: try again next time.
        throw error;
      },
    );
    return this.#opening;
  }

  /** Takes what the store holds now; another process may have refreshed them. */
  async #reload(): Promise<void> {
    const binding = await this.#credentials.binding();
    const stored = binding && (await this.#credentials.tokens(binding.issuer, binding.resource));
    if (stored !== undefined && stored.accessToken !== this.#tokens?.accessToken && this.#isOurs(stored)) {
      this.#adopt({ tokens: stored, dpop: undefined }, 'store');
    }
  }

  /** A token of another client in the same store, or for another resource, is not for us. */
  #isOurs(tokens: TokenSet): boolean {
    const { client, resource } = this.#options;
    if (resource !== undefined && tokens.resource !== resource) return false;
    const clients = [client ?? []].flat();
    return clients.length === 0 || clients.some(({ clientId }) => clientId === tokens.clientId);
  }

  #adopt({ tokens, dpop }: Acquired, origin: 'store' | 'refresh' | 'grant'): void {
    this.#tokens = tokens;
    this.#origin = origin;
    this.#adoptedAt = Date.now();
    this.#presentation.take(tokens, dpop);
    this.#noRenewalBefore = 0;
  }

  async #keep(acquired: Acquired, metadata: ServerMetadata, origin: 'refresh' | 'grant'): Promise<void> {
    await this.#credentials.saveTokens(acquired.tokens);
    await this.#bind(acquired.tokens, metadata);
    this.#adopt(acquired, origin);
  }

  #bind({ issuer, resource, clientId }: TokenSet, metadata: ServerMetadata): Promise<void> {
    const defaults = metadata.source === 'defaults' ? { defaults: true as const } : {};
    return this.#credentials.bind({ issuer, resource, clientId, ...defaults });
  }

  #isDue(): boolean {
    const { renewAt, refreshToken } = this.#tokens ?? {};
    if (renewAt === undefined || Date.now() < Math.max(renewAt, this.#noRenewalBefore)) return false;
    return refreshToken !== undefined || this.#options.grant !== undefined;
  }

  /** Refreshes before the token expires. Errors are ignored: the server's rejection of the token explains them better. */
  async #renewAhead(signal: AbortSignal | undefined): Promise<void> {
    const tokens = this.#tokens!;
    try {
      await this.#flights.run(
        JSON.stringify(['ahead', tokens.accessToken]),
        (ended) => this.#renew(tokens, ended),
        signal,
      );
    } catch (error) {
      if (signal?.aborted) throw error;
      this.#noRenewalBefore = Date.now() + refreshRetryMs;
    }
  }

  #renew(stale: TokenSet, signal: AbortSignal): Promise<void> {
    return this.#locked(signal, async () => {
      await this.#reload();
      if (this.#tokens?.accessToken !== stale.accessToken) return;
      const binding = await this.#credentials.binding();
      const metadata = binding?.defaults
        ? defaultMetadata(stale.issuer)
        : await findServerMetadata(this.#http, stale.issuer, { signal });
      if (this.#options.grant === undefined) {
        await this.#refreshed(stale, metadata, signal);
        return;
      }
      const dpopRequired = stale.tokenType === 'dpop';
      const known = { resource: stale.resource, metadata, scopesSupported: undefined, dpopRequired, tried: [] };
      const acquired = await this.#acquisition.grant(known, stale.requestedScope, this.#presentation.key, signal);
      await this.#keep(acquired, metadata, 'grant');
    });
  }

  /** Answers a challenge, or finds that another request already did. */
  #handleChallenge(problem: Problem, signal: AbortSignal): Promise<void> {
    return this.#locked(signal, async () => {
      await this.#reload();
      if (this.#isHandled(problem)) return;
      const discovery = await this.#discover(problem, signal);
      const { metadata, resource } = discovery;
      const stored = await this.#credentials.tokens(metadata.issuer, resource);
      const held = stored !== undefined && this.#isOurs(stored) ? stored : undefined;
      if (problem.status === 403) return this.#stepUp(problem, discovery, held, signal);
      if (held !== undefined && held.accessToken !== problem.failed) {
        await this.#bind(held, metadata);
        return this.#adopt({ tokens: held, dpop: undefined }, 'store');
      }
      // The retry was rejected again right after a new token: doing the same would not help.
      const inVain = problem.attempt > 1 && Date.now() - this.#adoptedAt < 60_000 ? this.#origin : undefined;
      if (held !== undefined && inVain === 'grant') {
        throw authErrors.tokenRejected(this.#http.guard.server.href, problem.oauthError);
      }
      if (held !== undefined && inVain !== 'refresh' && (await this.#refreshed(held, metadata, signal))) return;
      await this.#authorize(discovery, this.#scopesFor(problem, discovery, held), signal);
    });
  }

  #isHandled({ status, failed, challenge }: Problem): boolean {
    if (this.#tokens === undefined || this.#tokens.accessToken === failed) return false;
    return status === 401 || includesAll(this.#tokens.requestedScope, challenge.scope ?? []);
  }

  async #stepUp(
    problem: Problem,
    discovery: Discovery,
    held: TokenSet | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const challenged = problem.challenge.scope ?? [];
    const scopes = this.#scopesFor(problem, discovery, held);
    const wider = held === undefined || !includesAll(held.requestedScope, scopes);
    const withheld = held !== undefined && !includesAll(held.grantedScope, challenged);
    const key = [...scopes].sort().join(' ');
    if (key.length > maxScopeChars) throw authErrors.insufficientScope(challenged, problem.oauthError);
    const before = this.#stepUps.get(key) ?? 0;
    // A token that already has what is asked for will not be better the second time.
    if ((!wider && !withheld) || before >= maxStepUps)
      throw authErrors.insufficientScope(challenged, problem.oauthError);
    this.#stepUps.set(key, before + 1);
    await this.#authorize(discovery, scopes, signal);
    if (includesAll(this.#tokens?.grantedScope ?? [], challenged)) this.#stepUps.delete(key);
  }

  async #refreshed(tokens: TokenSet, metadata: ServerMetadata, signal: AbortSignal): Promise<boolean> {
    if (tokens.refreshToken === undefined || this.#options.grant !== undefined) return false;
    const key = this.#tokens?.accessToken === tokens.accessToken ? this.#presentation.key : undefined;
    const acquired = await this.#acquisition.refresh(tokens, metadata, key, signal);
    if (acquired !== undefined) {
      await this.#keep(acquired, metadata, 'refresh');
      return true;
    }
    // The refresh token is spent; the scopes once asked for are still worth remembering.
    const { refreshToken: _spent, ...rest } = tokens;
    await this.#credentials.saveTokens(rest);
    if (this.#tokens?.accessToken === tokens.accessToken) this.#tokens = rest;
    return false;
  }

  async #authorize(discovery: Discovery, scopes: readonly string[], signal: AbortSignal): Promise<void> {
    const acquired = await this.#acquisition.grant(discovery, scopes, undefined, signal);
    await this.#keep(acquired, discovery.metadata, 'grant');
  }

  #scopesFor({ challenge }: Problem, discovery: Discovery, held: TokenSet | undefined): string[] {
    // No user consents to an exchange: the server gets no more than the configuration allows.
    if (this.#options.grant?.kind === 'token-exchange' && this.#options.scopes !== undefined) {
      return [...this.#options.scopes];
    }
    return chooseScopes({
      challenged: challenge.scope,
      resource: discovery.scopesSupported,
      server: discovery.metadata.scopesSupported,
      configured: this.#options.scopes,
      previous: held?.requestedScope,
      offline: this.#options.grant === undefined && this.#options.offlineAccess !== false,
    });
  }

  async #discover({ challenge, target }: Problem, signal: AbortSignal): Promise<Discovery> {
    const { protocolVersion, chooseServer, resource } = this.#options;
    const clients = [this.#options.client ?? []].flat();
    const bound = await this.#credentials.binding();
    const found = await discover(this.#http, challenge, {
      signal,
      rejected: target,
      protocolVersion: typeof protocolVersion === 'function' ? protocolVersion() : protocolVersion,
      choose: chooseServer && (async (issuers) => this.#holds.ask(async () => chooseServer(issuers))),
      preferred: [...clients.flatMap(({ issuer }) => issuer ?? []), ...(bound === undefined ? [] : [bound.issuer])],
    });
    return resource === undefined ? found : { ...found, resource };
  }

  #locked(signal: AbortSignal, task: () => Promise<void>): Promise<void> {
    // The holder of the lock may be waiting for a user.
    const timeoutMs = (this.#options.signInTimeoutMs ?? 300_000) + 60_000;
    const over = this.#holds.asking();
    const begin = (): Promise<void> => {
      over();
      return task();
    };
    return this.#credentials.lock(begin, { signal, timeoutMs }).finally(over);
  }

  /** The same redirector; time limits are paused while a user signs in. */
  #asking(redirector: Redirector): Redirector {
    return {
      prepare: async (options) => {
        const stop = await redirector.prepare(options);
        const visit: RedirectListener['visit'] = (request) => this.#holds.ask(() => stop.visit(request));
        return { redirectUri: stop.redirectUri, visit, close: () => stop.close() };
      },
    };
  }
}

function loopbackFor({ clientName }: AuthorizerOptions): Redirector {
  return createLoopbackRedirector({ clientName });
}

function tokenIn(sent: AuthorizationHeaders): string | undefined {
  const value = sent['authorization'];
  return value?.slice(value.indexOf(' ') + 1);
}
