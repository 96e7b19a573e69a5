import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dataOf, JsoncError, nodeAt, parseJsonc, positionOf } from './jsonc.ts';

const data = (text: string): unknown => dataOf(parseJsonc(text));

test('JSON without comments is parsed like JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 2, '\t'), (text, indent) => {
      const pretty = JSON.stringify(JSON.parse(text), null, indent);
      expect(data(pretty)).toEqual(JSON.parse(text));
    }),
  );
});

test('comments and trailing commas are allowed, and comment signs in strings are text', () => {
  expect(
    data('// a\n{ /* b */ "x": [1, 2,], // c\r\n "url": "http://x//y", "not": "/* this */", }\n/* end */'),
  ).toEqual({
    x: [1, 2],
    url: 'http://x//y',
    not: '/* this */',
  });
  expect(data('\ufeff{}')).toEqual({});
});

test('a member named __proto__ stays a member', () => {
  const value = data('{"__proto__": {"polluted": true}}') as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test.each([
  ['', 'the text ends too early', 1, 1],
  ['{"a" 1}', '":" is expected here', 1, 6],
  ['{\n  "a": 1\n  "b": 2\n}', '"," or "}" is expected here', 3, 3],
  ['{a: 1}', 'a name in double quotes or "}" is expected here', 1, 2],
  ['{"a": b}', '"b" is not a JSON value; text needs double quotes', 1, 7],
  ["{'a': 1}", 'a name in double quotes or "}" is expected here', 1, 2],
  ['{"a": "x\n"}', 'this text is not closed by a double quote', 1, 7],
  ['{"a": 01}', '"01" is not a JSON value; text needs double quotes', 1, 7],
  ['{"a": "\\x"}', 'this text has an escape or a character that JSON does not allow', 1, 7],
  ['{} {}', 'unexpected text after the end of the value', 1, 4],
  ['[1, 2', 'the text ends where "," or "]" is expected', 1, 6],
  ['/* x', 'this comment is not closed by */', 1, 1],
  ['{"a": ,}', '"," is not expected here', 1, 7],
])('the error in %j is located', (text, message, line, column) => {
  const error = (() => {
    try {
      parseJsonc(text);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(JsoncError);
  expect((error as Error).message).toBe(message);
  expect(positionOf(text, (error as JsoncError).offset)).toEqual({ line, column });
});

test('a deeply nested text is rejected instead of overflowing the stack', () => {
  expect(() => parseJsonc('['.repeat(100_000))).toThrow('nested too deeply');
});

test('nodes are found by path', () => {
  const tree = parseJsonc('{"a": [{"b": 1}, {"b": 2}]}');
  expect(nodeAt(tree, ['a', 1, 'b'])).toMatchObject({ value: 2 });
  expect(nodeAt(tree, ['a', 5])).toBeUndefined();
  expect(nodeAt(tree, ['a', 0, 'b', 'c'])).toBeUndefined();
});
