import { expect, test } from 'vitest';
import { OpenApiDocument } from './document.ts';
import { SchemaConverter } from './schemas.ts';

function convert(schema: unknown, { version = '3.1.0', schemas = {} }: { version?: string; schemas?: object } = {}) {
  const document = new OpenApiDocument({ openapi: version, paths: {}, components: { schemas } });
  const converter = new SchemaConverter(document);
  const converted = converter.convert(schema);
  return { converted, definitions: converter.definitions() };
}

test.each([
  [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
  [
    { type: 'string', nullable: true, enum: ['a'] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [{ allOf: [{ type: 'object' }], nullable: true }, { anyOf: [{ allOf: [{ type: 'object' }] }, { type: 'null' }] }],
  [
    { minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
    { exclusiveMinimum: 1, maximum: 5 },
  ],
  [
    { type: 'string', format: 'binary' },
    { type: 'string', contentEncoding: 'base64' },
  ],
  [{ type: 'string', example: 'x', xml: {}, 'x-order': 1, discriminator: {} }, { type: 'string' }],
])('the schema %j of 3.0 is %j', (given, expected) => {
  expect(convert(given, { version: '3.0.3' }).converted).toEqual(expected);
});

test.each([
  [
    { type: ['string', 'null'], exclusiveMinimum: 1 },
    { type: ['string', 'null'], exclusiveMinimum: 1 },
  ],
  [{ contentMediaType: 'image/png' }, { contentMediaType: 'image/png', type: 'string', contentEncoding: 'base64' }],
  [true, true],
  [undefined, {}],
  ['text', {}],
  // Mistakes that are frequent.
  [{ type: 'string', pattern: '(?i)[' }, { type: 'string' }],
  [{ type: 'string', required: true }, { type: 'string' }],
])('the schema %j of 3.1 is %j', (given, expected) => {
  expect(convert(given).converted).toEqual(expected);
});

test('properties are schemas whatever their names, and read-only ones are left out', () => {
  const { converted } = convert({
    type: 'object',
    properties: {
      id: { type: 'string', readOnly: true },
      example: { type: 'string' },
      properties: { type: 'object', properties: { xml: { type: 'string' } } },
      ['__proto__']: { type: 'number' },
    },
    required: ['id', 'example'],
  });
  expect(converted).toEqual({
    type: 'object',
    properties: {
      example: { type: 'string' },
      properties: { type: 'object', properties: { xml: { type: 'string' } } },
      ['__proto__']: { type: 'number' },
    },
    required: ['example'],
  });
});

test('what a schema refers to is part of it, once, and also if it refers to itself', () => {
  const schemas = {
    Pet: { type: 'object', properties: { friend: { $ref: '#/components/schemas/Pet' } } },
    'a/b~c d': { $ref: '#/components/schemas/Pet', description: 'Another' },
  };
  const { converted, definitions } = convert(
    [1, 2].reduce((given) => ({ anyOf: [given, { $ref: '#/components/schemas/a~1b~0c%20d' }] }), {}),
    { schemas },
  );
  expect(converted).toEqual({
    anyOf: [{ anyOf: [{}, { $ref: '#/$defs/a_1b_0c_20d' }] }, { $ref: '#/$defs/a_1b_0c_20d' }],
  });
  expect(definitions).toEqual({
    a_1b_0c_20d: { $ref: '#/$defs/Pet', description: 'Another' },
    Pet: { type: 'object', properties: { friend: { $ref: '#/$defs/Pet' } } },
  });
});

test('a chain of thousands of references does not overflow the stack', () => {
  const links = Array.from({ length: 5_000 }, (_, n) => [`S${n}`, { $ref: `#/components/schemas/S${n + 1}` }]);
  const schemas = Object.fromEntries([...links, ['S5000', { type: 'string' }]]);
  const { definitions } = convert({ $ref: '#/components/schemas/S0' }, { schemas });
  expect(Object.keys(definitions ?? {})).toHaveLength(5_001);
});

test.each([
  ['#/components/schemas/None', 'refers to "#/components/schemas/None", which does not exist'],
  ['#/components/schemas/constructor', 'does not exist'],
  ['other.json#/Pet', 'refers to another document ("other.json#/Pet"); combine them into one first'],
  ['#anchor', 'refers to another document'],
])('the reference %s is an error', (reference, message) => {
  expect(() => convert({ $ref: reference })).toThrow(message);
});

test('schemas that are too large are an error', () => {
  const schemas = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `S${n}`,
      { description: 'x'.repeat(1_000), allOf: [{ $ref: `#/components/schemas/S${(n + 1) % 300}` }] },
    ]),
  );
  expect(() => convert({ $ref: '#/components/schemas/S0' }, { schemas })).toThrow('has schemas of more than 262144');
});
