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
  for (const other of [{ contains: text }, { allOf: [{ ...list, items: text }] }, { $ref: 'x' }]) {
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

test('tuples of draft-07 are written as in 2020-12', () => {
  const pair = { type: 'array', items: [text, { $ref: '#/definitions/n' }], additionalItems: false };
  const schema = {
    $schema: draft07,
    type: 'object',
    properties: { pair, more: { anyOf: [number, { type: 'array', items: pair }] } },
    definitions: { n: number },
  };
  const converted = { type: 'array', prefixItems: [text, { $ref: '#/definitions/n' }], maxItems: 2 };
  expect(inPortableForm(schema)).toEqual({
    type: 'object',
    properties: { pair: converted, more: { anyOf: [number, { type: 'array', items: converted }] } },
    definitions: { n: number },
  });
});

test('references lead to definitions, since some readers follow no others', () => {
  const node = { type: 'object', properties: { next: { $ref: '#' }, all: { type: 'array', items: { $ref: '#' } } } };
  const moved = { next: { $ref: '#/$defs/root' }, all: { type: 'array', items: { $ref: '#/$defs/root' } } };
  const root = { type: 'object', properties: moved };
  expect(inPortableForm(node)).toEqual({ ...root, $defs: { root } });

  const point = { type: 'object', properties: { x: number } };
  const shared = (a: object, ref: string) => ({ properties: { a, b: { $ref: ref }, c: { items: { $ref: ref } } } });
  expect(inPortableForm({ ...shared(point, '#/properties/a'), $defs: { a: text, a2: text } })).toEqual({
    ...shared({ $ref: '#/$defs/a3' }, '#/$defs/a3'),
    $defs: { a: text, a2: text, a3: point },
  });

  for (const prefix of ['#/$defs/n', '#/definitions/n', '#n', 'n', '#/properties/none']) {
    const schema = { ...shared(text, prefix), $defs: { n: number }, definitions: { n: number } };
    expect(inPortableForm(schema)).toEqual(schema);
  }
  const embedded = { properties: { a: { $id: 'a', items: { $ref: '#' } }, b: { $ref: '#' } } };
  expect(inPortableForm(embedded)).toEqual(embedded);
});

test('the root is not a reference', () => {
  const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };
  const leaf = { type: 'object', properties: { n: { $ref: '#/$defs/n' } }, description: 'a leaf' };
  const at = (name: string, $defs: object) => ({ $schema: newest, $ref: `#/$defs/${name}`, $defs });
  expect(inPortableForm(at('node', { node, leaf }))).toEqual({ ...node, $defs: { node, leaf } });
  expect(inPortableForm(at('leaf', { leaf, n: number }))).toEqual({ ...leaf, $defs: { n: number } });
  expect(inPortableForm({ ...at('t', { t: { type: 'object' } }), title: 'T' })).toEqual({ type: 'object', title: 'T' });
  // There both apply, or the name leads elsewhere.
  for (const other of [{ required: ['x'] }, { $id: 'x' }, { $ref: '#/$defs/none' }, { $defs: { t: { $id: 't' } } }]) {
    const { $schema: _, ...schema } = { ...at('t', { t: { type: 'object' } }), ...other };
    expect(inPortableForm(schema)).toEqual(schema);
  }
});

test('references into tuples and into parts that have moved follow', () => {
  const rest = { type: 'object', properties: { 'a b': { type: 'object', properties: { n: number } } } };
  const schema = {
    $schema: draft07,
    type: 'object',
    properties: {
      items: { type: 'array', items: [text], additionalItems: rest },
      additionalItems: { $ref: '#/properties/items/additionalItems' },
      first: { $ref: '#/properties/items/items/0' },
      inner: { $ref: '#/properties/items/additionalItems/properties/a%20b' },
      alias: { $ref: '#/properties/additionalItems' },
    },
  };
  const after = inPortableForm(schema);
  expect(
    JSON.stringify(after)
      .match(/"#[^"]*"/g)
      ?.every((ref) => ref.startsWith('"#/$defs/')),
  ).toBe(true);
  const before = new Ajv({ strict: false }).compile(schema);
  const inNewest = new Ajv2020({ strict: false }).compile(after);
  for (const [value, isValid] of [
    [{ items: ['a', { 'a b': { n: 1 } }], additionalItems: {}, first: 'a', inner: { n: 1 }, alias: {} }, true],
    ...['items', 'additionalItems', 'first', 'inner', 'alias'].map((name) => [{ [name]: 1 }, false] as const),
    ...[{ items: ['a', 1] }, { inner: { n: 'x' } }, { alias: { 'a b': { n: 'x' } } }].map(
      (bad) => [bad, false] as const,
    ),
  ] as const) {
    expect(before(value), JSON.stringify(value)).toBe(isValid);
    expect(inNewest(value), JSON.stringify(value)).toBe(isValid);
  }
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
