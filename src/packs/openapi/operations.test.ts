import { expect, test } from 'vitest';
import { OpenApiDocument } from './document.ts';
import { readOperations, serverUrl } from './operations.ts';

const base = new URL('https://api.example/v1');
const read = (paths: object, more: object = {}) =>
  readOperations(new OpenApiDocument({ openapi: '3.0.3', paths, ...more }), base);
const ok = { responses: {} };

test('an operation has what its path and the document have, unless it has its own', () => {
  const { operations } = read(
    {
      '/a/{id}': {
        summary: 'Of the path',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'q', in: 'query', description: 'Of the path', schema: {} },
        ],
        get: { ...ok, operationId: 'a', tags: ['x', 1], parameters: [{ $ref: '#/components/parameters/Q' }] },
        post: { ...ok, summary: 'Its own', security: [], servers: [{ url: '/v2/' }], deprecated: true },
        head: ok,
      },
      'x-extension': { get: ok },
    },
    {
      security: [{ key: [] }, {}],
      components: { parameters: { Q: { name: 'q', in: 'query', description: 'New', schema: {} } } },
    },
  );
  expect(operations).toMatchObject([
    {
      method: 'get',
      id: 'a',
      summary: 'Of the path',
      tags: ['x'],
      base: 'https://api.example/v1',
      security: [['key'], []],
    },
    { method: 'post', summary: 'Its own', base: 'https://api.example/v2', security: [], isDeprecated: true },
  ]);
  expect(operations[0]?.parameters.map(({ name, description }) => [name, description])).toEqual([
    ['id', undefined],
    ['q', 'New'],
  ]);
});

const query = (parameter: object) => ({
  '/a': { get: { ...ok, parameters: [{ name: 'p', in: 'query', ...parameter }] } },
});

test.each([
  ['a path parameter that is missing', { '/a/{id}': { get: ok } }, 'has no parameter for {id} of its path'],
  ['a query in its path', { '/a?b=1': { get: ok } }, 'has a path that is not a plain path'],
  ['a fragment in its path', { '/a#b': { get: ok } }, 'has a path that is not a plain path'],
  ['a path that climbs out', { '/../admin': { get: ok } }, 'has a path that is not a plain path'],
  ['an encoded path that climbs out', { '/%2e%2E/admin': { get: ok } }, 'has a path that is not a plain path'],
  ['a backslash', { '/..\\admin': { get: ok } }, 'has a path that is not a plain path'],
  ['another host in its path', { '//evil.example/a': { get: ok } }, 'has a path that is not a plain path'],
  [
    'a server at another origin',
    { '/a': { get: { ...ok, servers: [{ url: 'http://169.254.169.254/' }] } } },
    'is at another address (http://169.254.169.254) than the API',
  ],
  ['a style that is not supported', query({ style: 'matrix' }), 'has a parameter (p) with the style matrix'],
  [
    'a parameter of an unknown place',
    query({ in: 'constructor' }),
    'has a parameter without a name, or one that is not',
  ],
  ['a parameter without a name', query({ name: 1 }), 'has a parameter without a name'],
  ['a header that would end its line', query({ in: 'header', name: 'a\r\nb' }), 'has a header whose name is not valid'],
  [
    'too many parameters',
    { '/a': { get: { ...ok, parameters: Array.from({ length: 257 }, (_, n) => ({ name: `p${n}`, in: 'query' })) } } },
    'has more than 256 parameters',
  ],
  ['references in a circle', { '/a': { $ref: '#/paths/~1a' } }, 'has references that form a circle'],
  ['a path in another document', { '/a': { $ref: 'other.yaml' } }, 'refers to another document'],
  [
    'a body that is no object',
    { '/a': { post: { ...ok, requestBody: 1 } } },
    'refers to something that is not an object',
  ],
  [
    'a body whose type would end a header',
    { '/a': { post: { ...ok, requestBody: { content: { 'a/b\r\nx': {} } } } } },
    'has a body of a type that is not valid',
  ],
])('an operation with %s is left out, and the others are not', (_what, paths, reason) => {
  const { operations, leftOut } = read({ ...paths, '/good': { get: ok } });
  expect(operations.map(({ path }) => path)).toEqual(['/good']);
  expect(leftOut[0]?.reason).toContain(reason);
});

test('JSON is preferred among the types of a body', () => {
  const content = {
    'image/png': {},
    'text/plain': {},
    'multipart/form-data': {},
    'application/json; charset=utf-8': {},
  };
  const { operations } = read({ '/a': { post: { ...ok, requestBody: { content, required: true } } } });
  expect(operations[0]?.body).toMatchObject({ kind: 'json', mediaType: 'application/json', required: true });
});

test.each([
  [undefined, 'https://docs.example/x/openapi.json', 'https://docs.example/'],
  [[{ url: '/v2' }], 'https://docs.example/x/openapi.json', 'https://docs.example/v2'],
  [[{ url: 'https://a.example/' }, { url: 'https://b.example/' }], undefined, 'https://a.example/'],
  [
    [
      {
        url: 'https://{region}.a.example:{port}/{base}',
        variables: { region: { default: 'eu' }, port: { default: '8443' }, base: { default: 'v1' } },
      },
    ],
    undefined,
    'https://eu.a.example:8443/v1',
  ],
])('with the servers %j, in the document %s, the API is at %s', (servers, document, expected) => {
  expect(serverUrl(servers, document === undefined ? undefined : new URL(document)).href).toBe(expected);
});

test('a document in a file needs a complete address', () => {
  expect(() => serverUrl([{ url: '/v1' }], undefined)).toThrow('does not say where the API is (its server is "/v1")');
});
