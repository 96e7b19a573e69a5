import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compileEagerly } from './eager.ts';
import { compileSchema, formatIssues, SchemaError } from './index.ts';
import type { JsonSchema, SchemaInput } from './types.ts';

const input = { direction: 'input', where: 'tool "t" input' } as const;
const anywhere = { ...input, root: 'any' } as const;

/** The message of the error that registration throws. */
function errorOf(schema: unknown, options: Parameters<typeof compileSchema>[1] = anywhere): string {
  try {
    compileSchema(schema as SchemaInput, options);
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
    return (error as Error).message;
  }
  return 'accepted';
}

/** What is wrong with a value, as one line; empty when it is good. */
function issuesOf(schema: JsonSchema, value: unknown): string {
  return formatIssues(compileEagerly(schema, anywhere).validator.check?.(value) ?? []);
}

test('a plain schema is shown to clients as it was written', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', 'x-mcp-header': 'A' } } };
  expect(compileSchema(schema, input).json).toBe(schema);
});

test('a plain schema validates synchronously and hands the same value on', () => {
  const { validator } = compileEagerly({ type: 'object', required: ['a'] }, input);
  const value = { a: 1 };
  expect(validator.validate(value)).toEqual({ ok: true, value });
  expect((validator.validate(value) as { value: unknown }).value).toBe(value);
  expect(validator.validate({})).toEqual({ ok: false, issues: [{ path: ['a'], message: 'is required' }] });
  expect(validator.check?.(value)).toBeUndefined();
});

test('the result stays the same when generated code takes over', () => {
  const { validator } = compileEagerly({ type: 'object', properties: { n: { minimum: 1 } } }, input);
  for (let call = 0; call < 500; call++) {
    expect(validator.check?.({ n: 1 })).toBeUndefined();
    expect(validator.check?.({ n: 0 })).toEqual([{ path: ['n'], message: 'must be at least 1' }]);
  }
});

describe('the root of tool arguments', () => {
  test('must be an object', () => {
    for (const schema of [{ type: 'string' }, {}, { properties: {} }, { type: ['object', 'null'] }]) {
      expect(errorOf(schema, input)).toBe(
        'tool "t" input: only an object is allowed here, so the root of the schema must say type: "object". ' +
          'Put other values into a property: { type: "object", properties: { value: … } }.',
      );
      expect(errorOf(schema, anywhere)).toBe('accepted');
    }
  });

  test('may be a union of objects, and then says so to clients', () => {
    const union = { anyOf: [{ type: 'object' }, { $ref: '#/$defs/a' }], $defs: { a: { type: 'object' } } };
    expect(compileSchema(union, input).json).toEqual({ type: 'object', ...union });
    expect(errorOf({ anyOf: [{ type: 'object' }, { type: 'string' }] }, input)).toContain('type: "object"');
    expect(errorOf({ $ref: '#' }, input)).toContain('type: "object"');
    const zod = z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]);
    expect(compileSchema(zod, input).json).toMatchObject({ type: 'object' });
  });
});

describe('what is not a schema is rejected', () => {
  test.each([
    ['string', 'not string'],
    [null, 'not null'],
    [undefined, 'not undefined'],
    [true, 'not boolean'],
    [[], 'not array'],
  ])('%j', (schema, said) => {
    expect(errorOf(schema, input)).toContain(said);
  });

  test('an object of schemas, as older libraries took it', () => {
    expect(errorOf({ a: z.string() }, input)).toBe(
      'tool "t" input: this is an object of zod schemas, not a schema. Wrap it, e.g. z.object({ … }).',
    );
  });
});

describe('a keyword that makes no sense is rejected where it stands', () => {
  test.each<[JsonSchema, string]>([
    [{ type: 'text' }, '"type" at # is "text"; it must be one of "string", "number", "integer"'],
    [{ type: [] }, '"type" at # must name at least one type'],
    [{ properties: { a: { type: 7 } } }, '"type" at #/properties/a is 7'],
    [{ properties: [] }, '"properties" at # must be an object, not []'],
    [{ properties: { a: 'string' } }, 'must be an object or a boolean, but #/properties/a is "string"'],
    [{ required: 'a' }, '"required" at # must be a list of property names, not "a"'],
    [{ enum: [] }, '"enum" at # must be a list of at least one value'],
    [{ minimum: '1' }, '"minimum" at # must be a number, not "1"'],
    [{ exclusiveMinimum: true }, 'is a number since draft-06'],
    [{ multipleOf: 0 }, '"multipleOf" at # must be greater than 0'],
    [{ maxLength: -1 }, '"maxLength" at # must be a whole number and not negative, not -1'],
    [{ pattern: '(' }, '"pattern" at # is not a regular expression'],
    [{ patternProperties: { '[': {} } }, '"patternProperties" at # is not a regular expression'],
    [{ format: 1 }, '"format" at # must be a name, not 1'],
    [{ uniqueItems: 'yes' }, '"uniqueItems" at # must be true or false'],
    [{ items: { anyOf: [] } }, '"anyOf" at #/items must be a list of schemas with at least one in it'],
    [{ allOf: [{}, { not: 3 }] }, 'but #/allOf/1/not is 3'],
    [{ properties: { 'a/b~': { minItems: 0.5 } } }, '"minItems" at #/properties/a~1b~0 must be'],
    [{ $ref: '#/$defs/a', $defs: { a: { minItems: 'x' } } }, '"minItems" at #/$defs/a must be'],
  ])('%j', (schema, said) => {
    expect(errorOf(schema)).toContain(said);
    expect(errorOf(schema)).toMatch(/^tool "t" input: .*\.$/);
  });
});

describe('dialects', () => {
  test('2020-12, 2019-09, draft-07 and draft-06 are known by their addresses', () => {
    for (const $schema of [
      'https://json-schema.org/draft/2020-12/schema',
      'https://json-schema.org/draft/2019-09/schema',
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft-07/schema',
      'http://json-schema.org/draft-06/schema#',
    ]) {
      expect(issuesOf({ $schema, type: 'string' }, 1)).toBe('must be a string, not a number');
    }
  });

  test('any other is rejected', () => {
    expect(errorOf({ $schema: 'http://json-schema.org/draft-04/schema#' })).toContain(
      'the dialect "http://json-schema.org/draft-04/schema#" is not known. Leave "$schema" out for 2020-12',
    );
    expect(errorOf({ $schema: 5 })).toContain('the dialect 5 is not known');
  });

  test('draft-07 ignores what stands beside a $ref, later dialects do not', () => {
    const schema = { $ref: '#/definitions/a', maxLength: 1, definitions: { a: { type: 'string' } } };
    expect(issuesOf(schema, 'long')).toBe('must have at most 1 character');
    expect(issuesOf({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' }, 'long')).toBe('');
  });
});

describe('bounds on schemas', () => {
  test('depth', () => {
    let schema: JsonSchema = {};
    for (let level = 0; level < 150; level++) schema = { not: schema };
    expect(errorOf(schema)).toContain('more than 100 levels');
    const self: Record<string, unknown> = {};
    self['not'] = self;
    expect(errorOf(self)).toContain('or contains itself');
  });

  test('number of subschemas, also when they are the same object again and again', () => {
    expect(errorOf({ anyOf: new Array(20_001).fill({}) })).toContain('more than 20000 subschemas');
    let schema: JsonSchema = { type: 'string' };
    for (let level = 0; level < 40; level++) schema = { allOf: [schema, schema] };
    expect(errorOf(schema)).toContain('more than 20000 subschemas');
  });
});
