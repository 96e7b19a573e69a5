// Schemas and values made to take long: each is rejected, or decided, in a moment. Both back ends and ajv.
import { describe, expect, test } from 'vitest';
import { compileSchema } from '../../src/schema/compile.ts';
import { JsonSchemaValidator, loadGenerator } from '../../src/schema/json-schema-validator.ts';
import { limits } from '../../src/schema/limits.ts';
import { parseSchema } from '../../src/schema/parse/parse.ts';
import { SchemaError } from '../../src/schema/schema-error.ts';
import type { JsonSchema, Validation } from '../../src/schema/types.ts';
import { pairsOf } from '../support/full.ts';

await loadGenerator();

/** Of the processor, with space for a slow one: without the limits these take minutes, or never end. */
const maxMs = 5_000;

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const manyNames = <T>(count: number, make: (at: number) => T): Record<string, T> =>
  Object.fromEntries(many(count, (at) => [`property ${at}`, make(at)]));
const nested = (depth: number): unknown => {
  let value: unknown = {};
  for (let at = 0; at < depth; at++) value = { a: value };
  return value;
};
const doubling: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      anyOf: [
        { allOf: [{ properties: { a: { $ref: '#/$defs/node' } } }, false] },
        { allOf: [{ properties: { a: { not: { $ref: '#/$defs/node' } } } }, false] },
      ],
    },
  },
};
const longText = 'é'.repeat(5_000_000);

const attacks: Readonly<Record<string, readonly [JsonSchema, unknown]>> = {
  'thousands of subschemas for each of many items': [
    { items: { allOf: many(5_000, (at) => ({ maximum: 10 + at })) } },
    many(190_000, () => 1),
  ],
  'two recursive branches on a deep value': [doubling, nested(200)],
  'many references for each of many items': [
    { items: { allOf: many(5_000, () => ({ $ref: '#/$defs/number' })) }, $defs: { number: { type: 'number' } } },
    many(190_000, () => 1),
  ],
  'items that must be unique, said thousands of times': [
    { allOf: many(5_000, () => ({ uniqueItems: true })) },
    many(60_000, (at) => [at]),
  ],
  'large objects to choose from': [
    { items: { enum: many(1_000, (at) => ({ ...manyNames(100, (each) => each), at })) } },
    many(1_500, () => ({ ...manyNames(100, (each) => each), at: -1 })),
  ],
  'objects to choose from that are compared with one of many properties': [
    { enum: many(19_000, (at) => ({ at })) },
    manyNames(190_000, () => 1),
  ],
  'patterns for the names of many properties': [
    { patternProperties: Object.fromEntries(many(900, (at) => [`^(x+x+)+${at}$`, true])), additionalProperties: false },
    manyNames(150_000, () => 1),
  ],
  'names that must fit thousands of subschemas': [
    { propertyNames: { allOf: many(5_000, () => ({ minLength: 1 })) } },
    manyNames(190_000, () => 1),
  ],
  'sizes of a large object, asked thousands of times': [
    { allOf: many(5_000, () => ({ minProperties: 1 })) },
    manyNames(190_000, () => 1),
  ],
  'the closed list of properties of a large object, thousands of times': [
    { allOf: many(300, () => ({ properties: manyNames(60, () => true), additionalProperties: { type: 'string' } })) },
    manyNames(190_000, () => '1'),
  ],
  'an item that is searched for thousands of times': [
    { allOf: many(5_000, () => ({ contains: { const: 2 } })) },
    many(190_000, () => 1),
  ],
  'characters of a long text, counted thousands of times': [
    { allOf: many(5_000, () => ({ minLength: longText.length })) },
    longText,
  ],
  'formats of a long text': [{ allOf: many(5_000, () => ({ format: 'uri' })) }, `a:${'b'.repeat(3_000_000)}`],
  'texts that begin alike': [
    { items: { anyOf: many(2_000, (at) => ({ const: `${'a'.repeat(10_000)}${at + 1e6}` })) } },
    many(2_000, () => `${'a'.repeat(10_000)}0000000`),
  ],
  'fractions that must be multiples': [
    { items: { allOf: many(1_000, () => ({ not: { multipleOf: 1.7e-300 } })) } },
    many(190_000, (at) => at + 0.1234567891),
  ],
  'a pattern that backtracks': [{ items: { pattern: '^(a+)+$' } }, many(100, () => `${'a'.repeat(50_000)}!`)],
  'an explanation for each of thousands of alternatives': [
    { items: { anyOf: many(5_000, (at) => ({ properties: { kind: { const: at } }, required: ['kind', 'x', 'y'] })) } },
    many(1_000, () => ({ kind: 'none', z: 1 })),
  ],
  'an explanation with many values': [
    { items: { enum: many(190_000, (at) => `value ${at}`) } },
    many(1_000, () => 'none'),
  ],
  'an explanation with many names': [
    { items: { properties: manyNames(19_000, () => ({})), additionalProperties: false } },
    many(1_000, () => ({ none: 1 })),
  ],
};

/** Runs something and sees that it took no longer than it may. */
async function timed<T>(task: () => T | Promise<T>): Promise<T> {
  const before = process.cpuUsage();
  const result = await task();
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(maxMs);
  return result;
}

const backEnds: readonly (readonly [name: string, generateAfter: number])[] = [
  ['closures', Number.POSITIVE_INFINITY],
  ['generated code', 0],
];
const runs = pairsOf(Object.keys(attacks), [...backEnds.map(([name]) => name), 'ajv']);

describe.each(Object.entries(attacks))('%s', (name, [schema, value]) => {
  const isTried = (backEnd: string): boolean => runs.some(([attack, other]) => attack === name && other === backEnd);

  test.each(backEnds.filter(([backEnd]) => isTried(backEnd)))(
    'are validated by %s in a bounded time',
    async (_backEnd, generateAfter) => {
      const { plan } = await timed(() => parseSchema(schema, 'test'));
      const validator = new JsonSchemaValidator(() => plan, generateAfter);
      await timed(() => validator.check(null));
      const issues = await timed(() => validator.check(value));
      expect(issues?.length ?? 0).toBeLessThanOrEqual(limits.maxIssues);
    },
  );

  test.runIf(isTried('ajv'))('are validated by ajv in a bounded time, or rejected because of the schema', async () => {
    const json = { ...schema, unevaluatedProperties: true };
    const outcome = await timed(async (): Promise<Validation | SchemaError> => {
      try {
        return await compileSchema(json, { direction: 'output', root: 'any', where: 'test' }).validator.validate(value);
      } catch (error) {
        return error as SchemaError;
      }
    });
    if (!('ok' in outcome)) expect(outcome).toBeInstanceOf(SchemaError);
  });
});

const long = 'x'.repeat(1_000_000);
const chained = (depth: number): JsonSchema => ({
  $id: `${'i'.repeat(1_900)}/`,
  ...(depth > 0 ? { not: chained(depth - 1) } : { allOf: many(5_000, (at) => ({ $id: `${at}/` })) }),
});

test.each<[string, () => JsonSchema]>([
  [
    'thousands of references below a long name',
    () => ({
      properties: { [long]: { allOf: many(5_000, () => ({ $ref: '#/$defs/a' })) } },
      $defs: { a: {} },
    }),
  ],
  ['a reference that leads nowhere, below a long name', () => ({ properties: { [long]: { $ref: '#/nowhere' } } })],
  ['a keyword that is wrong, below a long name', () => ({ properties: { [long]: { type: 'none' } } })],
  ['addresses inside addresses', () => chained(90)],
  [
    'thousands of references through addresses inside addresses',
    () => ({
      allOf: many(5_000, () => ({ $ref: `#/$defs/a${'/not'.repeat(90)}` })),
      $defs: { a: chained(90) },
    }),
  ],
  [
    'a chain of references',
    () => ({
      $ref: '#/$defs/0',
      $defs: Object.fromEntries(many(5_000, (at) => [at, at === 4_999 ? {} : { $ref: `#/$defs/${at + 1}` }])),
    }),
  ],
  ['too many patterns', () => ({ allOf: many(5_000, (at) => ({ pattern: `^(x+x+)+${at}$` })) })],
  [
    'patterns that take long to prepare',
    () => ({
      allOf: many(2_000, (at) => ({
        pattern: `^(?:${many(60, (each) => `[\\p{L}${each}]`).join('|')})*${at}$`,
      })),
    }),
  ],
  ['large patterns', () => ({ allOf: many(2_000, (at) => ({ pattern: `^(?:.*${at}){0,900}$` })) })],
  ['a pattern without end', () => ({ pattern: 'a'.repeat(10_000_000) })],
])('%s is read in a bounded time, or rejected with a short message', async (_name, make) => {
  const schema = make();
  const outcome = await timed(() => {
    try {
      return parseSchema(schema, 'test');
    } catch (error) {
      return error as SchemaError;
    }
  });
  if ('plan' in outcome) return;
  expect(outcome).toBeInstanceOf(SchemaError);
  expect(outcome.message.length).toBeLessThan(1_000);
});
