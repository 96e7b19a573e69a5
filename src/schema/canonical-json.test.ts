import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

test('keys are sorted at every level and nothing else changes', () => {
  expect(canonicalJson({ b: [1, { d: 2, c: 'x' }], a: null, e: {}, f: [] })).toBe(
    '{"a":null,"b":[1,{"c":"x","d":2}],"e":{},"f":[]}',
  );
  expect(canonicalJson({ 10: 'a', 9: 'b', ä: 1, z: 2 })).toBe('{"10":"a","9":"b","z":2,"ä":1}');
});

test('scalars are written as JSON.stringify writes them', () => {
  for (const value of [null, true, 0, -0, 1.5, 1e21, 'a"\u2028', '', Number.NaN]) {
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
  }
});

test('what JSON cannot carry is left out of objects and null in arrays', () => {
  const value = { a: undefined, b: () => 1, c: Symbol('s'), d: 1 };
  expect(canonicalJson(value)).toBe('{"d":1}');
  expect(canonicalJson([undefined, () => 1])).toBe('[null,null]');
  expect(canonicalJson(undefined)).toBe('null');
});

test('a property called __proto__ is one like any other', () => {
  expect(canonicalJson(JSON.parse('{"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1}}');
});

test('the text is JSON for the same value, whatever the order of keys', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      expect(canonicalJson(reversed(value))).toBe(text);
    }),
  );
});

test('no depth overflows it, and a circle is an error', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 90_000; level++) deep = { a: deep };
  expect(canonicalJson(deep).length).toBe(90_000 * 6 + 1);
  const circle: unknown[] = [];
  circle.push(circle);
  expect(() => canonicalJson(circle)).toThrow(RangeError);
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}
