import { describe, expect, test } from 'vitest';
import { compileSchema, formatIssues } from './index.ts';
import { parseSchema } from './parse/parse.ts';
import type { JsonSchema } from './types.ts';

const options = { direction: 'input', root: 'any', where: 'test' } as const;

async function validate(schema: JsonSchema, value: unknown): Promise<string> {
  const outcome = await compileSchema(schema, options).validator.validate(value);
  return outcome.ok ? '' : formatIssues(outcome.issues);
}

const closed = { allOf: [{ properties: { a: { type: 'string' } } }], unevaluatedProperties: false };

describe('what a plan cannot say is validated by ajv', () => {
  test('unevaluatedProperties', async () => {
    expect(await validate(closed, { a: 'x' })).toBe('');
    expect(await validate(closed, { a: 'x', b: 1 })).toBe('b: is not a known property');
    expect(await validate(closed, { a: 1 })).toBe('a: must be string');
  });

  test('unevaluatedItems', async () => {
    const schema = { allOf: [{ prefixItems: [{ type: 'string' }] }], unevaluatedItems: false };
    expect(await validate(schema, ['x'])).toBe('');
    expect(await validate(schema, ['x', 1])).toBe('must NOT have more than 1 items');
  });

  test('unevaluatedItems is left to the plan where it can only mean the further items of a tuple', () => {
    const tuple = { prefixItems: [{ type: 'string' }], unevaluatedItems: { type: 'number' } };
    expect(parseSchema(tuple, 'schema').needsAjv).toBeUndefined();
    expect(parseSchema({ ...tuple, contains: {} }, 'schema').needsAjv).toBe('2020-12');
    const $schema = 'http://json-schema.org/draft-07/schema#';
    expect(parseSchema({ $schema, ...tuple }, 'schema').needsAjv).toBe('draft-07');
  });

  test('$dynamicRef', async () => {
    const schema = {
      $dynamicAnchor: 'node',
      type: 'object',
      properties: { next: { $dynamicRef: '#node' } },
    };
    expect(await validate(schema, { next: { next: {} } })).toBe('');
    expect(await validate(schema, { next: { next: 1 } })).toBe('next.next: must be object');
  });

  test('2019-09 and its $recursiveRef', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2019-09/schema',
      $recursiveAnchor: true,
      properties: { next: { $recursiveRef: '#' } },
      unevaluatedProperties: false,
    };
    expect(await validate(schema, { next: { next: {} } })).toBe('');
    expect(await validate(schema, { next: { other: 1 } })).toBe('next.other: is not a known property');
  });

  test('the meta-schema of each dialect, which says whether a value is a schema', async () => {
    for (const $schema of [
      'https://json-schema.org/draft/2020-12/schema',
      'https://json-schema.org/draft/2019-09/schema',
      'http://json-schema.org/draft-07/schema#',
    ]) {
      const schema = { $schema, properties: { s: { $ref: $schema } } };
      expect(await validate(schema, { s: { type: 'string' } })).toBe('');
      expect(await validate(schema, { s: { type: 'text' } })).toMatch(/^s\.type: must be/);
    }
    expect(() => compileSchema({ $ref: 'http://json-schema.org/draft-07/schema#' }, options)).toThrow(
      'nothing is ever fetched',
    );
  });
});

test('the first validation waits for the library, later ones do not', async () => {
  const { validator } = compileSchema(closed, options);
  expect(validator.check).toBeUndefined();
  const first = validator.validate({ a: 'x' });
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toEqual({ ok: true, value: { a: 'x' } });
  expect(validator.validate({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } });
});

test('a schema for ajv is checked at registration like any other', () => {
  expect(() => compileSchema({ ...closed, type: 'text' }, options)).toThrow('"type" at # is "text"');
  expect(() => compileSchema({ ...closed, not: { $ref: '#/$defs/x' } }, options)).toThrow('cannot be resolved');
  expect(() => compileSchema({ ...closed, items: { $ref: 'https://example.com/x' } }, options)).toThrow(
    'nothing is ever fetched',
  );
});

describe('ajv is kept to our rules', () => {
  test('formats', async () => {
    const schema = { ...closed, properties: { at: { format: 'date' }, id: { format: 'uuid' } } };
    expect(await validate(schema, { at: '2026-07-28', id: 'any' })).toBe('');
    expect(await validate(schema, { at: 'today' })).toBe('at: must match format "date"');
  });

  test('patterns that are valid only without Unicode mode', async () => {
    const schema = { ...closed, properties: { p: { pattern: '^[\\w-.]+$' } } };
    expect(await validate(schema, { p: 'a-b' })).toBe('');
    expect(await validate(schema, { p: 'a b' })).toMatch(/^p: must match pattern/);
  });

  test('equality that no value can make throw', async () => {
    const schema = { ...closed, properties: { c: { const: { a: 1 } }, e: { enum: ['x', { b: 2 }] } } };
    const trap = { toString: null, valueOf: null, constructor: null };
    expect(await validate(schema, { c: { a: 1 }, e: { b: 2 } })).toBe('');
    expect(await validate(schema, { c: trap })).toBe('c: must be {"a":1}');
    expect(await validate(schema, { e: trap })).toBe('e: must be one of "x", {"b":2}');
  });

  test('unique items, thousands of them', async () => {
    const schema = { ...closed, properties: { u: { uniqueItems: true } } };
    const u: unknown[] = Array.from({ length: 8000 }, (_, id) => ({ id }));
    expect(await validate(schema, { u })).toBe('');
    expect(await validate(schema, { u: [...u, { id: 0 }] })).toBe('u: must not repeat items');
  });

  test('depth', async () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { items: { $ref: '#/$defs/a' }, unevaluatedProperties: false } } };
    let value: unknown = [];
    for (let level = 0; level < 50_000; level++) value = [value];
    expect(await validate(schema, value)).toBe('is nested too deeply');
  });

  test('own properties', async () => {
    const schema = { ...closed, required: ['toString'] };
    expect(await validate(schema, {})).toBe('toString: is required');
  });
});
