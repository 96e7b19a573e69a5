import { expect, test } from 'vitest';
import { readArguments, readJsonArguments } from './arguments.ts';
import type { FormSchema } from './types.ts';

const schema: FormSchema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    metric: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' } },
    sizes: { type: 'array', items: { type: 'number' } },
    where: { type: 'object', properties: { lat: { type: 'number' }, name: { type: 'string' } } },
    maybe: { type: ['number', 'null'] },
    either: { anyOf: [{ type: 'number' }, { type: 'string' }] },
    level: { enum: [1, 2, 3] },
    'odd.name': { type: 'number' },
    free: {},
  },
};

test.each([
  [['city=12'], { city: '12' }],
  [['days=12', 'metric=true'], { days: 12, metric: true }],
  [['tags=a', 'tags=b=c'], { tags: ['a', 'b=c'] }],
  [['sizes=[1,2]'], { sizes: [1, 2] }],
  [['sizes=1', 'sizes=2.5'], { sizes: [1, 2.5] }],
  [['where={"lat":1}'], { where: { lat: 1 } }],
  [['where.lat=54.5', 'where.name=Gdynia'], { where: { lat: 54.5, name: 'Gdynia' } }],
  [['maybe=null'], { maybe: null }],
  [['maybe=3'], { maybe: 3 }],
  [['either=3'], { either: '3' }],
  [['level=2'], { level: 2 }],
  [['odd.name=1e3'], { 'odd.name': 1000 }],
  [['free=x'], { free: 'x' }],
  [['free:={"a":[1]}'], { free: { a: [1] } }],
  [['city:="quoted"'], { city: 'quoted' }],
  [['city='], { city: '' }],
  [['unknown=1'], { unknown: '1' }],
])('%j is %j', (words, expected) => {
  expect(readArguments(words, schema)).toEqual(expected);
});

test.each([
  [['days=many'], 'days must be a whole number, not "many"'],
  [['metric=maybe'], 'metric must be true or false, not "maybe"'],
  [['where=x'], 'where is not valid JSON'],
  [['ctiy=x'], 'Unknown argument "ctiy"; did you mean city?'],
  [['city'], '--arg must look like name=value, not "city"'],
  [['=x'], '--arg must look like name=value'],
  [['__proto__.polluted=1'], '--arg has an empty or forbidden name'],
])('%j is a usage error', (words, message) => {
  expect(() => readArguments(words, schema)).toThrow(message);
});

test('a schema without additional properties rejects unknown names', () => {
  const closed = { type: 'object', properties: {}, additionalProperties: false } as FormSchema;
  expect(() => readArguments(['x=1'], closed)).toThrow('Unknown argument "x"; the tool takes no arguments');
});

test('--args is one JSON object', () => {
  expect(readJsonArguments('{"a": 1}')).toEqual({ a: 1 });
  expect(readJsonArguments(undefined)).toEqual({});
  expect(() => readJsonArguments('[1]')).toThrow('must be a JSON object');
  expect(() => readJsonArguments('{')).toThrow('--args is not valid JSON');
});
