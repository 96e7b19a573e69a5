// Three validators, one result: closures, generated code and ajv, on schemas and values that no one wrote a test for.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canGenerate } from './checks/codegen.ts';
import { JsonSchemaValidator, loadGenerator } from './json-schema-validator.ts';
import { parseSchema } from './parse/parse.ts';
import { SchemaError } from './schema-error.ts';
import type { JsonSchema } from './types.ts';

await loadGenerator();

const scalar = fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 3.5, -1, 10, '', 'a', 'ab', 'abc', '😀', '😀b');

function valuesWith(name: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, scalar, tie('list'), tie('map')),
    list: fc.array(tie('any'), { maxLength: 4 }),
    map: mapOf(name, tie('any'), 4),
  })).any;
}

/** As JSON.parse would make it: `__proto__` is a property like any other. */
function mapOf<T>(name: fc.Arbitrary<string>, item: fc.Arbitrary<T>, maxLength: number) {
  return fc.array(fc.tuple(name, item), { maxLength }).map((entries) => Object.fromEntries(entries));
}

const typeName = fc.constantFrom('null', 'boolean', 'integer', 'number', 'string', 'array', 'object');
const count = fc.nat({ max: 3 });
/** Some that RegExp runs, and some that our own matcher does. */
const pattern = fc.constantFrom(
  ...['^a', 'b$', '^.$', '[a-c]+', '\\p{Emoji}', '^(?=.*b)a', '(?<=a)b', '(?<!a)b', '^(?!.*c)', '\\ba\\B', '[^b]b'],
  ...['^(a|ab)+$', '(a*)*c', '^(?:a|b|😀)*$', '(.*)b(.*)c', '^(?:a?b?){2,3}$', '\\p{L}+(\\p{L}|😀)*b'],
);

/** A few keywords at a time, so that a fair share of values passes. */
function schemasWith(name: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const value = valuesWith(name);
  return fc.letrec((tie) => {
    const some = { maxLength: 3, minLength: 1 };
    const keyword = fc.oneof(
      fc.record({ type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 4 })) }),
      fc.record({ enum: fc.uniqueArray(value, { minLength: 1, maxLength: 4, comparator: same }) }),
      fc.record({ const: value }),
      fc.record({ minimum: count }),
      fc.record({ maximum: count }),
      fc.record({ exclusiveMinimum: count }),
      fc.record({ exclusiveMaximum: count }),
      fc.record({ multipleOf: fc.constantFrom(1, 2, 0.5) }),
      fc.record({ minLength: count }),
      fc.record({ maxLength: count }),
      fc.record({ pattern }),
      fc.record({ minItems: count }),
      fc.record({ maxItems: count }),
      fc.record({ uniqueItems: fc.boolean() }),
      fc.record({ items: tie('any') }),
      fc.record({ prefixItems: fc.array(tie('any'), some), items: tie('any') }),
      fc.record({ prefixItems: fc.array(tie('any'), some), unevaluatedItems: tie('any') }),
      fc.record({ contains: tie('any') }),
      fc.record({ contains: tie('any'), minContains: count, maxContains: count }),
      fc.record({ properties: mapOf(name, tie('any'), 3) }),
      fc.record({ properties: mapOf(name, tie('any'), 3), additionalProperties: tie('any') }),
      fc.record({ required: fc.uniqueArray(name, { maxLength: 2 }) }),
      fc.record({ patternProperties: mapOf(fc.constantFrom('^a', 'b', '-', '^(a|b)*$', '(x|x-)+y'), tie('any'), 2) }),
      fc.record({ propertyNames: tie('any') }),
      fc.record({ minProperties: count }),
      fc.record({ maxProperties: count }),
      fc.record({ dependentRequired: mapOf(name, fc.uniqueArray(name, { maxLength: 2 }), 2) }),
      fc.record({ dependentSchemas: mapOf(name, tie('any'), 2) }),
      fc.record({ allOf: fc.array(tie('any'), some) }),
      fc.record({ anyOf: fc.array(tie('any'), some) }),
      fc.record({ oneOf: fc.array(tie('any'), some) }),
      fc.record({ not: tie('any') }),
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      fc.record({ if: tie('any'), then: tie('any'), else: tie('any') }),
      fc.record({ $ref: fc.constantFrom('#/$defs/one', '#two', '#') }),
    );
    const object = fc
      .array(keyword, { minLength: 1, maxLength: 3 })
      .map((parts) => withoutAjvBug(Object.assign({}, ...parts)));
    return { any: fc.oneof({ maxDepth: 3 }, fc.boolean(), object, object, object) };
  }).any;
}

/**
 * ajv 8.20 forgets to reset the result of `contains`: it may then accept an empty array, or any beside `prefixItems`.
 * Those are left out here; closures.test.ts has rows for them.
 */
function withoutAjvBug({ contains, ...schema }: Record<string, unknown>): Record<string, unknown> {
  return contains === undefined || 'prefixItems' in schema ? schema : { ...schema, contains, minItems: 1 };
}

function documentsWith(name: fc.Arbitrary<string>): fc.Arbitrary<JsonSchema> {
  const schema = schemasWith(name);
  return fc.record({ root: schema, one: schema, two: schema }).map(({ root, one, two }) => ({
    ...(typeof root === 'object' ? root : { not: !root }),
    $defs: { one, two: typeof two === 'object' ? { ...two, $anchor: 'two' } : { not: !two, $anchor: 'two' } },
  }));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function readOrSkip(schema: JsonSchema) {
  try {
    const { plan, needsAjv } = parseSchema(schema, 'test');
    fc.pre(needsAjv === undefined);
    return plan;
  } catch (error) {
    // A circle of references that never descends is rejected; ajv would not come back from it.
    if (error instanceof SchemaError && error.message.includes('leads back')) return fc.pre(false) as never;
    throw error;
  }
}

/** ajv 8.20 sometimes trips over its own bookkeeping for `unevaluatedProperties` (`props0 is not defined`). */
function ask(validator: ValidateFunction, item: unknown): boolean {
  try {
    return validator(item) as boolean;
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) return fc.pre(false) as never;
    throw error;
  }
}

// One seed, so that a bug of the reference found by luck never stops an unrelated change.
const runs = { numRuns: 500, seed: 20260728 };

test('closures, generated code and ajv agree on every schema and value', () => {
  expect(canGenerate()).toBe(true);
  // Made once: setting up a validator costs more than asking it.
  const ajv = new Ajv2020({ strict: false, ownProperties: true, validateSchema: false, meta: false, logger: false });
  const counts = { good: 0, bad: 0 };
  const name = fc.constantFrom('a', 'b', 'c', 'x-y');
  fc.assert(
    fc.property(documentsWith(name), fc.array(valuesWith(name), { minLength: 4, maxLength: 12 }), (schema, values) => {
      const plan = readOrSkip(schema);
      const closures = new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY);
      const generated = new JsonSchemaValidator(() => plan, 0);
      const validator = ajv.compile(schema);
      generated.check(null);
      for (const item of values) {
        const expected = ask(validator, item);
        counts[expected ? 'good' : 'bad']++;
        const exact = closures.check(item);
        expect(exact === undefined).toBe(expected);
        expect(generated.check(item)).toEqual(exact);
      }
    }),
    runs,
  );
  // The test would prove little if nearly everything were rejected.
  expect(counts.good).toBeGreaterThan(500);
  expect(counts.bad).toBeGreaterThan(500);
});

test('closures and generated code agree on names that every object inherits', () => {
  const name = fc.constantFrom('a', '__proto__', 'constructor', 'toString', 'hasOwnProperty', '"];throw 1;//');
  fc.assert(
    fc.property(documentsWith(name), fc.array(valuesWith(name), { minLength: 4, maxLength: 12 }), (schema, values) => {
      const plan = readOrSkip(schema);
      const closures = new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY);
      const generated = new JsonSchemaValidator(() => plan, 0);
      generated.check(null);
      for (const item of values) expect(generated.check(item)).toEqual(closures.check(item));
    }),
    runs,
  );
});
