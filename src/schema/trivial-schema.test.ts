import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseSchema } from './parse/parse.ts';
import { isTrivialSchema } from './trivial-schema.ts';
import type { JsonSchema } from './types.ts';

test.each<[string, JsonSchema]>([
  ['an object of simple properties', { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }],
  ['an object without a prototype', Object.assign(Object.create(null), { type: 'object', properties: { a: true } })],
  ['a closed object', { type: 'object', additionalProperties: false }],
  ['a list of choices', { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1, maxItems: 3 }],
  [
    'bounds and words for people',
    { type: 'integer', minimum: 1, maximum: 9, title: 'T', description: 'D', default: 3 },
  ],
])('%s needs no second look', (_name, schema) => {
  expect(isTrivialSchema(schema)).toBe(true);
});

test.each<[string, unknown]>([
  ['a type that does not exist', { type: 'strng' }],
  ['properties that are a list', { properties: [] }],
  ['a wrong property deep inside', { properties: { a: { properties: { b: { minLength: -1 } } } } }],
  ['an empty choice', { enum: [] }],
  ['a bound that is not a number', { minimum: '1' }],
  ['a reference', { $ref: '#/$defs/a' }],
  ['a dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
  ['a pattern', { pattern: '(' }],
  ['a word that is unknown', { properties: { a: { typ: 'string' } } }],
  ['something that is not a schema', { items: 'string' }],
  ['what only a library can validate', { unevaluatedProperties: false }],
  ['a keyword that is inherited', Object.create({ $ref: 'https://example.com/' })],
  ['a keyword that does not enumerate', Object.defineProperty({}, '$ref', { value: 'https://example.com/' })],
  ['an own __proto__', JSON.parse('{"__proto__": {"type": "strng"}}')],
  ['a bound without an end', { maximum: Number.POSITIVE_INFINITY }],
  ['a bound that is not a number', { minimum: Number.NaN }],
  ['a bound of another kind', { minimum: 1n }],
  ['a keyword that is undefined', { additionalProperties: undefined }],
])('%s is read in full', (_name, schema) => {
  expect(isTrivialSchema(schema)).toBe(false);
});

test('a circular schema is not looked at forever', () => {
  const circle: { [key: string]: unknown } = { type: 'object' };
  circle['properties'] = { again: circle };
  expect(isTrivialSchema(circle)).toBe(false);
});

test('what is evident can always be read, and never needs a library', () => {
  const words = ['type', 'properties', 'items', 'required', 'enum', 'const', 'minimum', 'maxLength', 'description'];
  const schema = fc.letrec((tie) => ({
    value: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('string', 'object', ['a']), tie('schema')),
    schema: fc.oneof(
      { maxDepth: 3 },
      fc.boolean(),
      fc.dictionary(fc.constantFrom(...words, 'additionalProperties', '$ref', 'not'), tie('value'), { maxKeys: 4 }),
    ),
  })).schema;
  let evident = 0;
  fc.assert(
    fc.property(schema, (candidate) => {
      if (typeof candidate !== 'object' || !isTrivialSchema(candidate)) return;
      evident++;
      expect(parseSchema(candidate as JsonSchema, 'test').needsAjv).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
  expect(evident).toBeGreaterThan(100);
});
