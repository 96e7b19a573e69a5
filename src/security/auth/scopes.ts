// Scopes per operation: a call whose token does not reach far enough is refused before anything runs, and told all the
// scopes it needs at once, so that the client can come back with a better token (step-up).

import type { Middleware, RequestInfo } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { compileGlobs, type Glob } from '../glob.ts';
import { spellingsOf } from '../uri-spellings.ts';
import { challengeOf } from './bearer.ts';
import { hasScopes } from './claims.ts';

/** Which operations need which scopes. Globs. */
export interface ScopeRule {
  readonly tools?: readonly string[];
  readonly resources?: readonly string[];
  readonly prompts?: readonly string[];
  readonly scopes: readonly string[];
}

export interface ScopeOptions {
  /** Spells the challenge; `oauth.challenge` says where tokens are to be had. */
  readonly challenge?: (scopes: readonly string[]) => string;
}

/** Which scopes an operation needs by all rules together. */
export type ScopesOf = (request: Pick<RequestInfo, 'method' | 'name'>) => readonly string[];

const none: readonly string[] = [];

export function compileScopes(rules: readonly ScopeRule[]): ScopesOf {
  const compiled = rules.map(({ tools = [], resources = [], prompts = [], scopes }) => {
    const fitsUri = compileGlobs(resources);
    // A second spelling of a URI is no way around its scopes.
    const fitsResource: Glob = (uri) => spellingsOf(uri).some(fitsUri);
    const fits: ReadonlyMap<string, Glob> = new Map([
      ['tools/call', compileGlobs(tools)],
      ['prompts/get', compileGlobs(prompts)],
      ['resources/read', fitsResource],
      ['resources/subscribe', fitsResource],
    ]);
    return { scopes, fits };
  });
  return ({ method, name }) => {
    if (name === undefined) return none;
    const needed = compiled.flatMap(({ scopes, fits }) => (fits.get(method)?.(name) === true ? scopes : none));
    return needed.length === 0 ? none : [...new Set(needed)];
  };
}

/** Asks for scopes by operation. */
export function requireScopes(rules: readonly ScopeRule[], options: ScopeOptions = {}): Middleware {
  const scopesOf = compileScopes(rules);
  const { challenge = plainChallenge } = options;
  return (request, next) => {
    const scopes = scopesOf(request);
    if (scopes.length === 0 || hasScopes(request.peer.principal, scopes)) return next();
    throw wireErrors.forbidden(`this needs the scopes ${scopes.join(' ')}`, challenge(scopes), {
      requiredScopes: scopes,
    });
  };
}

const plainChallenge = (scopes: readonly string[]): string => challengeOf({ error: 'insufficient_scope', scopes });
