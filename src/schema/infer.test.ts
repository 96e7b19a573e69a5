import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { InferOutput, JsonSchema, SchemaInput } from './index.ts';

function take<const S extends SchemaInput>(schema: S): { output: InferOutput<S> } {
  return { output: schema } as never;
}

test('the types of a Standard Schema are its own, after validation', () => {
  const zod = take(z.object({ n: z.string().transform(Number), unit: z.enum(['C', 'F']).default('C') }));
  expectTypeOf(zod.output).toEqualTypeOf<{ n: number; unit: 'C' | 'F' }>();
  expectTypeOf(take(type({ city: 'string' })).output).toEqualTypeOf<{ city: string }>();
  expectTypeOf(take(toStandardJsonSchema(v.object({ a: v.number() }))).output).toEqualTypeOf<{ a: number }>();
});

test('a pair has the types of its schema', () => {
  const pair = take({ schema: z.object({ a: z.number() }), json: { type: 'object' } });
  expectTypeOf(pair.output).toEqualTypeOf<{ a: number }>();
});

test('a JSON Schema literal is read as far as it can be', () => {
  const { output } = take({
    type: 'object',
    properties: {
      operation: { type: 'string', enum: ['add', 'sub'] },
      a: { type: 'number' },
      note: { type: ['string', 'null'] },
      tags: { type: 'array', items: { type: 'string' } },
      mode: { anyOf: [{ const: 'auto' }, { type: 'integer' }] },
      deep: { type: 'object', properties: { x: { type: 'boolean' } }, required: ['x'] },
      map: { type: 'object', additionalProperties: { type: 'number' } },
      any: {},
    },
    required: ['operation', 'a'],
  });
  expectTypeOf(output).toEqualTypeOf<{
    operation: 'add' | 'sub';
    a: number;
    note?: string | null;
    tags?: string[];
    mode?: 'auto' | number;
    deep?: { x: boolean };
    map?: Record<string, number>;
    any?: unknown;
  }>();
});

test('a JSON Schema that says nothing readable gives an object of unknowns', () => {
  expectTypeOf<InferOutput<JsonSchema>>().toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf(take({ type: 'object' }).output).toEqualTypeOf<Record<string, unknown>>();
  expectTypeOf(take({ $ref: '#/$defs/a' }).output).toEqualTypeOf<Record<string, unknown>>();
});
