import { describe, expect, test } from 'vitest';
import { compileEagerly } from '../eager.ts';
import { compileSchema, formatIssues } from '../index.ts';
import type { JsonSchema } from '../types.ts';

const options = { direction: 'input', root: 'any', where: 'test' } as const;

function validate(schema: JsonSchema, value: unknown): string {
  return formatIssues(compileEagerly(schema, options).validator.check?.(value) ?? []);
}

const text = { type: 'string' };
const wrong = 'must be a string, not a number';

describe('a reference leads to', () => {
  test.each<[string, JsonSchema]>([
    ['a definition', { $ref: '#/$defs/a', $defs: { a: text } }],
    ['a definition in the old place', { $ref: '#/definitions/a', definitions: { a: text } }],
    ['any place in the schema', { properties: { x: text }, anyOf: [{ $ref: '#/properties/x' }] }],
    [
      'an item of a list',
      { anyOf: [{ $ref: '#/$defs/list/prefixItems/1' }], $defs: { list: { prefixItems: [{}, text] } } },
    ],
    ['a name with slashes, tildes, percents and spaces', { $ref: '#/$defs/a~1b~0%25%20c', $defs: { 'a/b~% c': text } }],
    ['an anchor', { $ref: '#here', $defs: { a: { $anchor: 'here', ...text } } }],
    ['an anchor in the old form', { $ref: '#here', definitions: { a: { $id: '#here', ...text } } }],
    ['a dynamic anchor', { $ref: '#here', $defs: { a: { $dynamicAnchor: 'here', ...text } } }],
    ['another reference', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: text } }],
    ['an embedded schema by its id', { $ref: 'item.json', $defs: { a: { $id: 'item.json', ...text } } }],
    [
      'a place inside an embedded schema',
      { $ref: 'item.json#/$defs/x', $defs: { a: { $id: 'item.json', $defs: { x: text } } } },
    ],
    [
      'the schema itself by its own address',
      { $id: 'https://example.com/a/b.json', $ref: 'b.json#/$defs/x', $defs: { x: text } },
    ],
    [
      'a place in the embedded schema it stands in',
      {
        $ref: '#/$defs/a',
        $defs: { a: { $id: 'a.json', $ref: '#/$defs/x', $defs: { x: text } }, x: { type: 'null' } },
      },
    ],
    ['a name that objects inherit', { $ref: '#/$defs/constructor', $defs: { constructor: text } }],
  ])('%s', (_, schema) => {
    expect(validate(schema, 'x')).toBe('');
    expect(validate(schema, 1)).toBe(wrong);
  });
});

test('a schema may contain itself', () => {
  const tree = {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, list: { items: { $ref: '#' } } } } },
  };
  expect(validate(tree, { next: { next: { list: [{}, { next: {} }] } } })).toBe('');
  expect(validate(tree, { next: { list: [{}, { next: 5 }] } })).toBe(
    'next.list[1].next: must be an object, not a number',
  );
});

describe('a reference is rejected when', () => {
  test.each([
    ['nothing is there', '#/$defs/missing', 'nothing is there. Define it under "$defs"'],
    ['the anchor is missing', '#nowhere', 'nothing is there'],
    ['it names what objects inherit', '#/constructor', 'nothing is there'],
    ['it is not an address', '#%', 'nothing is there'],
    ['it leads to the network', 'https://example.com/schema.json', 'nothing is ever fetched'],
    ['it leads to a file', 'file:///etc/passwd', 'nothing is ever fetched'],
    ['it is relative to nothing', 'other.json#/a', 'nothing is ever fetched'],
    ['it has no host', 'http://', 'nothing is ever fetched'],
  ])('%s', (_, $ref, said) => {
    const compile = () => compileSchema({ items: { $ref } }, options);
    expect(compile).toThrow(`the "$ref" ${JSON.stringify($ref)} at #/items cannot be resolved`);
    expect(compile).toThrow(said);
  });

  test('it leads to something that is not a schema', () => {
    expect(() => compileSchema({ $ref: '#/title', title: 'x' }, options)).toThrow('but #/title is "x"');
    expect(() => compileSchema({ $ref: 7 }, options)).toThrow('"$ref" at # must be text, not 7');
  });
});

test('a circle that never goes into the value is rejected', () => {
  for (const schema of [
    { $ref: '#' },
    { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
    { dependentSchemas: { x: { $ref: '#' } } },
    { if: { $ref: '#' } },
    { properties: { x: { allOf: [{ $ref: '#/properties/x' }] } } },
  ]) {
    expect(() => compileSchema(schema, options)).toThrow('leads back to itself without going into a property');
  }
});

test('a definition used twice is not a circle', () => {
  const twice = { allOf: [{ $ref: '#/$defs/a' }, { anyOf: [{ $ref: '#/$defs/a' }] }], $defs: { a: text } };
  expect(validate(twice, 'x')).toBe('');
});

test('a long chain of references neither overflows registration nor hides a circle', () => {
  const $defs: Record<string, unknown> = {};
  for (let at = 0; at < 15_000; at++) $defs[`d${at}`] = { $ref: `#/$defs/d${at + 1}` };
  expect(() => compileSchema({ $ref: '#/$defs/d0', $defs: { ...$defs, d15000: text } }, options)).not.toThrow();
  expect(() => compileSchema({ $ref: '#/$defs/d0', $defs: { ...$defs, d15000: { $ref: '#' } } }, options)).toThrow(
    'leads back',
  );
});
