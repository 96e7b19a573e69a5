import { expect, test } from 'vitest';
import { eitherSchema, wrapSchema } from './structured.ts';

/** A schema in which each of the names of keywords is also the name of a property. */
const schemaWith = (ref: string) => {
  const names = ['default', 'enum', 'const', 'examples', '$ref', 'properties', '__proto__'];
  const properties = Object.fromEntries(names.map((name) => [name, { $ref: ref }]));
  const data = { $ref: '#/$defs/a', properties: { a: { $ref: '#' } } };
  return { anyOf: [{ properties, default: data, const: data }, { enum: [data] }], $defs: { default: { $ref: ref } } };
};

test('references of a wrapped schema move down with it, and data stays as it is', () => {
  expect(JSON.stringify(wrapSchema(schemaWith('#/$defs/default')))).toBe(
    JSON.stringify({
      type: 'object',
      properties: { result: schemaWith('#/properties/result/$defs/default') },
      required: ['result'],
    }),
  );
});

test('the references of a schema that is one of two follow it', () => {
  expect(JSON.stringify(eitherSchema(schemaWith('#'), { type: 'null' }))).toBe(
    JSON.stringify({ anyOf: [schemaWith('#/anyOf/0'), { type: 'null' }] }),
  );
});
