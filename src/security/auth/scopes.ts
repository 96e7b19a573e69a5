// Scopes per operation: a call whose token lacks scopes is rejected before anything runs. The response names all
// required scopes, so that the client can return with a better token (step-up).

import { compileGlobs } from '../../common/glob.ts';
import { assertKnownOptions } from '../../common/known-options.ts';
import { inSlices } from '../../common/slices.ts';
import { checkMiddleware } from '../../engine/calls/middleware.ts';
import type { ChangeFilter, Middleware, RequestInfo } from '../../engine/ports.ts';
import { wireErrors } from '../../protocol/errors.ts';
import { methods } from '../../protocol/methods.ts';
import { requireRules, requireTexts } from '../rule-checks.ts';
import { variantsOf } from '../uri-variants.ts';
import { challengeOf } from './bearer.ts';
import { hasScopes } from './claims.ts';

/** Which operations need which scopes. Globs. */
export interface ScopeRule {
  /** Tools that need the scopes to be called. */
  readonly tools?: readonly string[];
  /** URIs that need the scopes to be read or watched. */
  readonly resources?: readonly string[];
  /** Prompts that need the scopes. */
  readonly prompts?: readonly string[];
  /** The scopes that a caller must have, all of them. */
  readonly scopes: readonly string[];
}

const ruleOptions: Record<keyof ScopeRule, true> = { tools: true, resources: true, prompts: true, scopes: true };

/** How callers without the scopes are answered. */
export interface ScopeOptions {
  /** Creates the challenge; `oauth.challenge` says where clients get tokens. */
  readonly challenge?: (scopes: readonly string[]) => string;
}

/** The scopes that an operation needs according to all rules. */
export type ScopesOf = (request: Pick<RequestInfo, 'method' | 'name'>) => readonly string[];

const none: readonly string[] = [];

/** The kind of target of each method; a caller that may not read a resource may not watch it either. */
const kinds: ReadonlyMap<string, 'tools' | 'resources' | 'prompts'> = new Map([
  ['tools/call', 'tools'],
  ['prompts/get', 'prompts'],
  ['resources/read', 'resources'],
  ['resources/subscribe', 'resources'],
]);

export function compileScopes(rules: readonly ScopeRule[]): ScopesOf {
  const compiled = rules.map(({ tools = [], resources = [], prompts = [], scopes }) => ({
    scopes,
    fits: { tools: compileGlobs(tools), resources: compileGlobs(resources), prompts: compileGlobs(prompts) },
  }));
  return ({ method, name }) => {
    const kind = kinds.get(method);
    if (name === undefined || kind === undefined) return none;
    // A variant of a URI must not bypass its scopes.
    const names = kind === 'resources' ? variantsOf(name) : [name];
    const needed = compiled.flatMap(({ scopes, fits }) => (names.some(fits[kind]) ? scopes : none));
    return needed.length === 0 ? none : [...new Set(needed)];
  };
}

const known: Record<keyof ScopeOptions, true> = { challenge: true };

/** Requires scopes by operation. Callers that lack the scopes to read a resource are not notified of its changes either. */
export function requireScopes(rules: readonly ScopeRule[], options: ScopeOptions = {}): Middleware {
  assertKnownOptions('requireScopes', options, known);
  requireRules('requireScopes', rules, ruleOptions, 'requireScopes([{ tools: ["delete_*"], scopes: ["admin"] }])');
  for (const rule of rules) {
    if (rule.scopes === undefined)
      throw new TypeError('A rule of requireScopes needs scopes: { tools, scopes: ["admin"] }');
    for (const [name, value] of Object.entries(rule)) requireTexts(`${name} of a rule of requireScopes`, value);
  }
  const scopesOf = compileScopes(rules);
  const { challenge = plainChallenge } = options;
  const require = (scopes: readonly string[], { peer }: RequestInfo): void => {
    if (scopes.length === 0 || hasScopes(peer.principal, scopes)) return;
    throw wireErrors.forbidden(`this operation needs the scopes ${scopes.join(' ')}`, challenge(scopes), {
      requiredScopes: scopes,
    });
  };
  const guard = checkMiddleware((request) => {
    if (request.method !== methods.listen.name) return require(scopesOf(request), request);
    const needed = new Set<string>();
    const rest = inSlices(listenedUris(request), (name) => {
      for (const scope of scopesOf({ method: methods.readResource.name, name })) needed.add(scope);
    });
    return rest === undefined ? require([...needed], request) : rest.then(() => require([...needed], request));
  });
  return Object.assign(guard, { maySee: changeFilter(scopesOf) });
}

/** The resources that `subscriptions/listen` names. */
function listenedUris({ params }: RequestInfo): readonly string[] {
  const { resourceSubscriptions: uris } = params['notifications'] as { readonly resourceSubscriptions?: unknown };
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}

/** One change is sent to many callers: the scopes it needs are looked up once. */
function changeFilter(scopesOf: ScopesOf): ChangeFilter {
  let last: { readonly uri: string; readonly scopes: readonly string[] } | undefined;
  return (uri, principal) => {
    if (last?.uri !== uri) last = { uri, scopes: scopesOf({ method: methods.readResource.name, name: uri }) };
    return last.scopes.length === 0 || hasScopes(principal, last.scopes);
  };
}

const plainChallenge = (scopes: readonly string[]): string => challengeOf({ error: 'insufficient_scope', scopes });
