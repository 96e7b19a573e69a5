// A schema of each library as its users write it: registered, listed and checked, without anything in between.

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { scope, type } from 'arktype';
import { Schema as Effect4 } from 'effect';
import { Type as TypeBox0 } from 'sinclair-typebox';
import TypeBox from 'typebox';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import * as mini from 'zod/mini';
import { z as zod3 } from 'zod3';
import { z as zod3v4 } from 'zod3/v4';
import { connect, inMemory } from '../../src/client/index.ts';
import { createServer, type SchemaInput, toFetch } from '../../src/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const schemas: Readonly<Record<string, SchemaInput>> = {
  'zod 4': z.object({ city: z.string().min(1), days: z.number().int().optional() }),
  'zod/mini': mini.object({ city: mini.string().check(mini.minLength(1)), days: mini.optional(mini.int()) }),
  'zod 4 in the package of zod 3': zod3v4.object({ city: zod3v4.string().min(1), days: zod3v4.int().optional() }),
  'zod 3': zod3.object({ city: zod3.string().min(1), days: zod3.number().int().optional() }),
  Valibot: v.object({ city: v.pipe(v.string(), v.minLength(1)), days: v.optional(v.pipe(v.number(), v.integer())) }),
  ArkType: type({ city: 'string > 0', 'days?': 'number.integer' }),
  'TypeBox 1': TypeBox.Object({
    city: TypeBox.String({ minLength: 1 }),
    days: TypeBox.Optional(TypeBox.Integer()),
  }),
  'TypeBox 0': TypeBox0.Object({
    city: TypeBox0.String({ minLength: 1 }),
    days: TypeBox0.Optional(TypeBox0.Integer()),
  }),
  'Effect 4': Effect4.Struct({
    city: Effect4.NonEmptyString,
    days: Effect4.optional(Effect4.Int),
  }),
  'JSON Schema': {
    type: 'object',
    properties: { city: { type: 'string', minLength: 1 }, days: { type: 'integer' } },
    required: ['city'],
  },
};

const newest = 'https://json-schema.org/draft/2020-12/schema';

describe.each(Object.entries(schemas))('%s', (_name, input) => {
  test('describes itself to clients and checks what they send', async () => {
    const server = createServer({ name: 'schemas', version: '1.0.0' });
    server.tool('forecast', { input, run: (args) => JSON.stringify(args) });
    const client = await connect(inMemory(server));
    try {
      const [tool] = await client.listTools();
      expect(tool?.inputSchema).toMatchObject({ type: 'object', required: ['city'] });
      expect(Object.keys(tool?.inputSchema['properties'] as object)).toEqual(['city', 'days']);
      // Some clients reject every other dialect.
      expect(tool?.inputSchema['$schema'] ?? newest).toBe(newest);
      const good = await client.callTool('forecast', { city: 'Oslo', days: 2 });
      expect(good.content).toEqual([{ type: 'text', text: '{"city":"Oslo","days":2}' }]);
      for (const bad of [{}, { city: '' }, { city: 'Oslo', days: 'two' }, { city: 'Oslo', days: 1.5 }]) {
        expect((await client.callTool('forecast', bad)).isError, JSON.stringify(bad)).toBe(true);
      }
    } finally {
      await client.close();
    }
  });
});

const root = resolve(import.meta.dirname, '../..');

/** Runs a program in a project that has these packages, under the names it uses, and no others. */
function runInProject(packages: Readonly<Record<string, string>>, program: string): string {
  const folder = temporaryFolder();
  try {
    mkdirSync(join(folder, 'node_modules'));
    for (const [name, installedAs] of Object.entries(packages)) {
      symlinkSync(join(root, 'node_modules', installedAs), join(folder, 'node_modules', name));
    }
    symlinkSync(root, join(folder, 'node_modules', 'mooring'));
    writeFileSync(join(folder, 'server.mjs'), program);
    return execFileSync(process.execPath, ['server.mjs'], { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const listOne = (imports: string, input: string): string => `
  ${imports}
  import { createServer } from 'mooring';
  import { connect, inMemory } from 'mooring/client';
  const server = createServer({ name: 'schemas', version: '1.0.0' });
  server.tool('forecast', { input: ${input}, run: ({ city }) => city });
  const client = await connect(inMemory(server));
  const { required, $schema } = (await client.listTools())[0].inputSchema;
  const bad = await client.callTool('forecast', { city: '' });
  console.log(JSON.stringify({ required, $schema, isError: bad.isError }));
  await client.close();`;

test('Effect 3 works in a project that has it', () => {
  const program = listOne("import { Schema } from 'effect';", 'Schema.Struct({ city: Schema.NonEmptyString })');
  expect(JSON.parse(runInProject({ effect: 'effect3' }, program))).toEqual({ required: ['city'], isError: true });
});

const point = zod3.object({ x: zod3.number() });
const tree = z.object({
  x: z.number(),
  get children() {
    return z.array(tree);
  },
});

// Those to other places are rejected by what converts schemas for Gemini.
test.each([
  ['used twice', zod3.object({ a: point, b: zod3.array(point) }), { a: { x: 1 }, b: [{ x: 'no' }] }],
  ['recursive', tree, { x: 1, children: [{ x: 1, children: [{ x: 'no', children: [] }] }] }],
])('references to a schema that is %s lead to definitions', async (_name, input, bad) => {
  const server = createServer({ name: 'schemas', version: '1.0.0' });
  server.tool('draw', { input: input as SchemaInput, run: () => '' });
  const client = await connect(inMemory(server));
  try {
    const schema = (await client.listTools())[0]?.inputSchema ?? {};
    const references = JSON.stringify(schema).match(/"\$ref":"[^"]*"/g) ?? [];
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) expect(reference).toMatch(/"#\/\$defs\/\w+"$/);
    const validate = new Ajv2020().compile(schema);
    expect(validate(bad)).toBe(false);
    expect(validate(JSON.parse(JSON.stringify(bad).replaceAll('"no"', '2'))), JSON.stringify(validate.errors)).toBe(
      true,
    );
  } finally {
    await client.close();
  }
});

class Point extends Effect4.Class<Point>('Point')({ x: Effect4.Finite }) {}
const folder = scope({ folder: { x: 'number', inner: 'folder[]' } }).export().folder;

test.each<[string, SchemaInput, object]>([
  ['a class of Effect 4', Point, { x: 1 }],
  ['a recursive type of ArkType', folder, { x: 1, inner: [{ x: 2, inner: [] }] }],
  ['a schema of zod with an id', z.object({ x: z.number() }).meta({ id: 'PointWithId' }), { x: 1 }],
])('%s is listed with its properties at the root', async (_name, schema, value) => {
  const server = createServer({ name: 'schemas', version: '1.0.0' });
  server.tool('draw', { input: schema, output: schema as z.ZodType, run: () => value });
  const client = await connect(inMemory(server));
  try {
    const { inputSchema = {}, outputSchema = {} } = (await client.listTools())[0] ?? {};
    for (const listed of [inputSchema, outputSchema]) {
      expect(listed).toMatchObject({ type: 'object', properties: { x: { type: 'number' } } });
      expect(new Ajv2020().compile(listed)(value)).toBe(true);
      expect(new Ajv2020().compile(listed)({ ...value, x: 'no' })).toBe(false);
    }
    expect((await client.callTool('draw', { ...value })).structuredContent).toEqual(value);
  } finally {
    await client.close();
  }
});

type Tuple = readonly [schema: SchemaInput, good: readonly unknown[], bad?: readonly unknown[]];

test('Effect 4 accepts the JSON that it lists', async () => {
  const server = createServer({ name: 'schemas', version: '1.0.0' });
  const seen: unknown[] = [];
  server.tool('book', {
    input: Effect4.Struct({
      at: Effect4.Date,
      seats: Effect4.optional(Effect4.Int),
      id: Effect4.BigInt,
      names: Effect4.ReadonlySet(Effect4.String),
      price: Effect4.FiniteFromString,
    }),
    run: (booking) => String(seen.push(booking)),
  });
  server.tool('when', { output: Effect4.Struct({ at: Effect4.Date }), run: () => ({ at: new Date(0) }) });
  const client = await connect(inMemory(server));
  try {
    const { inputSchema = {} } = (await client.listTools()).find(({ name }) => name === 'book') ?? {};
    const booking = { at: '2026-01-31T09:30:00.000Z', seats: null, id: '7', names: ['a'], price: '2.5' };
    expect(new Ajv2020().compile(inputSchema)(booking)).toBe(true);
    expect(await client.callTool('book', booking)).toMatchObject({ content: [{ text: '1' }] });
    const at = new Date(booking.at);
    expect(seen).toEqual([{ at, seats: undefined, id: 7n, names: new Set(['a']), price: 2.5 }]);
    expect((await client.callTool('book', { ...booking, at: 'soon' })).isError).toBe(true);
    expect((await client.callTool('when')).structuredContent).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  } finally {
    await client.close();
  }
});

/** Tuples of each library, with a value that matches and one that does not. */
const tuples: Readonly<Record<string, Tuple>> = {
  'zod 4': [z.object({ pair: z.tuple([z.string(), z.number()]) }), ['a', 1], ['a', 1, 2]],
  'zod 4, rest': [z.object({ pair: z.tuple([z.string()], z.number()) }), ['a', 1, 2], ['a', 'b']],
  'zod 4, empty': [z.object({ pair: z.tuple([]) }), [], [1]],
  'zod 3': [zod3.object({ pair: zod3.tuple([zod3.string(), zod3.number()]) }), ['a', 1], ['a', 1, 2]],
  'zod 3, rest': [zod3.object({ pair: zod3.tuple([zod3.string()]).rest(zod3.number()) }), ['a', 1, 2], ['a', 'b']],
  Valibot: [v.object({ pair: v.strictTuple([v.string(), v.number()]) }), ['a', 1], ['a', 1, 2]],
  'Valibot, rest': [v.object({ pair: v.tupleWithRest([v.string()], v.number()) }), ['a', 1, 2], ['a', 'b']],
  ArkType: [type({ pair: ['string', 'number'] }), ['a', 1], ['a', 1, 2]],
  'ArkType, rest': [type({ pair: ['string', '...', 'number[]'] }), ['a', 1, 2], ['a', 'b']],
  'ArkType, never': [type({ pair: ['string'], 'other?': 'never' }), ['a']],
  'TypeBox 1': [TypeBox.Object({ pair: TypeBox.Tuple([TypeBox.String(), TypeBox.Number()]) }), ['a', 1], ['a', 1, 2]],
  'TypeBox 1, empty': [TypeBox.Object({ pair: TypeBox.Tuple([]) }), [], [1]],
  'TypeBox 0': [
    TypeBox0.Object({ pair: TypeBox0.Tuple([TypeBox0.String(), TypeBox0.Number()]) }),
    ['a', 1],
    ['a', 1, 2],
  ],
  'Effect 4': [Effect4.Struct({ pair: Effect4.Tuple([Effect4.String, Effect4.Finite]) }), ['a', 1], ['a', 1, 2]],
  'Effect 4, rest': [
    Effect4.Struct({ pair: Effect4.TupleWithRest(Effect4.Tuple([Effect4.String]), [Effect4.Finite]) }),
    ['a', 1, 2],
    ['a', 'b'],
  ],
  'Effect 4, empty': [Effect4.Struct({ pair: Effect4.Tuple([]) }), [], [1]],
};

const endpoint = new URL('http://127.0.0.1/mcp');

/** What a client of another author makes of a tool: it compiles the schema, calls the tool and validates the result. */
const results: Readonly<Record<string, (fetch: typeof globalThis.fetch) => Promise<unknown>>> = {
  'version 1 of the SDK, which reads draft-07': async (fetch) => {
    const client = new Client1({ name: 'old', version: '1.0.0' });
    await client.connect(new Http1(endpoint, { fetch }) as Parameters<typeof client.connect>[0]);
    await client.listTools();
    return (await client.callTool({ name: 'pair' }))['structuredContent'];
  },
  'version 2 of the SDK, which reads 2020-12': async (fetch) => {
    const client = new Client2({ name: 'new', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
    await client.connect(new Http2(endpoint, { fetch }));
    await client.listTools();
    return (await client.callTool({ name: 'pair' })).structuredContent;
  },
};

describe.each(Object.entries(results))('%s,', (_name, resultOf) => {
  test.each(Object.entries(tuples))('accepts tuples of %s', async (_library, [output, pair]) => {
    const server = createServer({ name: 'tuples', version: '1.0.0' });
    server.tool('pair', { output: output as z.ZodType, run: () => ({ pair }) });
    const handle = toFetch(server);
    expect(await resultOf((url, init) => handle(new Request(url, init)))).toEqual({ pair });
  });
});

test.each(Object.entries(tuples))('tuples of %s are valid in 2020-12, with the same meaning', async (_name, tuple) => {
  const [input, good, bad] = tuple;
  const server = createServer({ name: 'tuples', version: '1.0.0' });
  server.tool('pair', { input, run: () => '' });
  const client = await connect(inMemory(server));
  try {
    const schema = (await client.listTools())[0]?.inputSchema ?? {};
    expect(schema['$schema']).toBeUndefined();
    const validate = new Ajv2020({ strict: true, strictTuples: false }).compile(schema);
    expect(validate({ pair: good }), JSON.stringify(validate.errors)).toBe(true);
    expect((await client.callTool('pair', { pair: good })).isError).not.toBe(true);
    if (bad === undefined) return;
    expect(validate({ pair: bad })).toBe(false);
    expect((await client.callTool('pair', { pair: bad })).isError).toBe(true);
  } finally {
    await client.close();
  }
});
