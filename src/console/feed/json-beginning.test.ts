import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginningOf } from './json-beginning.ts';

test.for([
  ['{"a":{"b":["x y z', '{"a":{"b":["x y "]}}'],
  ['{"a":1,"b', '{"a":1}'],
  ['{"a":1,"b"', '{"a":1}'],
  ['{"a":1,"b":', '{"a":1}'],
  ['{"a":1,"b":tru', '{"a":1}'],
  ['{"a":[1,{"b":2},', '{"a":[1,{"b":2}]}'],
  ['{"a":"x \\u00', '{"a":"x "}'],
  ['{"a":"x \\', '{"a":"x "}'],
  ['{"a":"\\\\ \\"', '{"a":"\\\\ \\""}'],
  [' { "a" : [ ', ' { "a" : []}'],
] as const)('%s', ([text, json]) => {
  expect(beginningOf(text, text.length).json).toBe(json);
});

test('the beginning of any JSON text is JSON, and the whole text is its own beginning', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(), fc.constantFrom(0, 1), (value, length, space) => {
      const text = JSON.stringify([value], undefined, space);
      const { json, end } = beginningOf(text, 1 + (length % text.length));
      expect(() => JSON.parse(json)).not.toThrow();
      expect(text.slice(0, end)).toBe(json.slice(0, end));
      expect(beginningOf(text, text.length)).toEqual({ json: text, end: text.length });
    }),
  );
});
