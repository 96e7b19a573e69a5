import { expect, test } from 'vitest';
import { inNewestDialect } from './newest-dialect.ts';

const $schema = 'http://json-schema.org/draft-07/schema#';

test('tuples are written as in 2020-12, and references to their items follow', () => {
  const pair = { type: 'array', items: [{ type: 'string' }, { $ref: '#/definitions/n' }], additionalItems: false };
  const schema = {
    $schema,
    type: 'object',
    properties: { pair, more: { anyOf: [{ $ref: '#/properties/pair/items/1' }, { type: 'array', items: pair }] } },
    definitions: { n: { type: 'number' } },
  };
  const converted = { type: 'array', prefixItems: [{ type: 'string' }, { $ref: '#/definitions/n' }], items: false };
  expect(inNewestDialect(schema)).toEqual({
    type: 'object',
    properties: {
      pair: converted,
      more: { anyOf: [{ $ref: '#/properties/pair/prefixItems/1' }, { type: 'array', items: converted }] },
    },
    definitions: { n: { type: 'number' } },
  });
});

test('references to the further items of a tuple follow, and properties with the names of keywords stay', () => {
  const rest = { type: 'object', properties: { a: { type: 'string' } } };
  const schema = (tuple: object, ref: string) => ({
    type: 'object',
    properties: {
      items: { type: 'array', ...tuple },
      additionalItems: { $ref: ref },
      more: { $ref: '#/properties/additionalItems' },
    },
  });
  const old = schema({ items: [{ type: 'string' }], additionalItems: rest }, '#/properties/items/additionalItems');
  expect(inNewestDialect({ $schema, ...old })).toEqual(
    schema({ prefixItems: [{ type: 'string' }], items: rest }, '#/properties/items/items'),
  );
});

test('names of properties and data are not keywords', () => {
  const tuple = { items: [1], additionalItems: 2 };
  const rest = {
    type: 'object',
    properties: {
      items: { type: 'array', items: { type: 'string' } },
      default: { const: tuple },
      $ref: { default: tuple },
    },
    required: ['items', 'additionalItems'],
  };
  expect(inNewestDialect({ $schema, ...rest })).toEqual(rest);
});

test('schemas of other dialects are left as they are', () => {
  const newest = { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [{ type: 'string' }] };
  expect(inNewestDialect(newest)).toBe(newest);
  const unnamed = { items: [{ type: 'string' }] };
  expect(inNewestDialect(unnamed)).toBe(unnamed);
});
