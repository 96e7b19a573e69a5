import { expect, test } from 'vitest';
import { apiAddress } from './address.ts';
import { OpenApiDocument } from './document.ts';

test.each([
  [[], 'The OpenAPI document is not an object'],
  [{ swagger: '2.0', paths: {} }, 'The document is Swagger 2.0, not OpenAPI 3. Convert it first'],
  [{ openapi: '2.0', paths: {} }, 'The document is not OpenAPI 3.0 or 3.1: its "openapi" is "2.0"'],
  [{ openapi: 3, paths: {} }, 'its "openapi" is 3'],
  [{ asyncapi: '3.0.0' }, 'it has no "openapi"'],
  [{ openapi: '3.1.0', webhooks: {} }, 'has no "paths"'],
])('%j is an error', (root, message) => {
  expect(() => new OpenApiDocument(root)).toThrow(message);
});

const document = (server: string, url?: string) =>
  new OpenApiDocument(
    { openapi: '3.1.0', paths: {}, servers: [{ url: server }] },
    url === undefined ? undefined : new URL(url),
  );

const address = (of: OpenApiDocument, given: { url?: string; document?: string; hasPolicy?: boolean } = {}) => {
  const { url, given: isGiven } = apiAddress(of, {
    url: given.url,
    document: given.document === undefined ? undefined : new URL(given.document),
    hasPolicy: given.hasPolicy ?? false,
  });
  return [url.href, isGiven];
};

test('only an address that the operator has named may be private', () => {
  const local = document('http://localhost:3000/v1');
  expect(address(document('https://api.example'))).toEqual(['https://api.example/', false]);
  expect(address(local, { url: 'http://10.0.0.1/' })).toEqual(['http://10.0.0.1/', true]);
  expect(address(local, { document: 'http://localhost:3000/openapi.json' })).toEqual([
    'http://localhost:3000/v1',
    true,
  ]);
  expect(address(local, { hasPolicy: true })).toEqual(['http://localhost:3000/v1', false]);
});

test.each([
  'http://localhost:3000',
  'http://127.0.0.1',
  'http://[::1]/',
  'http://2130706433/',
  'http://169.254.169.254/latest',
])('a document that names %s is an error', (server) => {
  const found = () => address(document(server), { document: 'https://docs.example/openapi.json' });
  expect(found).toThrow('which is not a public address. If that is right, name it: ');
});

test.each([
  [{ url: 'ftp://api.example' }, 'must begin with https: or http:, not ftp:'],
  [{ url: 'https://user:password@api.example' }, 'has a name or a password in it'],
  [{ url: 'api.example' }, 'is not complete: "api.example"'],
])('%j is an error', (given, message) => {
  expect(() => address(document('/'), given)).toThrow(message);
});
