import { expect, test } from 'vitest';
import { ApiCredentials, type GivenCredentials } from './credentials.ts';
import { OpenApiDocument } from './document.ts';

const allSchemes = {
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  basic: { type: 'http', scheme: 'Basic' },
  bearer: { type: 'http', scheme: 'bearer' },
  oauth: { type: 'oauth2', flows: {} },
  oidc: { type: 'openIdConnect' },
  alias: { $ref: '#/components/securitySchemes/bearer' },
  digest: { type: 'http', scheme: 'digest' },
  tls: { type: 'mutualTLS' },
};

function open(given: GivenCredentials | undefined, securitySchemes: object = allSchemes) {
  return new ApiCredentials(
    new OpenApiDocument({ openapi: '3.1.0', paths: {}, components: { securitySchemes } }),
    given,
  );
}

test.each([
  ['header', 'abc', { headers: { 'x-key': 'abc' } }],
  ['query', 'abc', { query: { key: 'abc' } }],
  ['cookie', 'abc', { cookies: { session: 'abc' } }],
  ['basic', 'user:pässword', { headers: { authorization: 'Basic dXNlcjpww6Rzc3dvcmQ=' } }],
  ['basic', 'dXNlcjpw', { headers: { authorization: 'Basic dXNlcjpw' } }],
  ['bearer', 'abc', { headers: { authorization: 'Bearer abc' } }],
  ['oauth', 'abc', { headers: { authorization: 'Bearer abc' } }],
  ['oidc', 'abc', { headers: { authorization: 'Bearer abc' } }],
  ['alias', 'abc', { headers: { authorization: 'Bearer abc' } }],
])('a credential for %s, %s, is sent as %j', (scheme, value, expected) => {
  expect(open({ [scheme]: value }).partsFor({ security: [[scheme]] })).toEqual({
    ...{ headers: {}, query: {}, cookies: {} },
    ...expected,
  });
});

test('the first way is used for which there are all credentials, and one with credentials is preferred', () => {
  const credentials = open({ header: 'k', query: 'q' });
  const used = (security: string[][]) => {
    const { headers, query } = credentials.partsFor({ security }) ?? {};
    return headers && { ...headers, ...query };
  };
  expect(used([['bearer'], ['header', 'bearer'], ['header', 'query'], ['query']])).toEqual({ 'x-key': 'k', key: 'q' });
  expect(used([[], ['header']])).toEqual({ 'x-key': 'k' });
  expect(used([['bearer'], []])).toEqual({});
  expect(used([])).toEqual({});
  expect(used([['bearer'], ['constructor']])).toBeUndefined();
});

test('one credential is for the only scheme, also where operations do not say that they need it', () => {
  const { header } = allSchemes;
  expect(open('abc', { header }).partsFor({ security: undefined })?.headers).toEqual({ 'x-key': 'abc' });
  expect(open('abc', { header }).partsFor({ security: [] })?.headers).toEqual({});
  expect(open('abc', {}).partsFor({ security: undefined })?.headers).toEqual({ authorization: 'Bearer abc' });
  expect(open({ header: 'a', bearer: 'b' }).partsFor({ security: undefined })?.headers).toEqual({});
  expect(open(undefined).partsFor({ security: undefined })?.headers).toEqual({});
});

test.each([
  ['abc', 'The document has several security schemes (header, query,'],
  [{ hedaer: 'abc' }, 'The document has no security scheme "hedaer"; it has header, query,'],
  [{ constructor: 'abc' }, 'has no security scheme "constructor"'],
  [{ digest: 'abc' }, 'The security scheme "digest" is not supported'],
  [{ tls: 'abc' }, 'The security scheme "tls" is not supported'],
  [{ header: '' }, 'The credential for "header" is empty'],
  [{ header: 'sec\r\nret: 1' }, 'The credential for "header" cannot be sent'],
] as [GivenCredentials, string][])('%j is an error, which does not contain the credential', (given, message) => {
  const open_ = () => open(given);
  expect(open_).toThrow(message);
  expect(open_).not.toThrow('ret: 1');
});

test('credentials are hidden in texts', () => {
  const credentials = open({ basic: 'user:password', query: 'abc' });
  expect(credentials.hideIn('no user:password, no Basic dXNlcjpwYXNzd29yZA==, but abc')).toBe(
    'no [hidden], no [hidden], but abc',
  );
});
