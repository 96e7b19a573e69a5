// Mistakes that TypeScript reports and JavaScript does not: a rule that protects nothing, or fails in a request, is an error.

import { expect, test } from 'vitest';
import {
  anyOf,
  createOAuthAuthenticator,
  createToken,
  createTokenAuthenticator,
  enforcePolicy,
  hashToken,
  limitCalls,
  limitConcurrency,
  loadPolicy,
  rateLimit,
  requireScopes,
} from '../../src/security/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: a program without types
type Untyped = any;

const rate = (rule: Untyped) => rateLimit([{ per: 'principal', requests: 5, windowMs: 10, ...rule }]);
const scopes = (...rules: Untyped[]) => requireScopes(rules);
const tokens = createTokenAuthenticator as Untyped;
const oauth = createOAuthAuthenticator as Untyped;
const resource = 'https://mcp.example.com/mcp';

test.each<[string, () => unknown, string]>([
  ['no rules', () => (rateLimit as Untyped)(), 'rateLimit needs a list of rules: rateLimit([{ per: '],
  ['one rule', () => (rateLimit as Untyped)({ per: 'principal' }), 'rateLimit needs a list of rules'],
  ['another scope', () => rate({ per: 'user' }), 'per of a limit: must be one of principal, session, upstream, tool,'],
  ['no scope', () => rate({ per: undefined }), 'global, not undefined'],
  [
    'a misspelt option',
    () => rate({ tool: ['a'] }),
    'Unknown option tool of a rule of rateLimit; did you mean tools? Use one of per',
  ],
  ['a text as list', () => rate({ tools: 'a' }), 'tools of a limit: must be a list of strings; write ["a"]'],
  [
    'the options of another limit',
    () => limitConcurrency({ per: 'tool', maximum: 3 } as Untyped),
    'Unknown option max',
  ],
  ['one limit', () => (limitCalls as Untyped)({ timeoutMs: 5 }), 'limitCalls needs a list of rules'],
  ['a scope', () => (requireScopes as Untyped)('admin'), 'requireScopes needs a list of rules: requireScopes([{ tools'],
  ['a misspelt target', () => scopes({ tool: ['a'], scopes: ['b'] }), 'Unknown option tool of a rule of requireScopes'],
  ['a target without scopes', () => scopes({ tools: ['a'] }), 'A rule of requireScopes needs scopes'],
  [
    'a text as scopes',
    () => scopes({ tools: ['a'], scopes: 'b' }),
    'scopes of a rule of requireScopes: must be a list',
  ],
  ['a token', () => tokens('secret'), 'The options of createTokenAuthenticator must be an object, not string'],
  [
    'token',
    () => tokens({ token: 'secret' }),
    'Unknown option token of createTokenAuthenticator; did you mean tokens? Use one of tokens',
  ],
  ['a token with its hash', () => (hashToken as Untyped)(createToken()), 'hashToken(createToken().token)'],
  ['an object of tokens', () => tokens({ tokens: { ada: 'x' } }), 'createTokenAuthenticator needs a list of tokens: {'],
  [
    'a text in tokens',
    () => tokens({ tokens: ['secret'] }),
    'tokens[0] needs an id, a non-empty string, and a hash: {',
  ],
  ['a token without id', () => tokens({ tokens: [{ hash: `sha256:${'0'.repeat(64)}` }] }), 'tokens[0] needs an id'],
  ['no OAuth options', () => oauth(), 'The options of createOAuthAuthenticator must be an object'],
  ['one issuer', () => oauth({ resource, issuers: 'https://id.example' }), 'createOAuthAuthenticator needs a list of'],
  ['issuer', () => oauth({ resource, issuer: 'https://id.example' }), 'Unknown option issuer of createOAuth'],
  ['no URL as resource', () => oauth({ resource: 'mcp', issuers: ['https://id.example'] }), 'it is "mcp"'],
  [
    'a text as scopes of tokens',
    () => oauth({ resource, issuers: ['https://id.example'], requiredScopes: 'read' }),
    'requiredScopes of createOAuthAuthenticator: must be a list of strings; write ["read"]',
  ],
  ['nobody', () => anyOf(), 'anyOf needs functions that identify the caller: anyOf(tokens, oauth.authenticate)'],
  ['an authenticator that is an object', () => anyOf({} as Untyped), 'argument 1 is of type object'],
  [
    'a file name as policy',
    () => enforcePolicy('policy.yaml' as Untyped),
    'enforcePolicy needs a policy that is loaded',
  ],
  ['a promise of a policy', () => enforcePolicy(loadPolicy('x').catch(() => 0) as Untyped), 'await loadPolicy('],
])('%s', (_, make, message) => {
  expect(make).toThrow(TypeError);
  expect(make).toThrow(message);
});
