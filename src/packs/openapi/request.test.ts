import { expect, test } from 'vitest';
import { OpenApiDocument } from './document.ts';
import { planArguments } from './names.ts';
import { readOperations } from './operations.ts';
import { buildRequest, type FixedParts } from './request.ts';

const base = new URL('https://api.example/v1/');
const none: FixedParts = { headers: {}, query: {}, cookies: {} };

function build(path: string, operation: object, args: object, { method = 'post', fixed = none } = {}) {
  const document = new OpenApiDocument({ openapi: '3.1.0', paths: { [path]: { [method]: operation } } });
  const { operations, leftOut } = readOperations(document, base);
  const [found] = operations;
  if (found === undefined) throw new Error(leftOut[0]?.reason);
  return buildRequest(found, planArguments(found), args as never, fixed);
}

const at = (place: string, name: string, more: object = {}) => ({ in: place, name, schema: {}, ...more });
const path = (...names: string[]) => ({ parameters: names.map((name) => at('path', name, { required: true })) });

test('arguments are sent where the document says', () => {
  const { url, init } = build(
    '/pets/{id}/x',
    {
      parameters: [
        ...[at('path', 'id'), at('query', 'q'), at('query', 'r', { style: 'deepObject' }), at('query', 'unused')],
        ...[at('header', 'X-Trace'), at('header', 'Authorization'), at('cookie', 'c'), at('cookie', 'd')],
      ],
      requestBody: { content: { 'application/json': {} } },
    },
    {
      id: 'ä/?#;',
      q: 'a b',
      r: { s: 1 },
      unused: null,
      'X-Trace': 't',
      Authorization: 'own',
      c: 'x;y',
      d: 2,
      body: { a: [1] },
    },
  );
  expect(url.href).toBe('https://api.example/v1/pets/%C3%A4%2F%3F%23%3B/x?q=a%20b&r[s]=1');
  expect(init).toEqual({
    method: 'POST',
    headers: {
      accept: 'application/json, */*;q=0.8',
      'x-trace': 't',
      cookie: 'c=x%3By; d=2',
      'content-type': 'application/json',
    },
    body: '{"a":[1]}',
  });
});

test('no argument replaces what the operator has set', () => {
  const fixed = { headers: { 'x-key': 'secret' }, query: { key: 'a&b' }, cookies: { session: 's;1' } };
  const parameters = [at('header', 'X-Key'), at('query', 'key'), at('cookie', 'session')];
  const { url, init } = build(
    '/x',
    { parameters },
    { 'X-Key': 'mine', key: 'k', session: 'm' },
    { method: 'get', fixed },
  );
  expect(init.headers['x-key']).toBe('secret');
  expect(url.search).toBe('?key=k&key=a%26b');
  expect(init.headers['cookie']).toBe('session=m; session=s%3B1');
});

test('arguments with names of inherited properties are not taken from objects', () => {
  const { url } = build('/x', { parameters: [at('query', 'constructor'), at('query', '__proto__')] }, {});
  expect(url.href).toBe('https://api.example/v1/x');
  const args = JSON.parse('{ "constructor": "a", "__proto__": "b" }');
  expect(build('/x', { parameters: [at('query', 'constructor'), at('query', '__proto__')] }, args).url.search).toBe(
    '?constructor=a&__proto__=b',
  );
});

test.each([
  ['/a/{x}/b', { x: '..' }],
  ['/a/{x}/b', { x: '.' }],
  ['/a/{x}/b', { x: '../admin' }],
  ['/a/{x}/b', { x: 'c/../..' }],
  ['/a/{x}/b', { x: '..\\admin' }],
  ['/a/{x}{y}/b', { x: '.', y: '.' }],
  ['/a/{x}.', { x: '.' }],
  ['/a/{x}/b', { x: '' }],
  ['/a/{x}/b', { x: [] }],
  ['/a/{x}', { x: null }],
  ['/a/{x}', {}],
])('in %s, %j is rejected', (template, args) => {
  const names = [...template.matchAll(/\{(\w)\}/g)].map(([, name]) => name as string);
  expect(() => build(template, path(...names), args)).toThrow(/must not be|another operation|is missing/);
});

test.each([
  ['%2e%2e', '%252e%252e'],
  ['a..b', 'a..b'],
  ['https://evil.example/', 'https%3A%2F%2Fevil.example%2F'],
  ['//evil.example', '%2F%2Fevil.example'],
  ['a\r\nb', 'a%0D%0Ab'],
  ['@evil', '%40evil'],
])('the path parameter %j is %s', (value, text) => {
  const { url } = build('/{x}', path('x'), { x: value });
  expect(url.href).toBe(`https://api.example/v1/${text}`);
});

test.each(['a\r\nx-admin: 1', 'a\nb', 'a\0b', '漢'])('the header %j is rejected', (value) => {
  expect(() => build('/x', { parameters: [at('header', 'h')] }, { h: value })).toThrow('h: is sent as a header');
});

const form = (type: string, content: object = {}) => ({ requestBody: { content: { [type]: content } } });

test.each([
  ['application/vnd.api+json', {}, { a: 1 }, '{"a":1}'],
  ['*/*', {}, 'text', '"text"'],
  ['application/x-www-form-urlencoded', {}, { a: 'x y&', b: [1, 2], c: null }, 'a=x+y%26&b=1&b=2'],
  [
    'application/x-www-form-urlencoded',
    { encoding: { a: { style: 'deepObject' }, b: { explode: false }, c: { contentType: 'application/json' } } },
    { a: { x: [1] }, b: [1, 2], c: { d: 1 } },
    'a[x][0]=1&b=1,2&c=%7B%22d%22%3A1%7D',
  ],
  ['text/plain', {}, 'hello', 'hello'],
  ['application/xml', {}, '<a/>', '<a/>'],
  ['application/octet-stream', {}, 'AP8=', Buffer.from([0, 255])],
  ['image/png', {}, 'AP8=', Buffer.from([0, 255])],
])('a body of the type %s (%j) with %j is sent as %j', (type, content, body, sent) => {
  const { init } = build('/x', form(type, content), { body });
  expect(init.body).toEqual(sent);
  expect(init.headers['content-type']).toBe(type === '*/*' ? 'application/json' : type);
});

test('a multipart body has a part for each value; files are bytes, objects are JSON', () => {
  const properties = {
    file: { type: 'string', format: 'binary' },
    images: { type: 'array', items: { type: 'string', contentMediaType: 'image/png' } },
  };
  const encoding = { images: { contentType: 'image/png' } };
  const operation = form('multipart/form-data', { schema: { type: 'object', properties }, encoding });
  const body = { 'a"\r\nb': 'text', file: 'AP8=', images: ['AQ==', 'Ag=='], meta: { x: 1 }, none: null };
  const { init } = build('/x', operation, { body });
  const boundary = /^multipart\/form-data; boundary=(mooring-[\w-]+)$/.exec(
    init.headers['content-type'] as string,
  )?.[1];
  const part = (head: string, content: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  expect(Buffer.from(init.body as Uint8Array).toString('latin1')).toBe(
    part('name="a%22%0D%0Ab"', 'text') +
      part('name="file"; filename="file"\r\ncontent-type: application/octet-stream', '\0\xff') +
      part('name="images"; filename="images"\r\ncontent-type: image/png', '\x01') +
      part('name="images"; filename="images"\r\ncontent-type: image/png', '\x02') +
      part('name="meta"\r\ncontent-type: application/json', '{"x":1}') +
      `--${boundary}--\r\n`,
  );
});

test.each([
  ['application/octet-stream', 'not base64!', 'body: must be base64'],
  ['application/x-www-form-urlencoded', 'text', 'body: must be an object'],
])('a body of the type %s cannot be %j', (type, body, message) => {
  expect(() => build('/x', form(type), { body })).toThrow(message);
});

test('a GET request has no body', () => {
  expect(build('/x', form('application/json'), { body: 1 }, { method: 'get' }).init).not.toHaveProperty('body');
});
