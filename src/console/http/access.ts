// Who may use the console: a user with the token of this start, or a principal with the scope `console`. Host is checked by
// the HTTP server first.

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Moment, monotonicMs } from '../../common/clock.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import type { ConsoleExchange, ConsoleUser, Right } from '../contract.ts';

/** The scope to view and try the server with a token of its own authentication. */
const consoleScope = 'console';
/** The scope to operate it as well. */
const operateScope = 'console:operate';

/** Wrong tokens of one address within a minute; more get 429. Stops programs on this machine from guessing. */
const maxWrongTokens = 5;
const windowMs = 60_000;
/** A code is exchanged by the page that was just opened. A code that is found later, for example in a log, no longer works. */
const codeMs = 60_000;
/** Stops a program that opens pages again and again from filling the memory. */
const maxCodes = 100;
/** Stops many addresses from filling the memory. */
const maxAddresses = 1_000;

export interface AccessOptions {
  /** Undefined: only principals of `authenticate` have access. */
  readonly token: string | undefined;
  /** Only the right `view`. */
  readonly readOnly?: boolean;
  /** The token also has the right `operate`. */
  readonly operate?: boolean;
  /** Authenticates tokens other than that of this start. */
  readonly authenticate?: ((request: ConsoleExchange) => Promise<Principal | undefined>) | undefined;
}

export interface AccessDenied {
  readonly status: 401 | 403 | 429;
  readonly code: string;
  readonly message: string;
}

export type ConsoleAdmission = { readonly user: ConsoleUser } | { readonly denied: AccessDenied };

export class Access {
  readonly #options: AccessOptions;
  readonly #token: Buffer | undefined;
  readonly #wrong = new Map<string, { count: number; sinceMs: number }>();
  /** Codes, with the token that each was exchanged for. A code that is used twice was read by others. */
  readonly #codes = new Map<string, { readonly created: Moment; token?: Buffer | 'revoked' }>();

  constructor(options: AccessOptions) {
    this.#options = options;
    this.#token = options.token === undefined ? undefined : Buffer.from(options.token);
  }

  async check(exchange: ConsoleExchange): Promise<ConsoleAdmission> {
    if (!isSameOrigin(exchange)) {
      return denied(403, 'origin', 'Pages of other origins have no access to the console');
    }
    const [, token] = /^Bearer ([^\s]+)$/i.exec(exchange.get('authorization') ?? '') ?? [];
    if (token === undefined) {
      return denied(401, 'token', 'The console needs its token. Open the link that was printed when it was started');
    }
    const given = Buffer.from(token);
    if (this.#token !== undefined && isEqual(given, this.#token)) return { user: this.#tokenUser };
    for (const { token: exchanged } of this.#codes.values()) {
      if (exchanged instanceof Buffer && isEqual(given, exchanged)) return { user: this.#tokenUser };
    }
    const principal = await this.#options.authenticate?.(exchange);
    if (principal !== undefined) return admitPrincipal(principal, this.#options.readOnly === true);
    // The right token is accepted before this: other programs cannot lock the user out.
    if (this.#isGuessing(exchange.address ?? '')) return denied(429, 'rate', 'Too many wrong tokens. Wait a minute');
    return denied(401, 'token', 'The token is wrong or from an earlier start. Open the link of the current start');
  }

  /** A code for a link that other users of this machine may see, because it is an argument of the program that opens it. */
  createCode(): string {
    const code = randomBytes(32).toString('base64url');
    this.#codes.set(code, { created: new Moment() });
    if (this.#codes.size > maxCodes) this.#codes.delete(this.#codes.keys().next().value as string);
    return code;
  }

  /** The token for a code, once. If a code is used twice, its token is revoked, because one of the two uses was not by the user. */
  exchange(exchange: ConsoleExchange, code: unknown): { readonly token: string } | { readonly denied: AccessDenied } {
    if (!isSameOrigin(exchange)) return denied(403, 'origin', 'Pages of other origins have no access to the console');
    const known = typeof code === 'string' ? this.#codes.get(code) : undefined;
    if (known !== undefined && known.token === undefined && known.created.ageMs < codeMs) {
      const token = randomBytes(32).toString('base64url');
      known.token = Buffer.from(token);
      return { token };
    }
    if (known?.token !== undefined) known.token = 'revoked';
    if (this.#isGuessing(exchange.address ?? '')) return denied(429, 'rate', 'Too many wrong codes. Wait a minute');
    return denied(401, 'code', 'The link was used already, or is too old. Open the link that was printed instead');
  }

  get #tokenUser(): ConsoleUser {
    const { readOnly = false, operate = false } = this.#options;
    return { id: 'console', rights: rightsOf(readOnly, operate) };
  }

  #isGuessing(address: string): boolean {
    const now = monotonicMs();
    const known = this.#wrong.get(address);
    if (known !== undefined && now - known.sinceMs < windowMs) return ++known.count > maxWrongTokens;
    this.#wrong.delete(address);
    this.#wrong.set(address, { count: 1, sinceMs: now });
    if (this.#wrong.size > maxAddresses) this.#wrong.delete(this.#wrong.keys().next().value as string);
    return false;
  }
}

function admitPrincipal(principal: Principal, readOnly: boolean): ConsoleAdmission {
  const scopes = principal.scopes ?? [];
  if (!scopes.includes(consoleScope)) {
    return denied(403, 'scope', `The token does not have the scope "${consoleScope}"`);
  }
  return { user: { id: principal.id, rights: rightsOf(readOnly, scopes.includes(operateScope)) } };
}

function rightsOf(readOnly: boolean, operate: boolean): ReadonlySet<Right> {
  if (readOnly) return new Set(['view']);
  return new Set(operate ? ['view', 'try', 'operate'] : ['view', 'try']);
}

/**
 * Browsers send `Origin` with everything except requests to the same origin, and `Sec-Fetch-Site` with those. Programs send
 * neither; they have no user whose token they could misuse. Host has been checked, so Origin can be compared with it.
 */
function isSameOrigin(exchange: ConsoleExchange): boolean {
  const origin = exchange.get('origin');
  const site = exchange.get('sec-fetch-site');
  if (origin === undefined) return site === undefined || site === 'same-origin';
  return URL.canParse(origin) && new URL(origin).host === (exchange.get('host') ?? '').toLowerCase();
}

function denied(status: AccessDenied['status'], code: string, message: string): { readonly denied: AccessDenied } {
  return { denied: { status, code, message } };
}

function isEqual(left: Buffer, right: Buffer): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}
