import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseChallenges, readChallenge } from './www-authenticate.ts';

const read = (header: string) => readChallenge(new Headers({ 'www-authenticate': header }));
const plain = (header: string) =>
  parseChallenges(header).map(({ scheme, params }) => [scheme, Object.fromEntries(params)]);

test('quoted and bare parameters of one challenge are read', () => {
  expect(plain('Bearer realm="a, b", error=invalid_token ,scope = "x y"')).toEqual([
    ['bearer', { realm: 'a, b', error: 'invalid_token', scope: 'x y' }],
  ]);
});

test('several challenges in one header are told apart, whatever stands between them', () => {
  expect(plain('Negotiate, Basic realm="r", Bearer scope="s", DPoP algs="ES256"')).toEqual([
    ['negotiate', {}],
    ['basic', { realm: 'r' }],
    ['bearer', { scope: 's' }],
    ['dpop', { algs: 'ES256' }],
  ]);
  expect(plain('Negotiate YWJj==, Bearer scope="s"')).toEqual([
    ['negotiate', {}],
    ['bearer', { scope: 's' }],
  ]);
});

test('escapes inside quotes are undone and cannot start a parameter', () => {
  expect(plain('Bearer realm="a\\"b, scope=\\"evil", scope="good"')).toEqual([
    ['bearer', { realm: 'a"b, scope="evil', scope: 'good' }],
  ]);
});

test('the first value of a repeated parameter wins', () => {
  expect(read('Bearer scope="first", scope="second"').scope).toEqual(['first']);
});

test('scopes come without repetition, and absent is not the same as empty', () => {
  expect(read('Bearer scope="a  b a"').scope).toEqual(['a', 'b']);
  expect(read('Bearer scope=""').scope).toEqual([]);
  expect(read('Bearer error="x"').scope).toBeUndefined();
});

test('challenges of other schemes say nothing about us', () => {
  const challenge = read('Basic scope="basic-scope", error="nope"');
  expect(challenge.schemes.size).toBe(0);
  expect(challenge.error).toBeUndefined();
});

test('headers of node:http are read like those of fetch', () => {
  const challenge = readChallenge({ 'www-authenticate': ['Basic realm="x"', 'Bearer error="invalid_token"'] });
  expect(challenge.error).toBe('invalid_token');
  expect(readChallenge({}).schemes.size).toBe(0);
});

test('names like __proto__ are only names', () => {
  expect(read('Bearer __proto__="x", constructor="y"').error).toBeUndefined();
});

test('garbage yields no challenge, and much of it no delay', () => {
  for (const header of ['', ',,,', '"', '=', 'Bearer "', 'Bearer scope="open', '\u0001\u0002', 'Bearer ='.repeat(10)]) {
    expect(() => read(header.replace(/[\u0000-\u001f]/g, '?'))).not.toThrow();
  }
  expect(plain(`Bearer ${'a="b",'.repeat(200_000)}`)).toEqual([]);
  expect(plain(`Bearer ${'= '.repeat(4000)}`)).toEqual([['bearer', {}]]);
});

test('whatever is written by the rules is read back', () => {
  const token = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
  const quoted = fc.stringMatching(/^[ -~]{0,20}$/);
  const challenge = fc.tuple(token, fc.dictionary(token, quoted, { noNullPrototype: true, maxKeys: 4 }));
  fc.assert(
    fc.property(fc.array(challenge, { maxLength: 4 }), (challenges) => {
      const header = challenges
        .map(([scheme, params]) => {
          const list = Object.entries(params).map(([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`);
          return `${scheme} ${list.join(', ')}`.trim();
        })
        .join(', ');
      expect(plain(header)).toEqual(challenges);
    }),
  );
});

test('no header makes the reader throw', () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (header) => void parseChallenges(header)));
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'B,= "\\a~\\t'), maxLength: 60 }),
      (header) => void parseChallenges(header),
    ),
  );
});
