// The pages on which the users of a gateway sign in to its servers. A link names a sign-in; before anything else, the browser
// has to prove that its user is the caller for whom the link was made. Otherwise someone could send their own link to another
// user, who would sign in, and then use the server as that user (specification, "Security Best Practices").

import type { Logger } from '../../../common/logger.ts';
import { principalKey } from '../../../engine/ports.ts';
import { callerKey } from '../../../protocol/callers/caller-budget.ts';
import { type Authenticate, type MetadataRoute, type Principal, tokenIssuer } from '../../../security/auth/index.ts';
import type { HttpExchange } from '../../../transports/http.ts';
import { type BrowserSession, BrowserSessions } from './browser-sessions.ts';
import { pageHeaders, pages, renderPage, type SignInPage } from './pages.ts';
import type { PendingSignIn, PendingSignIns } from './pending-sign-ins.ts';
import { type Proof, principalOf } from './prove-user.ts';

const maxFormBytes = 16 * 1024;

export interface SignInPagesOptions {
  readonly pending: PendingSignIns;
  /** The address of the pages, without a slash at the end. */
  readonly base: string;
  readonly authenticate: Authenticate;
  /** Undefined: callers have tokens of the gateway, which its pages ask for. */
  readonly metadata: MetadataRoute | undefined;
  /** Whether there are tokens of the gateway besides the accounts at its authorization server. */
  readonly hasTokens: () => boolean;
  /** Begins the proof who a user is, at the authorization server of the gateway. */
  readonly prove: () => Promise<Proof>;
  /** The servers that a user is signed in to. */
  readonly serversOf: (principalKey: string) => Promise<readonly string[]>;
  readonly signOut: (principalKey: string) => Promise<void>;
  readonly logger: Logger;
}

/** Authorization servers send browsers back to this name below the pages, or for a server behind the gateway, below it. */
export const callbackName = 'callback';
/**
 * The address for one server. Each has its own, so that a response that the authorization server of one server caused at that of
 * another is not taken for its own (RFC 9700, section 4.4).
 */
export const callbackOf = (slug: string): string => `${callbackName}/${slug}`;

/** Proofs that are begun at a time; each asks the authorization server of the gateway, and anyone can open the pages. */
const maxBeginning = 16;
/** How long after one that could not begin none is tried: the next ones would cause the same requests. */
const failurePauseMs = 5_000;

export class SignInPages {
  readonly #options: SignInPagesOptions;
  readonly #sessions: BrowserSessions;
  #beginning = 0;
  #pausedUntilMs = 0;

  constructor(options: SignInPagesOptions) {
    this.#options = options;
    this.#sessions = new BrowserSessions(options.base.startsWith('https:'));
  }

  /** `name`: the rest of the path. */
  async handle(exchange: HttpExchange, name: string): Promise<void> {
    const session = this.#sessions.find(exchange.get('cookie'));
    if (name === callbackName) return this.#proven(exchange, session);
    if (name.startsWith(callbackOf(''))) {
      const own = session?.principal && this.#options.pending.of(principalKey(session.principal));
      return this.#signedIn(exchange, own?.filter(({ slug }) => name === callbackOf(slug)) ?? []);
    }
    const pending = this.#options.pending.find(name);
    if (pending === undefined && name !== '') return respond(exchange, 404, pages.unknown);
    if (exchange.method === 'POST' && !isOwnForm(exchange)) return respond(exchange, 403, pages.failed);
    const action = name === '' ? this.#options.base : `${this.#options.base}/${name}`;
    const { principal } = session ?? {};
    if (principal === undefined) {
      return this.#identify(exchange, session, pending, action);
    }
    return pending === undefined
      ? this.#servers(exchange, principal, action)
      : this.#consent(exchange, session, principal, pending, action);
  }

  /** What the user is signed in to, and the way out of it. */
  async #servers(exchange: HttpExchange, principal: Principal, action: string): Promise<void> {
    const key = principalKey(principal);
    if (exchange.method === 'POST') await this.#options.signOut(key);
    respond(exchange, 200, pages.servers(principal.id, await this.#options.serversOf(key), action));
  }

  #consent(
    exchange: HttpExchange,
    session: BrowserSession | undefined,
    principal: Principal,
    pending: PendingSignIn,
    action: string,
  ): void {
    const isOwn = principalKey(principal) === pending.principalKey;
    if (exchange.method === 'POST') {
      if (isOwn) {
        if (session !== undefined) this.#sessions.extend(session);
        return redirect(exchange, pending.visit.url.href);
      }
      // The button "I am another user".
      return redirect(exchange, action, this.#sessions.forgetUser(session));
    }
    if (!isOwn) return respond(exchange, 403, pages.otherUser(principal.id, action));
    respond(exchange, 200, pages.consent(principal.id, pending, action));
  }

  /** Finds out who the user is. */
  async #identify(
    exchange: HttpExchange,
    session: BrowserSession | undefined,
    pending: PendingSignIn | undefined,
    action: string,
  ): Promise<void> {
    const token = exchange.method === 'POST' ? (await formOf(exchange))?.get('token') : undefined;
    if (typeof token === 'string') return this.#tokenSent(exchange, session, token, action);
    const { metadata, hasTokens } = this.#options;
    if (hasGatewayToken(pending, metadata)) return respond(exchange, 200, pages.token(action));
    // The page of no link in particular.
    if (pending === undefined && exchange.method !== 'POST' && hasTokens()) {
      return respond(exchange, 200, pages.tokenOrAccount(action));
    }
    return this.#prove(exchange, session, action);
  }

  /** Sends the browser to the authorization server of the gateway. */
  async #prove(exchange: HttpExchange, session: BrowserSession | undefined, action: string): Promise<void> {
    if (performance.now() < this.#pausedUntilMs) return respond(exchange, 503, pages.unavailable);
    if (this.#beginning >= maxBeginning) return respond(exchange, 503, pages.busy);
    this.#beginning++;
    try {
      const { visit, principal } = await this.#options.prove();
      principal.catch(() => {});
      const caller = callerKey({ principal: undefined, address: exchange.address });
      const cookie = this.#sessions.prove(session, { visit, principal, page: action, caller });
      redirect(exchange, visit.url.href, cookie);
    } catch (error) {
      this.#options.logger.warn('users cannot sign in to the gateway', { error: (error as Error).message });
      this.#pausedUntilMs = performance.now() + failurePauseMs;
      respond(exchange, 503, pages.unavailable);
    } finally {
      this.#beginning--;
    }
  }

  async #tokenSent(
    exchange: HttpExchange,
    session: BrowserSession | undefined,
    token: string,
    action: string,
  ): Promise<void> {
    const { authenticate, base } = this.#options;
    // Without the ticket.
    const from = { path: new URL(base).pathname, address: exchange.address };
    const found = await principalOf({ authorization: `Bearer ${token}` }, authenticate, from).catch(() => {});
    if (found === undefined) return respond(exchange, 403, pages.wrongToken(action));
    redirect(exchange, action, this.#sessions.proven(session, found));
  }

  /** The browser is back from the authorization server of the gateway. */
  async #proven(exchange: HttpExchange, session: BrowserSession | undefined): Promise<void> {
    const parameters = new URLSearchParams(exchange.query);
    for (const proof of session?.proofs ?? []) {
      if (proof.visit.receive(parameters) === 'foreign') continue;
      const found = await proof.principal.catch((error: unknown) => {
        this.#options.logger.warn('a user could not sign in to the gateway', { error: (error as Error).message });
      });
      if (found === undefined) return respond(exchange, 403, pages.failed);
      return redirect(exchange, proof.page, this.#sessions.proven(session, found, proof));
    }
    respond(exchange, 400, pages.unknown);
  }

  /**
   * The browser is back from the authorization server of a server. `signIns`: those of the user who was asked for consent in the same
   * browser; no other user can finish one, or have another account linked.
   */
  async #signedIn(exchange: HttpExchange, signIns: readonly PendingSignIn[]): Promise<void> {
    const parameters = new URLSearchParams(exchange.query);
    for (const each of signIns) {
      const received = each.visit.receive(parameters);
      if (received === 'foreign') continue;
      const isDone = received === 'accepted' && (await each.link.finished);
      return respond(exchange, isDone ? 200 : 400, isDone ? pages.done(each.slug) : pages.failed);
    }
    respond(exchange, 400, pages.unknown);
  }
}

/** Whether the caller has a token of the gateway itself, and no account at an authorization server. */
function hasGatewayToken(pending: PendingSignIn | undefined, metadata: MetadataRoute | undefined): boolean {
  if (metadata === undefined || pending === undefined) return metadata === undefined;
  const [issuer = ''] = pending.principalKey.split('\0');
  return issuer === '' || issuer === tokenIssuer;
}

/** Pages of other origins cannot send our forms: with a token of their own, they would decide who the user of the browser is. */
function isOwnForm(exchange: HttpExchange): boolean {
  const site = exchange.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin';
  const origin = exchange.get('origin') ?? '';
  return URL.canParse(origin) && new URL(origin).host === (exchange.get('host') ?? '').toLowerCase();
}

function formOf(exchange: HttpExchange): Promise<URLSearchParams | undefined> {
  return new Promise((resolve) => {
    exchange.readBody(maxFormBytes, (body) =>
      resolve(typeof body === 'string' ? new URLSearchParams(body) : undefined),
    );
  });
}

function respond(exchange: HttpExchange, status: number, page: SignInPage): void {
  exchange.respond(status, pageHeaders, renderPage(page));
}

function redirect(exchange: HttpExchange, to: string, cookie?: string): void {
  const headers = ['Location', to, 'Cache-Control', 'no-store', 'Referrer-Policy', 'no-referrer'];
  exchange.respond(303, cookie === undefined ? headers : [...headers, 'Set-Cookie', cookie]);
}
