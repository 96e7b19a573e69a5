import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { compileSchema, formatIssues, isStandardSchema } from './index.ts';
import type { SchemaInput, StandardSchemaV1, Validation } from './types.ts';

const input = { direction: 'input', where: 'tool "t" input' } as const;
const output = { direction: 'output', where: 'tool "t" output' } as const;

/** What a synchronous validation says, as one line. */
function validate(schema: SchemaInput, value: unknown): string {
  const outcome = compileSchema(schema, input).validator.validate(value) as Validation;
  return outcome.ok ? '' : formatIssues(outcome.issues);
}

const described = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'number' } } },
  required: ['city'],
};

describe('zod', () => {
  const schema = z.object({ city: z.string(), days: z.array(z.number()).optional() });

  test('is validated by zod and described by zod', () => {
    expect(compileSchema(schema, input).json).toMatchObject(described);
    expect(validate(schema, { city: 'Riga' })).toBe('');
    expect(validate(schema, { city: 'Riga', days: [1, 'x'] })).toMatch(/^days\[1\]: .*expected number/);
  });

  test('hands on what the schema made of the value', () => {
    const coerced = z.object({ n: z.string().transform(Number), unit: z.string().default('C') });
    expect(compileSchema(coerced, input).validator.validate({ n: '5' })).toEqual({
      ok: true,
      value: { n: 5, unit: 'C' },
    });
    expect(compileSchema(coerced, input).json).toMatchObject({ required: ['n'] });
  });

  test('shows the face that was asked for', () => {
    const piped = z.object({ n: z.string().default('x') });
    expect(compileSchema(piped, input).json['required']).toBeUndefined();
    expect(compileSchema(piped, output).json['required']).toEqual(['n']);
  });

  test('is rejected at registration when JSON cannot carry a type', () => {
    expect(() => compileSchema(z.object({ at: z.date() }), input)).toThrow(
      'tool "t" input: zod cannot describe this schema as JSON Schema: Date cannot be represented in JSON Schema. ' +
        'Use a type that JSON can represent, or pass { schema, json } with a JSON Schema of your own.',
    );
  });

  test('is awaited when a rule is asynchronous', async () => {
    const slow = z.object({ a: z.string().refine(async (text) => text !== 'taken', 'is taken') });
    const { validator } = compileSchema(slow, input);
    expect(validator.check).toBeUndefined();
    expect(await validator.validate({ a: 'free' })).toEqual({ ok: true, value: { a: 'free' } });
    expect(await validator.validate({ a: 'taken' })).toEqual({
      ok: false,
      issues: [{ path: ['a'], message: 'is taken' }],
    });
  });

  test('mini is converted by the package, or described beside it', () => {
    const small = mini.object({ a: mini.string() });
    expect(compileSchema(small, input).json).toMatchObject({ type: 'object', required: ['a'] });
    const { json, validator } = compileSchema({ schema: small, json: mini.toJSONSchema(small) as never }, input);
    expect(json).toMatchObject({ type: 'object', required: ['a'] });
    expect(validator.validate({ a: 1 })).toMatchObject({ ok: false, issues: [{ path: ['a'] }] });
  });

  test('a recursive schema survives a value that would overflow it', async () => {
    const tree: z.ZodType = z.object({
      get next() {
        return tree.optional();
      },
    });
    let value: unknown = {};
    for (let level = 0; level < 50_000; level++) value = { next: value };
    const outcome = await compileSchema(tree, input).validator.validate(value);
    expect(outcome).toEqual({ ok: false, issues: [{ path: [], message: 'is nested too deeply' }] });
  });
});

describe('Valibot', () => {
  const schema = v.object({ city: v.string(), days: v.optional(v.array(v.number())) });

  test('wrapped by its converter is validated and described', () => {
    const wrapped = toStandardJsonSchema(schema);
    expect(compileSchema(wrapped, input).json).toMatchObject(described);
    expect(validate(wrapped, { city: 'Riga' })).toBe('');
    expect(validate(wrapped, { city: 'Riga', days: [1, 'x'] })).toMatch(/^days\[1\]: .*Expected number/);
  });

  test('is converted by its converter where that is installed', () => {
    expect(compileSchema(schema, input).json).toMatchObject(described);
  });

  test('makes the checks that JSON Schema cannot express', () => {
    const name = v.pipe(
      v.string(),
      v.trim(),
      v.minLength(1),
      v.check((text) => text !== 'x', 'is taken'),
      v.brand('Name'),
      v.readonly(),
    );
    const named = v.pipe(
      v.object({ name }),
      v.rawCheck(() => undefined),
    );
    for (const options of [input, output]) {
      expect(compileSchema(named, options).json).toEqual({
        type: 'object',
        properties: { name: { type: 'string', minLength: 1 } },
        required: ['name'],
      });
    }
    expect(compileSchema(named, input).validator.validate({ name: ' a ' })).toEqual({ ok: true, value: { name: 'a' } });
    expect(validate(named, { name: 'x' })).toBe('name: is taken');
  });

  test('is rejected at registration where its JSON Schema would be wrong', () => {
    const length = v.object({
      n: v.pipe(
        v.string(),
        v.transform((text) => text.length),
      ),
    });
    expect(() => compileSchema(length, output)).toThrow(
      'valibot cannot describe this schema as JSON Schema: The "transform" action cannot be converted to JSON Schema. Use',
    );
    const insensitive = v.object({ a: v.pipe(v.string(), v.regex(/^a$/i)) });
    expect(() => compileSchema(insensitive, input)).toThrow('RegExp flags');
    expect(() => compileSchema(v.object({ at: v.date() }), input)).toThrow('"date" schema cannot be converted');
  });
});

describe('ArkType', () => {
  const schema = type({ city: 'string', 'days?': 'number[]' });

  test('is validated and described', () => {
    expect(compileSchema(schema, input).json).toMatchObject(described);
    expect(validate(schema, { city: 'Riga' })).toBe('');
    expect(validate(schema, { city: 'Riga', days: [1, 'x'] })).toMatch(/^days\[1\]: .*must be a number/);
  });

  test('of a time before the common face is described by its own method', () => {
    const { jsonSchema: _, ...props } = schema['~standard'] as StandardSchemaV1['~standard'] & { jsonSchema?: unknown };
    const older = { '~standard': props, toJsonSchema: () => schema.toJsonSchema() } as StandardSchemaV1;
    expect(compileSchema(older, input).json).toMatchObject(described);
  });
});

describe('any other library', () => {
  const props = { version: 1, vendor: 'acme' } as const;
  const symbol = Symbol('s');
  const acme: StandardSchemaV1 = {
    '~standard': {
      ...props,
      validate: () => ({ issues: new Array(50).fill({ message: 'is bad', path: ['a', { key: 0 }, symbol] }) }),
    },
  };

  test('is accepted beside a JSON Schema written by hand', () => {
    const json = { type: 'object' };
    const compiled = compileSchema({ schema: acme, json }, input);
    expect(compiled.json).toBe(json);
    const outcome = compiled.validator.validate({}) as Extract<Validation, { ok: false }>;
    expect(outcome.issues[0]).toEqual({ path: ['a', 0, 'Symbol(s)'], message: 'is bad' });
    expect(outcome.issues).toHaveLength(10);
  });

  test('a library that cannot convert is an error that says what to install', () => {
    const old = { '~standard': { ...props, vendor: 'arktype', validate: () => ({ value: {} }) } } as StandardSchemaV1;
    expect(() => compileSchema(old, input)).toThrow(
      'tool "t" input: arktype cannot convert this schema to JSON Schema, which clients need. ' +
        'Run: npm install arktype@latest, or pass { schema, json } with a JSON Schema of your own.',
    );
  });

  test('without one is rejected with what to do', () => {
    expect(() => compileSchema(acme, input)).toThrow('Update the library, or pass { schema, json }');
    expect(() => compileSchema({ schema: acme, json: { type: 'string' } }, input)).toThrow('type: "object"');
  });

  test('keeps the errors it throws', () => {
    const broken: StandardSchemaV1 = {
      '~standard': {
        ...props,
        validate: () => {
          throw new Error('out of order');
        },
      },
    };
    const { validator } = compileSchema({ schema: broken, json: { type: 'object' } }, input);
    expect(() => validator.validate({})).toThrow('out of order');
  });
});

test('what is a Standard Schema is told by its face', () => {
  expect([z.string(), type('string'), v.string()].map(isStandardSchema)).toEqual([true, true, true]);
  for (const other of [null, undefined, 'x', {}, () => 1, { '~standard': null }, { '~standard': { version: 2 } }]) {
    expect(isStandardSchema(other)).toBe(false);
  }
});
