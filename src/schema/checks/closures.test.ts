// Every keyword: what passes, what does not, and the words for it. Each row is validated by both back ends.
import { expect, test } from 'vitest';
import { JsonSchemaValidator, loadGenerator } from '../json-schema-validator.ts';
import { parseSchema } from '../parse/parse.ts';
import type { JsonSchema } from '../types.ts';
import { formatIssues } from './issues.ts';

await loadGenerator();

const good = '';

/** What both back ends say, as one line; empty when the value is good. */
function validate(schema: JsonSchema, value: unknown): string {
  const { plan } = parseSchema(schema, 'test');
  const exact = new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY).check(value);
  const generated = new JsonSchemaValidator(() => plan, 0);
  generated.check(undefined);
  expect(generated.check(value)).toEqual(exact);
  return formatIssues(exact ?? []);
}

function rows(schema: JsonSchema, ...cases: readonly (readonly [value: unknown, said: string])[]): void {
  for (const [value, said] of cases) expect([value, validate(schema, value)]).toEqual([value, said]);
}

test('boolean schemas allow everything or nothing', () => {
  rows({ properties: { a: true, b: false } }, [{ a: 1 }, good], [{ b: 1 }, 'b: is not allowed']);
});

test('type names what is wanted and what was sent', () => {
  rows({ type: 'string' }, ['x', good], [5, 'must be a string, not a number'], [null, 'must be a string, not null']);
  rows({ type: ['string', 'null'] }, [null, good], [[], 'must be a string or null, not an array']);
  rows({ type: 'object' }, [{}, good], [[], 'must be an object, not an array'], [null, 'must be an object, not null']);
  rows({ type: 'array' }, [[], good], [{}, 'must be an array, not an object']);
  rows({ type: 'boolean' }, [false, good], [0, 'must be a boolean, not a number']);
  rows({ type: 'null' }, [null, good], [false, 'must be null, not a boolean']);
  rows({ type: ['integer', 'number'] }, [1.5, good], ['x', 'must be a number, not a string']);
});

test('an integer may be written with a fraction of zero', () => {
  rows({ type: 'integer' }, [1, good], [1.0, good], [-3, good], [1.5, 'must be an integer']);
});

test('a number that JSON cannot represent is not a number', () => {
  const said = 'must be a number, not a number that JSON cannot represent';
  rows({ type: 'number' }, [JSON.parse('1e999'), said], [Number.NaN, said]);
  rows({ type: 'string' }, [undefined, 'must be a string, not a value that JSON cannot represent']);
});

test('enum lists what is allowed', () => {
  rows({ enum: ['add', 'sub', 1, null] }, ['sub', good], [null, good], ['Add', 'must be one of "add", "sub", 1, null']);
  rows({ enum: [{ a: 1, b: [2] }] }, [{ b: [2], a: 1 }, good], [{ a: 1 }, 'must be {"a":1,"b":[2]}']);
  rows(
    { enum: [{ a: 1 }, []] },
    [{ toString: null }, 'must be one of {"a":1}, []'],
    [[1], 'must be one of {"a":1}, []'],
  );
});

test('a long enum is found in a set and its message stays short', () => {
  const countries = Array.from({ length: 200 }, (_, at) => `country-${at}`);
  rows({ enum: countries }, ['country-199', good]);
  const said = validate({ enum: countries }, 'nowhere');
  expect(said).toContain('"country-19" and 180 more');
  expect(said.length).toBeLessThan(500);
});

test('const wants one value', () => {
  rows({ const: 'x' }, ['x', good], ['y', 'must be "x"']);
  rows({ const: null }, [null, good], [0, 'must be null']);
  rows({ const: 0 }, [0, good], [-0, good], [false, 'must be 0']);
  rows(
    { const: [{ a: {} }] },
    [[{ a: {} }], good],
    [[{ a: [] }], 'must be [{"a":{}}]'],
    [{ 0: {} }, 'must be [{"a":{}}]'],
  );
});

test('numbers have bounds', () => {
  rows({ minimum: 1 }, [1, good], [0, 'must be at least 1'], ['0', good]);
  rows({ maximum: 1 }, [1, good], [2, 'must be at most 1']);
  rows({ exclusiveMinimum: -1 }, [0, good], [-1, 'must be greater than -1']);
  rows({ exclusiveMaximum: 1 }, [0.5, good], [1, 'must be less than 1']);
});

test('multiples are counted in decimals, as people do', () => {
  rows({ multipleOf: 5 }, [15, good], [-5, good], [7, 'must be a multiple of 5']);
  rows({ multipleOf: 0.1 }, [0.3, good], [1.1, good], [0.35, 'must be a multiple of 0.1']);
  rows({ multipleOf: 0.0001 }, [0.0075, good], [0.00751, 'must be a multiple of 0.0001']);
  rows({ multipleOf: 1e-8 }, [12391239123, good]);
  rows({ multipleOf: 0.123456789 }, [1e308, 'must be a multiple of 0.123456789']);
  rows({ multipleOf: 2 }, [Number.POSITIVE_INFINITY, 'must be a multiple of 2'], [1e300, good]);
});

test('lengths are counted in code points', () => {
  rows({ maxLength: 2 }, ['😀😀', good], ['abc', 'must have at most 2 characters']);
  rows({ minLength: 2 }, ['😀b', good], ['😀', 'must have at least 2 characters']);
  rows({ minLength: 1 }, ['x', good], ['', 'must have at least 1 character'], [5, good]);
  rows({ minLength: 3, maxLength: 3 }, ['a😀c', good], ['😀😀', 'must have at least 3 characters']);
  rows({ maxLength: 1 }, ['\ud83d\ud83d', 'must have at most 1 character']);
});

test('pattern is not anchored and understands Unicode', () => {
  rows({ pattern: 'b' }, ['abc', good], ['ac', 'must match the pattern b']);
  rows({ pattern: '^\\p{L}+$' }, ['żółw', good], ['a1', 'must match the pattern ^\\p{L}+$']);
  rows({ pattern: '^[\\w-.]+$' }, ['a-b.c', good], ['a b', 'must match the pattern ^[\\w-.]+$']);
});

test('the four formats of forms are asserted, others are annotations', () => {
  rows({ format: 'email' }, ['a@b.example', good], ['a', 'must be an email address'], [5, good]);
  rows(
    { format: 'uri' },
    ['https://x.example/a', good],
    ['x', 'must be a URI with a scheme, like https://example.com'],
  );
  rows({ format: 'date' }, ['2026-07-28', good], ['28.7.2026', 'must be a date like 2026-01-31']);
  rows({ format: 'date-time' }, ['2026-07-28', 'must be a date and time like 2026-01-31T09:30:00Z']);
  rows({ format: 'uuid' }, ['not one', good]);
});

test('required properties are missed by name', () => {
  rows({ required: ['a', 'b'] }, [{ a: 1, b: null }, good], [{ a: 1 }, 'b: is required'], [[], good]);
  rows({ properties: { a: { type: 'string' } }, required: ['a'] }, [{ a: undefined }, 'a: is required']);
});

test('properties are validated where they are, each with its path', () => {
  const schema = { properties: { user: { properties: { tags: { items: { type: 'string' } } } } } };
  rows(schema, [{ user: { tags: ['a'] } }, good], [{}, good]);
  rows(schema, [
    { user: { tags: ['a', 1, 'b', 2] } },
    'user.tags[1]: must be a string, not a number; user.tags[3]: must be a string, not a number',
  ]);
});

test('unknown properties are rejected with the known ones named', () => {
  const schema = { properties: { city: {}, days: {} }, additionalProperties: false };
  rows(schema, [{ city: 1 }, good], [{ town: 1 }, 'town: is not a known property; use one of "city", "days"']);
  rows(schema, [{ city: 1, days: undefined, extra: undefined }, good]);
  rows({ additionalProperties: false }, [{}, good], [{ a: 1 }, 'a: is not allowed']);
});

test('additional properties may have a schema', () => {
  const schema = { properties: { a: {} }, additionalProperties: { type: 'number' } };
  rows(schema, [{ a: 'x', b: 1 }, good], [{ b: 'x' }, 'b: must be a number, not a string']);
});

test('pattern properties are validated by every pattern they match', () => {
  const schema = { patternProperties: { '^a': { type: 'number' }, b$: { minimum: 2 } }, additionalProperties: false };
  rows(schema, [{ ab: 2, a: 0 }, good], [{ ab: 1 }, 'ab: must be at least 2'], [{ c: 1 }, 'c: is not allowed']);
});

test('names of properties can be validated', () => {
  const said = '["B c"]: is not a valid name for a property: must match the pattern ^[a-z]+$';
  rows({ propertyNames: { pattern: '^[a-z]+$' } }, [{ a: 1 }, good], [{ 'B c': 1 }, said]);
});

test('objects have a size', () => {
  rows(
    { minProperties: 1 },
    [{ a: 1 }, good],
    [{}, 'must have at least 1 property'],
    [{ a: undefined }, 'must have at least 1 property'],
  );
  rows({ maxProperties: 2 }, [{ a: 1, b: 2 }, good], [{ a: 1, b: 2, c: 3 }, 'must have at most 2 properties']);
});

test('one property may need another', () => {
  const said = 'address: is required when "card" is present';
  rows({ dependentRequired: { card: ['address'] } }, [{}, good], [{ card: 1 }, said], [{ card: 1, address: 1 }, good]);
  rows({ dependencies: { card: ['address'] } }, [{ card: 1 }, said]);
  rows(
    { dependentSchemas: { card: { required: ['address'] } } },
    [{ card: 1 }, 'address: is required'],
    [{ a: 1 }, good],
  );
  rows({ dependencies: { card: { required: ['address'] } } }, [{ card: 1 }, 'address: is required']);
});

test('items are validated one by one, after those with a schema of their own', () => {
  const modern = { prefixItems: [{ type: 'string' }, {}], items: { type: 'number' } };
  const old = { items: [{ type: 'string' }, {}], additionalItems: { type: 'number' } };
  for (const schema of [modern, old]) {
    rows(
      schema,
      [['a', null, 1], good],
      [[], good],
      [[1, 2, 'x'], '[0]: must be a string, not a number; [2]: must be a number, not a string'],
    );
  }
  rows({ prefixItems: [{}], items: false }, [[1], good], [[1, 2], 'must have at most 1 item']);
});

test('arrays have a size', () => {
  rows({ minItems: 2 }, [[1, 2], good], [[1], 'must have at least 2 items']);
  rows({ maxItems: 1 }, [[1], good], [[1, 2], 'must have at most 1 item']);
});

test('unique items are compared as JSON', () => {
  rows({ uniqueItems: true }, [[1, '1', true, null, [], {}, '{}'], good]);
  rows({ uniqueItems: true }, [[{ a: 1, b: 2 }, 3, { b: 2, a: 1 }], '[2]: must not repeat an item, but equals [0]']);
  rows({ uniqueItems: true }, [[1, 1.0], '[1]: must not repeat an item, but equals [0]']);
  rows({ uniqueItems: false }, [[1, 1], good]);
});

test('an array can be asked to contain something', () => {
  const contains = { type: 'string' };
  rows({ contains }, [[1, 'a'], good], [[1], 'must contain at least 1 item of the kind described']);
  rows({ contains, minContains: 0 }, [[], good]);
  rows({ contains, maxContains: 1 }, [['a'], good], [['a', 'b'], 'must contain at most 1 item of the kind described']);
  rows({ prefixItems: [{}, false], contains }, [['a'], good]);
  rows({ prefixItems: [{}], contains }, [[1], 'must contain at least 1 item of the kind described']);
  rows({ prefixItems: [{}], contains }, [[], 'must contain at least 1 item of the kind described']);
  rows({ additionalProperties: { contains } }, [
    { a: ['x'], b: [] },
    'b: must contain at least 1 item of the kind described',
  ]);
  rows({ contains: true }, [[1], good], [[], 'must contain at least 1 item of the kind described']);
});

test('allOf wants everything at once', () => {
  rows({ allOf: [{ minimum: 1 }, { maximum: 3 }] }, [2, good], [0, 'must be at least 1'], [4, 'must be at most 3']);
});

test('anyOf of kinds says all kinds in one sentence', () => {
  rows({ anyOf: [{ type: 'string' }, { type: 'null' }] }, ['x', good], [5, 'must be a string or null, not a number']);
  rows({ anyOf: [{ const: 'a' }, { const: 'b' }] }, ['b', good], ['c', 'must be one of "a", "b"']);
  rows(
    {
      oneOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ],
    },
    ['c', 'must be one of "a", "b"'],
  );
  rows({ anyOf: [{ const: 'auto' }, { type: 'number' }] }, [true, 'must be "auto" or a number, not a boolean']);
});

test('a union complains about the branch that was meant', () => {
  const circle = {
    type: 'object',
    properties: { kind: { const: 'circle' }, r: { type: 'number' } },
    required: ['kind', 'r'],
  };
  const square = {
    type: 'object',
    properties: { kind: { const: 'square' }, a: { type: 'number' } },
    required: ['kind', 'a'],
  };
  for (const union of [{ anyOf: [circle, square] }, { oneOf: [circle, square] }]) {
    rows(union, [{ kind: 'circle', r: 1 }, good]);
    rows(union, [{ kind: 'circle', r: 'x' }, 'r: must be a number, not a string']);
    rows(union, [{ kind: 'line' }, 'kind: must be one of "circle", "square"']);
    rows(union, [{}, 'kind: is required']);
    rows(union, [7, 'must be an object, not a number']);
  }
  rows({ anyOf: [{ type: 'string' }, circle] }, [{ kind: 'circle' }, 'r: is required']);
});

test('a union whose branches are alike tells what each one misses', () => {
  const said = 'must match one of 2 alternatives: (1) phone: is required (2) email: is required';
  rows({ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }, [{ phone: 1 }, good], [{}, said]);
});

test('oneOf wants exactly one', () => {
  const said = 'must match exactly one alternative, but matches numbers 1 and 3';
  rows({ oneOf: [{ minimum: 1 }, { type: 'string' }, { minimum: 2 }] }, [1, good], [5, said]);
});

test('not forbids', () => {
  rows({ not: { type: 'string' } }, [1, good], ['x', 'must not match {"type":"string"}']);
  rows({ not: true }, [1, 'is not allowed']);
});

test('if chooses between then and else', () => {
  const schema = {
    if: { properties: { country: { const: 'US' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['zip'] },
    else: { required: ['code'] },
  };
  rows(
    schema,
    [{ country: 'US', zip: 1 }, good],
    [{ country: 'US' }, 'zip: is required'],
    [{ country: 'FR' }, 'code: is required'],
  );
  rows({ if: { type: 'string' }, else: { minimum: 1 } }, ['x', good], [0, 'must be at least 1']);
});

test('what follows a wrong type is left unsaid', () => {
  rows({ type: 'string', enum: ['a'], minLength: 3 }, [5, 'must be a string, not a number']);
});

test('no more than ten issues are reported', () => {
  const issues = new JsonSchemaValidator(() => parseSchema({ items: { type: 'string' } }, 'test').plan).check(
    new Array(5000).fill(1),
  );
  expect(issues).toHaveLength(10);
});

test('names that every object inherits are names like any other', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  const closed = { properties: JSON.parse('{"__proto__":{"type":"number"}}'), additionalProperties: false };
  rows(closed, [{}, good], [JSON.parse('{"__proto__":1}'), good]);
  rows(closed, [JSON.parse('{"__proto__":"x"}'), '__proto__: must be a number, not a string']);
  for (const name of names) {
    rows({ required: [name] }, [{}, `${name}: is required`], [JSON.parse(`{"${name}":1}`), good]);
    rows({ additionalProperties: false }, [JSON.parse(`{"${name}":1}`), `${name}: is not allowed`]);
    rows({ properties: JSON.parse(`{"${name}":{"type":"string"}}`) }, [{}, good]);
    rows({ dependentRequired: JSON.parse(`{"${name}":["a"]}`) }, [{}, good]);
  }
});

test('what a prototype offers is not a property', () => {
  class Point {
    x = 1;
    get y() {
      return 2;
    }
  }
  rows({ required: ['x'] }, [new Point(), good]);
  rows({ required: ['y'] }, [new Point(), 'y: is required']);
  rows({ not: { required: ['y'] } }, [new Point(), good]);
  rows(
    { properties: { x: {} }, additionalProperties: false },
    [new Point(), good],
    [Object.assign(Object.create(null), { x: 1 }), good],
  );
});
