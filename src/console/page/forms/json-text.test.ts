import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FieldReader } from './field.ts';
import { equalJson, formatJson, fromPlain, isNumberText, JsonTextError, parseJson } from './json-text.ts';
import { withoutSecrets } from './secrets.ts';

test('any JSON survives parsing and formatting', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.parse(formatJson(parseJson(text)))).toEqual(JSON.parse(text));
      expect(JSON.parse(formatJson(parseJson(text), true))).toEqual(JSON.parse(text));
      expect(equalJson(parseJson(text), fromPlain(value))).toBe(true);
    }),
  );
});

test('text is rejected exactly where JSON.parse rejects it', () => {
  const isJson = (parse: (text: string) => unknown, text: string): boolean => {
    try {
      parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '"',
    '1',
    '-',
    '01',
    '1.',
    '.5',
    'e3',
    'true',
    'nul',
    ' ',
    '\n',
    '\\',
    '\t',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const text = parts.join('');
      expect(isJson(parseJson, text), text).toBe(isJson(JSON.parse, text));
    }),
    { numRuns: 2_000 },
  );
});

test('numbers keep their text', () => {
  expect(formatJson(parseJson('[9007199254740993, 1.0, 1E+2, -0]'))).toBe('[9007199254740993,1.0,1E+2,-0]');
  expect(isNumberText('9'.repeat(50))).toBe(true);
  expect(['', '+1', '1.', '0x1', 'NaN', ' 1'].some(isNumberText)).toBe(false);
});

test('integers that JSON.parse would confuse are different', () => {
  expect(equalJson(parseJson('9007199254740993'), parseJson('9007199254740992'))).toBe(false);
  expect(equalJson(parseJson('1.0'), parseJson('1'))).toBe(true);
});

test('errors name the line, and deep nesting is an error, not an overflow', () => {
  expect(() => parseJson('{\n"a": }')).toThrow(/line 2/);
  expect(() => parseJson('['.repeat(100_000))).toThrow(JsonTextError);
});

test('arguments are kept without secrets', () => {
  const schema = {
    type: 'object',
    properties: {
      user: { type: 'string' },
      pin: { type: 'string', writeOnly: true },
      word: { type: 'string', format: 'password' },
      inner: { type: 'object', properties: { apiKey: { type: 'string' }, n: { type: 'integer' } } },
      any: { oneOf: [{ type: 'object', properties: { code: { writeOnly: true } } }, { type: 'string' }] },
      list: { type: 'array', items: { type: 'object', properties: { token: {}, ok: {} } } },
    },
  };
  const value = parseJson(
    '{"user":"u","pin":"1","word":"2","inner":{"apiKey":"3","n":4},"any":{"code":"5"},"list":[{"token":"6","ok":7}]}',
  );
  expect(formatJson(withoutSecrets(schema, value, new FieldReader(schema)))).toBe(
    '{"user":"u","inner":{"n":4},"any":{},"list":[{"ok":7}]}',
  );
});
