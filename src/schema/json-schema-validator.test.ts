// What a hostile value can do to a validator: nothing.
import { afterEach, expect, test, vi } from 'vitest';
import { JsonSchemaValidator, loadGenerator } from './json-schema-validator.ts';
import { parseSchema } from './parse/parse.ts';
import type { JsonSchema } from './types.ts';

await loadGenerator();

/** One validator on closures, one on generated code. */
function both(schema: JsonSchema): JsonSchemaValidator[] {
  const { plan } = parseSchema(schema, 'test');
  const generated = new JsonSchemaValidator(() => plan, 0);
  generated.check(undefined);
  return [new JsonSchemaValidator(() => plan, Number.POSITIVE_INFINITY), generated];
}

const tooDeep = [{ path: [], message: 'is nested too deeply' }];

function nest(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 0;
  for (let level = 0; level < levels; level++) value = wrap(value);
  return value;
}

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

test('a value nested 5,000 levels deep is rejected, not an overflow', () => {
  const list = { items: { $ref: '#' } };
  const object = { properties: { a: { $ref: '#' } } };
  for (const validator of both(list)) {
    expect(validator.check(nest(5000, (inner) => [inner]))).toEqual(tooDeep);
    expect(validator.check(nest(400, (inner) => [inner]))).toBeUndefined();
  }
  for (const validator of both(object)) {
    expect(validator.check(nest(5000, (a) => ({ a })))).toEqual(tooDeep);
    expect(validator.check(nest(400, (a) => ({ a })))).toBeUndefined();
  }
});

test('depth is no way around a not', () => {
  for (const validator of both({ not: { $ref: '#/$defs/a' }, $defs: { a: { items: { $ref: '#/$defs/a' } } } })) {
    expect(validator.check(nest(5000, (inner) => [inner]))).toEqual(tooDeep);
    expect(validator.check([])).toHaveLength(1);
  }
});

test('depth beyond what a schema looks at does not matter', () => {
  for (const validator of both({ properties: { a: { type: 'array' } }, enum: [{ a: [[1]] }] })) {
    expect(validator.check({ a: nest(5000, (inner) => [inner]) })).toHaveLength(1);
  }
  for (const validator of both({ uniqueItems: true })) {
    const deep = nest(50_000, (inner) => [inner]);
    expect(validator.check([deep, nest(50_000, (inner) => [inner])])).toHaveLength(1);
    expect(validator.check([deep, 1])).toBeUndefined();
  }
});

test('a schema whose branches double at every level does not run forever', () => {
  const $defs: Record<string, unknown> = { d40: { type: 'string' } };
  for (let at = 0; at < 40; at++)
    $defs[`d${at}`] = { allOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] };
  for (const validator of both({ $ref: '#/$defs/d0', $defs })) {
    expect(validator.check('x')).toEqual([{ path: [], message: 'is too large to be checked against this schema' }]);
  }
});

test('one exhausted validation leaves the next one its full budget', () => {
  const [closures, generated] = both({ items: { $ref: '#' } });
  for (const validator of [closures, generated]) {
    validator?.check(nest(5000, (inner) => [inner]));
    expect(validator?.check(new Array(10_000).fill([]))).toBeUndefined();
  }
});

test('8,000 unique objects are compared by key, not pair by pair', () => {
  // Every pair of 8,000 would be 32 million comparisons; counting reads shows that each item is looked at once.
  let reads = 0;
  const items = Array.from({ length: 8000 }, (_, id) => ({
    get id() {
      reads++;
      return { id, text: 'same' };
    },
  }));
  for (const validator of both({ uniqueItems: true })) {
    reads = 0;
    expect(validator.check(items)).toBeUndefined();
    expect(reads).toBeLessThan(8000 * 4);
  }
});

test('where code must not be generated closures do all the work', async () => {
  vi.stubGlobal('Function', function reject() {
    throw new EvalError('Code generation from strings disallowed for this context');
  });
  const { JsonSchemaValidator: Fresh } = await import('./json-schema-validator.ts');
  const { canGenerate } = await import('./checks/codegen.ts');
  const validator = new Fresh(() => parseSchema({ properties: { a: { type: 'string' } } }, 'test').plan, 0);
  expect(canGenerate()).toBe(false);
  for (let call = 0; call < 3; call++) {
    expect(validator.check({ a: 'x' })).toBeUndefined();
    expect(validator.check({ a: 1 })).toEqual([{ path: ['a'], message: 'must be a string, not a number' }]);
  }
});

test('text in a schema never becomes code', () => {
  const evil = '"]+(globalThis.pwned=1)+["\u2028\\';
  const schema = {
    properties: { [evil]: { enum: [evil, 1], pattern: 'x' } },
    required: [evil],
    dependentRequired: { [evil]: [evil] },
    additionalProperties: false,
  };
  for (const validator of both(schema)) {
    expect(validator.check({ [evil]: 1 })).toBeUndefined();
    expect(validator.check({})).toHaveLength(1);
  }
  expect('pwned' in globalThis).toBe(false);
});

test('a schema too large to generate code for is still validated', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 5000 }, (_, at) => [`property-${at}`, { type: 'string' }]),
  );
  for (const validator of both({ properties })) {
    expect(validator.check({ 'property-4999': 'x' })).toBeUndefined();
    expect(validator.check({ 'property-4999': 1 })).toHaveLength(1);
  }
});
