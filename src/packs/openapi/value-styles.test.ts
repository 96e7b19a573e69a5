import { expect, test } from 'vitest';
import { encodedPairs, headerText, joinPairs, pathText } from './value-styles.ts';

const list = ['a b', 'c,d', 'e'];
const point = { x: 1, 'y&': 'a/b' };

test.each([
  ['simple', false, 5, '5'],
  ['simple', false, list, 'a%20b,c%2Cd,e'],
  ['simple', true, list, 'a%20b,c%2Cd,e'],
  ['simple', false, point, 'x,1,y%26,a%2Fb'],
  ['simple', true, point, 'x=1,y%26=a%2Fb'],
  ['label', false, 5, '.5'],
  ['label', false, list, '.a%20b,c%2Cd,e'],
  ['label', true, list, '.a%20b.c%2Cd.e'],
  ['label', true, point, '.x=1.y%26=a%2Fb'],
  ['matrix', false, 5, ';p=5'],
  ['matrix', false, list, ';p=a%20b,c%2Cd,e'],
  ['matrix', true, list, ';p=a%20b;p=c%2Cd;p=e'],
  ['matrix', false, point, ';p=x,1,y%26,a%2Fb'],
  ['matrix', true, point, ';x=1;y%26=a%2Fb'],
] as const)('in a path, %s (explode: %s) writes %j as %s', (style, explode, value, text) => {
  expect(pathText({ name: 'p', style, explode, isJson: false }, value)).toBe(text);
});

test.each([
  ['form', true, 'a&b', 'p=a%26b'],
  ['form', true, list, 'p=a%20b&p=c%2Cd&p=e'],
  ['form', false, list, 'p=a%20b,c%2Cd,e'],
  ['form', true, point, 'x=1&y%26=a%2Fb'],
  ['form', false, point, 'p=x,1,y%26,a%2Fb'],
  ['form', true, [], ''],
  ['form', false, [], ''],
  ['spaceDelimited', false, list, 'p=a%20b%20c%2Cd%20e'],
  ['pipeDelimited', false, list, 'p=a%20b|c%2Cd|e'],
  ['deepObject', true, { a: 1, b: { c: [2, { d: null }] } }, 'p[a]=1&p[b][c][0]=2&p[b][c][1][d]=null'],
  ['form', true, [{ a: 1 }], 'p=%7B%22a%22%3A1%7D'],
  ['form', true, true, 'p=true'],
  ['form', true, '\ud800', 'p=%EF%BF%BD'],
] as const)('in a query, %s (explode: %s) writes %j as %s', (style, explode, value, text) => {
  expect(joinPairs(encodedPairs({ name: 'p', style, explode, isJson: false }, value), '&')).toBe(text);
});

test('a parameter with a media type is JSON', () => {
  const parameter = { name: 'p', style: 'form', explode: true, isJson: true };
  expect(joinPairs(encodedPairs(parameter, { a: ['x'] }), '&')).toBe('p=%7B%22a%22%3A%5B%22x%22%5D%7D');
  expect(headerText({ ...parameter, style: 'simple' }, 'text')).toBe('"text"');
});

test('headers are not encoded', () => {
  const parameter = { name: 'p', style: 'simple', explode: false, isJson: false };
  expect(headerText(parameter, ['a b', 'c'])).toBe('a b,c');
  expect(headerText({ ...parameter, explode: true }, { a: 1 })).toBe('a=1');
});
