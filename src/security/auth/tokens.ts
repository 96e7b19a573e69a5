// Static bearer tokens: created here, shown once, stored as hashes. They have 256 random bits, so a plain hash is enough
// to protect them; a token that a person made up is rejected.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { decodeText } from '../../common/decode-text.ts';
import { reasonText } from '../../common/errno-text.ts';
import { hasModes } from '../../common/file-modes.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { parseJson } from '../../common/parse-json.ts';
import { requireList, requireTexts } from '../rule-checks.ts';
import { insufficientScope, invalidToken, missingToken, readBearer } from './bearer.ts';
import { hasScopes, type ScopeHierarchy, withImplied } from './claims.ts';
import type { Authenticate, Principal } from './contract.ts';
import { tokenIssuer } from './token-issuer.ts';

/** The principal of a token, and its hash. */
export interface TokenEntry {
  /** The name of the caller: `ctx.principal.id`. */
  readonly id: string;
  /** `sha256:` and 64 hex digits, as `createToken` returns it. */
  readonly hash: string;
  /** The scopes of the caller. Default: none. */
  readonly scopes?: readonly string[];
  /** A date; the token is not valid from then on. */
  readonly expires?: string;
}

/** Which static tokens are accepted. */
export interface TokenOptions {
  /** The accepted tokens, as `readTokenFile` returns them. */
  readonly tokens: readonly TokenEntry[];
  /** Scopes that every caller must have. Default: none. */
  readonly requiredScopes?: readonly string[];
  /** Scopes that include others. Default: none do. */
  readonly scopeHierarchy?: ScopeHierarchy;
}

const tokenOptions: Record<keyof TokenOptions, true> = { tokens: true, requiredScopes: true, scopeHierarchy: true };

/** Marks our tokens, for people and for scanners that look for leaked ones. */
const prefix = 'mrg_';

/** Creates a token. Show it once and store the hash. */
export function createToken(): { readonly token: string; readonly hash: string } {
  const token = prefix + randomBytes(32).toString('base64url');
  return { token, hash: hashToken(token) };
}

/** The hash under which a token is stored. Throws for a token that could be guessed. */
export function hashToken(token: string): string {
  if (typeof token !== 'string')
    throw new TypeError('hashToken needs the text of a token: hashToken(createToken().token)');
  if (token.length < 32 || new Set(token).size < 12) {
    throw new RangeError(
      'A token needs at least 32 characters that cannot be guessed; create one with "mooring token"',
    );
  }
  return `sha256:${digest(token).toString('hex')}`;
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest();

/**
 * The id of a caller whose token has no name. It depends only on the token, so it stays the same wherever the token is
 * in a list, and never becomes that of another token. It is derived separately from the hash that authenticates: the id
 * in logs does not help to find the token.
 */
export function idOfToken(token: string): string {
  return `caller:${createHash('sha256').update(`mooring caller\u0000${token}`).digest('hex').slice(0, 32)}`;
}

/** The hash of the token of each principal; several tokens may belong to one caller. */
const hashes = new WeakMap<Principal, string>();

/** The hash of the token that a principal authenticated with; undefined for another kind of authentication. */
export const tokenHashOf = (principal: Principal): string | undefined => hashes.get(principal);

/** Accepts the given tokens. */
export function createTokenAuthenticator(options: TokenOptions): Authenticate {
  assertKnownOptions('createTokenAuthenticator', options, tokenOptions);
  requireList('createTokenAuthenticator', options.tokens, 'tokens', "{ tokens: readTokenFile('tokens.json') }");
  requireTexts('requiredScopes of createTokenAuthenticator', options.requiredScopes);
  for (const [index, entry] of options.tokens.entries()) requireEntry(index, entry);
  const required = options.requiredScopes ?? [];
  const entries = options.tokens.map((entry) => ({
    hash: bytesOf(entry),
    expiresAtMs: expiryOf(entry),
    principal: principalOf(entry, options.scopeHierarchy ?? {}),
  }));
  if (entries.length === 0)
    throw new TypeError('The list of tokens is empty, so no client could authenticate; add a token');
  for (const [i, { principal }] of entries.entries()) hashes.set(principal, (options.tokens[i] as TokenEntry).hash);
  return (request) => {
    const bearer = readBearer(request);
    if (bearer === 'absent') return missingToken({ scopes: required });
    if (bearer === 'malformed') return invalidToken('the header is not a bearer token');
    const shown = digest(bearer.token);
    let found: (typeof entries)[number] | undefined;
    // Always compares all of them, so that the time reveals nothing.
    for (const entry of entries) if (timingSafeEqual(entry.hash, shown)) found = entry;
    if (found === undefined) return invalidToken('the token is not known');
    if (found.expiresAtMs <= Date.now()) return invalidToken('the token has expired');
    return hasScopes(found.principal, required) ? found.principal : insufficientScope(required);
  };
}

function requireEntry(index: number, entry: unknown): void {
  if (typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'string' && entry.id !== '')
    return;
  throw new TypeError(
    `tokens[${index}] needs an id, a non-empty string, and a hash: { id: "alice", hash: hashToken(token) }`,
  );
}

function principalOf({ id, scopes = [], expires }: TokenEntry, hierarchy: ScopeHierarchy): Principal {
  const until = expires === undefined ? {} : { expiresAtMs: Date.parse(expires) };
  return { id, issuer: tokenIssuer, scopes: withImplied(scopes, hierarchy), ...until };
}

function bytesOf({ id, hash }: TokenEntry): Buffer {
  const digits = /^sha256:([0-9a-f]{64})$/.exec(hash)?.[1];
  if (digits === undefined)
    throw new TypeError(`The hash of token ${JSON.stringify(id)} must be "sha256:" and 64 hex digits`);
  return Buffer.from(digits, 'hex');
}

function expiryOf({ id, expires }: TokenEntry): number {
  const at = expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires);
  if (Number.isNaN(at)) throw new TypeError(`Token ${JSON.stringify(id)}: "expires" is not a date: ${expires}`);
  return at;
}

/** Reads `{"tokens": [...]}`. A file that other users can write to is rejected: they could add their own token. */
export function readTokenFile(path: string): TokenEntry[] {
  const { mode } = statTokenFile(path);
  if (hasModes && (mode & 0o022) !== 0)
    throw new Error(`${path} can be written by other users; run: chmod go-w ${path}`);
  const content = parseJson(textOf(path)) as { readonly tokens?: unknown } | null | undefined;
  const tokens = content?.tokens;
  const isValid =
    Array.isArray(tokens) && tokens.every((each) => typeof each?.id === 'string' && typeof each.hash === 'string');
  if (!isValid)
    throw new TypeError(
      `${path} must contain {"tokens": [{"id": …, "hash": "sha256:…"}]} in JSON, as "mooring token add" writes it`,
    );
  return tokens as TokenEntry[];
}

function statTokenFile(path: string): { readonly mode: number } {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new Error(
      `${path} cannot be read: there is no such file. Create it with: mooring token add NAME --file ${path}`,
    );
  }
  // A pipe would be waited for without end.
  if (!found.isFile()) throw new Error(`${path} cannot be read: it is not a regular file`);
  return found;
}

function textOf(path: string): string {
  try {
    return decodeText(readFileSync(path));
  } catch (error) {
    throw new Error(`${path} cannot be read: ${reasonText(error, 'file')}`, { cause: error });
  }
}
