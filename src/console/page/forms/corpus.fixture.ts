// Schemas as real tools have them, each with values that fit and values that do not.

import type { Schema } from './merge.ts';

export interface Sample {
  readonly name: string;
  readonly schema: Schema;
  /** JSON texts that the validator accepts. */
  readonly valid: readonly string[];
  /** JSON texts that it rejects. */
  readonly invalid: readonly string[];
}

const object = (properties: object, required: readonly string[] = [], more: object = {}): Schema => ({
  type: 'object',
  properties,
  required,
  ...more,
});
const value = (schema: object, more: object = {}): Schema => object({ v: schema }, ['v'], more);
const v = (...texts: string[]): string[] => texts.map((text) => `{"v":${text}}`);

export const corpus: readonly Sample[] = [
  {
    name: 'a string',
    schema: value({ type: 'string' }),
    valid: v('"a"', '""', '"two\\nlines"'),
    invalid: v('1', 'null'),
  },
  { name: 'a short string', schema: value({ type: 'string', maxLength: 3 }), valid: v('"abc"'), invalid: v('"abcd"') },
  { name: 'a pattern', schema: value({ type: 'string', pattern: '^[a-z]+$' }), valid: v('"abc"'), invalid: v('"A"') },
  { name: 'a date', schema: value({ type: 'string', format: 'date' }), valid: v('"2026-01-31"'), invalid: v('5') },
  { name: 'a number', schema: value({ type: 'number' }), valid: v('1.5', '-0', '1e30'), invalid: v('"1"') },
  {
    name: 'an integer with limits',
    schema: value({ type: 'integer', minimum: 1, maximum: 9 }),
    valid: v('3'),
    invalid: v('0', '1.5'),
  },
  {
    name: 'a large integer',
    schema: value({ type: 'integer' }),
    valid: v('9007199254740993', '-123456789012345678901234567890'),
    invalid: v('"9"'),
  },
  { name: 'a boolean', schema: value({ type: 'boolean' }), valid: v('true', 'false'), invalid: v('"yes"') },
  { name: 'null', schema: value({ type: 'null' }), valid: v('null'), invalid: v('0') },
  {
    name: 'an enumeration',
    schema: value({ type: 'string', enum: ['a', 'b'] }),
    valid: v('"a"', '"b"'),
    invalid: v('"c"'),
  },
  {
    name: 'an enumeration of several types',
    schema: value({ enum: [1, 'one', null, true] }),
    valid: v('1', '"one"', 'null', 'true'),
    invalid: v('2'),
  },
  {
    name: 'an enumeration with names',
    schema: value({ type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'] }),
    valid: v('"g"'),
    invalid: v('"Green"'),
  },
  {
    name: 'constants with titles',
    schema: value({
      oneOf: [
        { const: 'r', title: 'Red' },
        { const: 'g', title: 'Green' },
      ],
    }),
    valid: v('"r"'),
    invalid: v('"Red"'),
  },
  {
    name: 'a constant',
    schema: object({ kind: { const: 'x' }, n: { type: 'integer' } }, ['kind']),
    valid: ['{"kind":"x","n":1}', '{"kind":"x"}'],
    invalid: ['{"kind":"y"}'],
  },
  { name: 'a nullable string', schema: value({ type: ['string', 'null'] }), valid: v('"a"', 'null'), invalid: v('1') },
  {
    name: 'nullable by anyOf',
    schema: value({ anyOf: [{ type: 'integer' }, { type: 'null' }] }),
    valid: v('1', 'null'),
    invalid: v('"1"'),
  },
  {
    name: 'a nullable object',
    schema: value({ anyOf: [object({ a: { type: 'string' } }), { type: 'null' }] }),
    valid: v('{"a":"x"}', 'null', '{}'),
    invalid: v('[]'),
  },
  { name: 'several types', schema: value({ type: ['string', 'integer'] }), valid: v('"1"', '1'), invalid: v('true') },
  {
    name: 'several types or null',
    schema: value({ type: ['string', 'boolean', 'null'] }),
    valid: v('"a"', 'false', 'null'),
    invalid: v('1'),
  },
  {
    name: 'a nested object',
    schema: value(object({ a: object({ b: { type: 'string' } }, ['b']) }, ['a'])),
    valid: v('{"a":{"b":"x"}}'),
    invalid: v('{"a":{}}'),
  },
  {
    name: 'optional parts',
    schema: object({ a: { type: 'string' }, b: object({ c: { type: 'integer' } }) }),
    valid: ['{}', '{"b":{}}', '{"a":"x","b":{"c":1}}'],
    invalid: ['{"b":{"c":"x"}}'],
  },
  {
    name: 'a list',
    schema: value({ type: 'array', items: { type: 'string' } }),
    valid: v('[]', '["a","","b"]'),
    invalid: v('[1]'),
  },
  {
    name: 'a list of lists',
    schema: value({ type: 'array', items: { type: 'array', items: { type: 'number' } } }),
    valid: v('[[1,2],[],[3.5]]'),
    invalid: v('[["a"]]'),
  },
  {
    name: 'a list of objects',
    schema: value({ type: 'array', minItems: 1, items: object({ n: { type: 'integer' } }, ['n']) }),
    valid: v('[{"n":1},{"n":2}]'),
    invalid: v('[]', '[{}]'),
  },
  {
    name: 'different options',
    schema: value({ type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } }),
    valid: v('["b","a"]'),
    invalid: v('["a","a"]'),
  },
  {
    name: 'a tuple',
    schema: value({ type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false, minItems: 2 }),
    valid: v('[1,"a"]'),
    invalid: v('["a",1]', '[1]'),
  },
  {
    name: 'a tuple with more',
    schema: value({ type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'integer' } }),
    valid: v('["a",1,2]', '["a"]'),
    invalid: v('["a","b"]'),
  },
  {
    name: 'a tuple with more, under the other keyword',
    schema: value({ type: 'array', prefixItems: [{ type: 'string' }], unevaluatedItems: { type: 'integer' } }),
    valid: v('["a",1,2]', '["a"]'),
    invalid: v('["a","b"]'),
  },
  {
    name: 'a tuple that ends with maxItems',
    schema: value({ type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], minItems: 2, maxItems: 2 }),
    valid: v('[1,"a"]'),
    invalid: v('["a",1]', '[1]'),
  },
  {
    name: 'a tuple of draft-07',
    schema: value(
      { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
      { $schema: 'http://json-schema.org/draft-07/schema#' },
    ),
    valid: v('["a",1]'),
    invalid: v('["a","b"]'),
  },
  {
    name: 'a map',
    schema: value({ type: 'object', additionalProperties: { type: 'integer' } }),
    valid: v('{}', '{"a":1,"b c":2}'),
    invalid: v('{"a":"x"}'),
  },
  {
    name: 'a map of lists',
    schema: value({ type: 'object', additionalProperties: { type: 'array', items: { type: 'string' } } }),
    valid: v('{"a":["x"]}'),
    invalid: v('{"a":"x"}'),
  },
  {
    name: 'keys by a pattern',
    schema: value({ type: 'object', patternProperties: { '^x-': { type: 'string' } }, additionalProperties: false }),
    valid: v('{"x-a":"1"}'),
    invalid: v('{"y":"1"}'),
  },
  {
    name: 'other keys',
    schema: object({ a: { type: 'string' } }, [], { additionalProperties: true }),
    valid: ['{"a":"x","b":[1,{"c":null}]}'],
    invalid: ['{"a":1}'],
  },
  {
    name: 'no other keys',
    schema: object({ a: { type: 'string' } }, [], { additionalProperties: false }),
    valid: ['{"a":"x"}'],
    invalid: ['{"b":1}'],
  },
  {
    name: 'a reference',
    schema: value(
      { $ref: '#/$defs/point' },
      { $defs: { point: object({ x: { type: 'number' }, y: { type: 'number' } }, ['x', 'y']) } },
    ),
    valid: v('{"x":1,"y":2}'),
    invalid: v('{"x":1}'),
  },
  {
    name: 'a reference with an escaped name',
    schema: value({ $ref: '#/definitions/a~1b%20c' }, { definitions: { 'a/b c': { type: 'boolean' } } }),
    valid: v('true'),
    invalid: v('1'),
  },
  {
    name: 'a tree',
    schema: object({ name: { type: 'string' }, children: { type: 'array', items: { $ref: '#' } } }, ['name']),
    valid: ['{"name":"a","children":[{"name":"b","children":[]},{"name":"c"}]}'],
    invalid: ['{"name":"a","children":[{}]}'],
  },
  {
    name: 'a linked list',
    schema: value(
      { $ref: '#/$defs/node' },
      {
        $defs: {
          node: object({ n: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }, [
            'n',
          ]),
        },
      },
    ),
    valid: v('{"n":1,"next":{"n":2,"next":null}}'),
    invalid: v('{"n":1,"next":{}}'),
  },
  {
    name: 'branches with a constant',
    schema: value({
      oneOf: [
        object({ kind: { const: 'a' }, x: { type: 'string' } }, ['kind', 'x']),
        object({ kind: { const: 'b' }, y: { type: 'integer' } }, ['kind']),
      ],
    }),
    valid: v('{"kind":"a","x":"1"}', '{"kind":"b","y":1}', '{"kind":"b"}'),
    invalid: v('{"kind":"a"}', '{"kind":"c"}'),
  },
  {
    name: 'branches of different types',
    schema: value({
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'string' } },
        object({ all: { type: 'boolean' } }, ['all']),
      ],
    }),
    valid: v('"a"', '["a","b"]', '{"all":true}'),
    invalid: v('1', '{}'),
  },
  {
    name: 'branches beside common properties',
    schema: object({ id: { type: 'string' } }, ['id'], {
      oneOf: [object({ a: { type: 'integer' } }, ['a']), object({ b: { type: 'integer' } }, ['b'])],
    }),
    valid: ['{"id":"x","a":1}', '{"id":"x","b":2}'],
    invalid: ['{"id":"x"}', '{"a":1}'],
  },
  {
    name: 'branches in branches',
    schema: value({
      anyOf: [{ anyOf: [{ type: 'integer' }, { type: 'string', format: 'date' }] }, { type: 'boolean' }],
    }),
    valid: v('1', '"2026-01-01"', 'true'),
    invalid: v('[]'),
  },
  {
    name: 'allOf',
    schema: value(
      { allOf: [object({ a: { type: 'string' } }, ['a']), object({ b: { type: 'integer' } }), { $ref: '#/$defs/c' }] },
      { $defs: { c: object({ c: { type: 'boolean' } }, ['c']) } },
    ),
    valid: v('{"a":"x","b":1,"c":true}', '{"a":"x","c":false}'),
    invalid: v('{"b":1,"c":true}'),
  },
  {
    name: 'if, then, else',
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; nothing awaits this object.
    schema: value(object({ a: { type: 'string' } }, [], { if: { required: ['a'] }, then: { required: ['b'] } })),
    valid: v('{}', '{"a":"x","b":1}'),
    invalid: v('{"a":"x"}'),
  },
  { name: 'anything', schema: object({ v: {} }, ['v']), valid: v('1', '"a"', '{"b":[null]}', 'null'), invalid: ['{}'] },
  { name: 'anything but', schema: value({ not: { type: 'string' } }), valid: v('1', '[]'), invalid: v('"a"') },
  {
    name: 'unusual keys',
    schema: object({ __proto__x: { type: 'string' }, constructor: { type: 'string' }, 'a/b~c': { type: 'integer' } }),
    valid: ['{"constructor":"x","a/b~c":1}', '{"__proto__":{"a":1}}'],
    invalid: ['{"constructor":1}'],
  },
  {
    name: 'defaults',
    schema: object({ a: { type: 'integer', default: 5 }, b: { type: 'boolean', default: true } }),
    valid: ['{}', '{"a":1,"b":false}'],
    invalid: ['{"a":"5"}'],
  },
  { name: 'no schema at all', schema: { type: 'object' }, valid: ['{}', '{"a":{"b":1}}'], invalid: ['[]'] },
];
