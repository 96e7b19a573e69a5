import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { inPortableForm } from './portable-form.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';
const newest = 'https://json-schema.org/draft/2020-12/schema';
const text = { type: 'string' };
const number = { type: 'number' };
const list = { type: 'array' };

test('the dialect is not named, since 2020-12 is the default of MCP and readers of draft-07 reject its name', () => {
  const schema = { type: 'object', properties: { $schema: text } };
  for (const $schema of [newest, draft07]) expect(inPortableForm({ $schema, ...schema })).toEqual(schema);
});

test('tuples have no boolean schema', () => {
  const tuple = { ...list, prefixItems: [text, number] };
  expect(inPortableForm({ ...tuple, minItems: 1, items: false })).toEqual({ ...tuple, minItems: 1, maxItems: 2 });
  expect(inPortableForm({ ...tuple, maxItems: 1, items: false })).toEqual({ ...tuple, maxItems: 1 });
  expect(inPortableForm({ ...tuple, maxItems: 9, items: false })).toEqual({ ...tuple, maxItems: 2 });
  for (const open of [tuple, { ...tuple, items: true }]) expect(inPortableForm(open)).toEqual(open);
});

test('empty lists, which some readers reject, are left out', () => {
  for (const empty of [{ prefixItems: [], items: false }, { items: [], additionalItems: false }, { items: false }]) {
    expect(inPortableForm({ ...list, ...empty })).toEqual({ ...list, maxItems: 0 });
  }
  expect(inPortableForm({ ...list, prefixItems: [], items: text })).toEqual({ ...list, items: text });
  expect(inPortableForm({ ...list, items: { enum: [] } })).toEqual({ ...list, items: { not: {} } });
});

test('the further items of a tuple are not described by a keyword that readers of draft-07 apply to all of them', () => {
  const tuple = { ...list, prefixItems: [text] };
  expect(inPortableForm({ ...tuple, items: number })).toEqual({ ...tuple, unevaluatedItems: number });
  // Beside these, the two keywords differ.
  for (const other of [{ contains: text }, { allOf: [{ ...list, items: text }] }, { $ref: '#' }]) {
    const schema = { ...tuple, ...other, items: number };
    expect(inPortableForm(schema)).toEqual(schema);
  }
});

test('readers of both dialects accept the same values of tuples', () => {
  const schemas = [
    { prefixItems: [text, number], items: false, minItems: 1 },
    { prefixItems: [text, number], items: { type: 'boolean' }, minItems: 2 },
    { prefixItems: [{ ...list, prefixItems: [number], items: false, minItems: 1 }], items: { ...list, items: false } },
    { items: { ...list, prefixItems: [text], items: number }, maxItems: 2 },
  ];
  const parts = ['a', 1, true, [], [1], ['a', 1], [1, 1]];
  const values = [
    [],
    ...parts.flatMap((a) => [[a], ...parts.flatMap((b) => [[a, b], ...parts.map((c) => [a, b, c])])]),
  ];
  for (const schema of schemas) {
    const before = new Ajv2020({ strict: false }).compile(schema);
    const after = inPortableForm(schema);
    const inNewest = new Ajv2020({ strict: false }).compile(after);
    const inOld = new Ajv({ strict: false }).compile(after);
    for (const value of values) {
      expect(inNewest(value), JSON.stringify([schema, value])).toBe(before(value));
      if (before(value)) expect(inOld(value), JSON.stringify([schema, value])).toBe(true);
    }
  }
});

test('tuples of draft-07 are written as in 2020-12, and references to their items follow', () => {
  const pair = { type: 'array', items: [text, { $ref: '#/definitions/n' }], additionalItems: false };
  const schema = {
    $schema: draft07,
    type: 'object',
    properties: { pair, more: { anyOf: [{ $ref: '#/properties/pair/items/1' }, { type: 'array', items: pair }] } },
    definitions: { n: number },
  };
  const converted = { type: 'array', prefixItems: [text, { $ref: '#/definitions/n' }], maxItems: 2 };
  expect(inPortableForm(schema)).toEqual({
    type: 'object',
    properties: {
      pair: converted,
      more: { anyOf: [{ $ref: '#/properties/pair/prefixItems/1' }, { type: 'array', items: converted }] },
    },
    definitions: { n: number },
  });
});

test('references to the further items of a tuple follow, and properties with the names of keywords stay', () => {
  const rest = { type: 'object', properties: { a: text } };
  const schema = (tuple: object, ref: string) => ({
    type: 'object',
    properties: {
      items: { type: 'array', ...tuple },
      additionalItems: { $ref: ref },
      more: { $ref: '#/properties/additionalItems' },
    },
  });
  const portable = schema({ prefixItems: [text], unevaluatedItems: rest }, '#/properties/items/unevaluatedItems');
  const old = schema({ items: [text], additionalItems: rest }, '#/properties/items/additionalItems');
  expect(inPortableForm({ $schema: draft07, ...old })).toEqual(portable);
  const recent = schema({ prefixItems: [text], items: rest }, '#/properties/items/items');
  expect(inPortableForm({ $schema: newest, ...recent })).toEqual(portable);
});

test('names of properties and data are not keywords', () => {
  const tuple = { items: [1], prefixItems: [], enum: [], additionalItems: false };
  const schema = {
    type: 'object',
    properties: {
      items: { type: 'array', items: text },
      default: { const: tuple },
      $ref: { default: tuple },
      ['__proto__']: { enum: [tuple], 'x-hint': tuple },
    },
    required: ['items', 'additionalItems'],
  };
  expect(JSON.stringify(inPortableForm(schema))).toBe(JSON.stringify(schema));
});

test('schemas of other dialects are left as they are', () => {
  for (const $schema of [
    'https://json-schema.org/draft/2019-09/schema',
    'http://json-schema.org/draft-04/schema#',
    1,
  ]) {
    const schema = { $schema, items: [text], additionalItems: false };
    expect(inPortableForm(schema)).toBe(schema);
  }
});
