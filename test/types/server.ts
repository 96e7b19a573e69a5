// What the compiler infers where a user registers something on a server. Never run: `npm run check` compiles it, and an
// inference that changes is an error here.

import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { Schema as Effect } from 'effect';
import TypeBox from 'typebox';
import * as v from 'valibot';
import { expectTypeOf } from 'vitest';
import { z } from 'zod';
import {
  type Content,
  type Context,
  createServer,
  type ElicitResult,
  elicit,
  inputRequired,
  type Middleware,
  type Observer,
  type Pack,
  type Principal,
  type Registration,
  type ResourceLink,
  type Root,
  roots,
  type SamplingResult,
  type SchemaInput,
  type Server,
  type StdioServer,
  type StructuredToolDefinition,
  sample,
  serveStdio,
  type ToolDefinition,
  type ToolResult,
  toFetch,
} from '../../src/index.ts';

export function toolArguments(server: Server): void {
  server.tool('zod', {
    input: z.object({ city: z.string(), days: z.number().optional(), unit: z.enum(['C', 'F']).default('C') }),
    run: (args, ctx) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number | undefined; unit: 'C' | 'F' }>();
      expectTypeOf(ctx).toEqualTypeOf<Context>();
    },
  });
  server.tool('effect', {
    input: Effect.Struct({ city: Effect.String, days: Effect.optional(Effect.Number) }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ readonly city: string; readonly days?: number | undefined }>();
    },
  });
  server.tool('typebox', {
    input: TypeBox.Object({ city: TypeBox.String(), days: TypeBox.Optional(TypeBox.Number()) }),
    run: ({ city, days }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
      expectTypeOf(days).toEqualTypeOf<number | undefined>();
    },
  });
  server.tool('transformed', {
    input: z.object({ at: z.string().transform((text) => new Date(text)) }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ at: Date }>();
    },
  });
  server.tool('arktype', {
    input: type({ city: 'string', 'days?': 'number' }),
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days?: number }>();
    },
  });
  server.tool('valibot', {
    input: toStandardJsonSchema(v.object({ city: v.string() })),
    run: ({ city }) => {
      expectTypeOf(city).toEqualTypeOf<string>();
    },
  });
  server.tool('json-schema', {
    input: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: ['add', 'subtract'] },
        a: { type: 'number' },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['operation', 'a'],
    },
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<{ operation: 'add' | 'subtract'; a: number; tags?: string[] }>();
    },
  });
  server.tool('no-input', {
    run: (args) => {
      expectTypeOf(args).toEqualTypeOf<object>();
      return 'text';
    },
  });
  // @ts-expect-error: `celcius` is no property of the arguments
  server.tool('misspelled', { input: z.object({ celsius: z.number() }), run: ({ celcius }) => celcius });
  // @ts-expect-error: a tool needs a handler
  server.tool('no-handler', { input: z.object({}) });
  // @ts-expect-error: a schema is neither a class nor a text
  server.tool('no-schema', { input: String, run: () => '' });
}

export function toolResults(server: Server): void {
  const output = z.object({ celsius: z.number() });
  server.tool('value', { output, run: () => ({ celsius: 21 }) });
  server.tool('promise', { output, run: async () => ({ celsius: 21 }) });
  const failed: ToolResult = { content: [{ type: 'text', text: 'no' }], isError: true };
  server.tool('failure', { output, run: () => failed });
  server.tool('input-required', {
    output,
    run: () => inputRequired({ sure: elicit('Sure?', z.object({ sure: z.boolean() })) }),
  });
  server.tool('json-schema', {
    output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
    run: () => ({ celsius: 21 }),
  });
  // @ts-expect-error: the output schema wants a number
  server.tool('wrong-type', { output, run: () => ({ celsius: '21' }) });
  // @ts-expect-error: the output schema wants `celsius`
  server.tool('missing', { output, run: async () => ({}) });

  const unit = z.object({ unit: z.enum(['C', 'F']) });
  server.tool('literal', { output: unit, run: () => ({ unit: 'C' }) });
  server.tool('literals', { output: unit, run: async (_args, ctx) => ({ unit: ctx.can('roots') ? 'C' : 'F' }) });
  server.tool('written-failure', { output, run: () => ({ content: [{ type: 'text', text: 'no' }], isError: true }) });
  // @ts-expect-error: `K` is none of the values
  server.tool('other-literal', { output: unit, run: () => ({ unit: 'K' }) });
  server.tool('new-promise', { run: () => new Promise((resolve) => resolve('text')) });

  const blocks: Content[] = [{ type: 'text', text: 'a' }];
  server.tool('content', { run: () => blocks });
  expectTypeOf(server.tool('registered', { run: () => undefined })).toEqualTypeOf<Registration>();
}

/** The compiler reports the option that is wrong, and not the handler or the whole call. */
export function wrongOptions(server: Server, definition: ToolDefinition): void {
  const input = z.object({ city: z.string() });
  const output = z.object({ celsius: z.number() });
  server.tool('misspelled-option', {
    input,
    // @ts-expect-error: an option is called `description`
    descripton: 'The weather',
    run: ({ city }) => city,
  });
  server.tool('misspelled-input', {
    // @ts-expect-error: an option is called `input`
    inputSchema: input,
    // @ts-expect-error: without `input` there are no arguments
    run: ({ city }) => city,
  });
  server.tool('misspelled-option-with-output', {
    input,
    output,
    // @ts-expect-error: an option is called `description`
    descripton: 'The weather',
    run: ({ city }) => ({ celsius: city.length }),
  });
  server.tool('unknown-ability', {
    input,
    // @ts-expect-error: an ability is called `sampling`
    needs: ['samplin'],
    run: ({ city }) => city,
  });
  server.tool('text-for-a-time', {
    input,
    // @ts-expect-error: a number of milliseconds
    timeoutMs: '5s',
    run: ({ city }) => city,
  });
  server.tool('misspelled-text-copy', {
    input,
    // @ts-expect-error: `always`, `short` or `never`
    textCopy: 'none',
    run: ({ city }) => city,
  });
  server.tool('text-copy', { input, output, textCopy: 'short', run: ({ city }) => ({ celsius: city.length }) });
  server.tool('no-schema', {
    // @ts-expect-error: a class is no schema
    output: String,
    run: () => 'text',
  });
  server.tool('arguments', {
    input,
    // @ts-expect-error: `city` is a string
    run: (args: { city: number }) => args.city,
  });
  server.tool('nothing', {
    output,
    // @ts-expect-error: the output schema wants `celsius`
    run: async () => {},
  });
  // A list of definitions, and one of a generic function.
  server.tool('any', definition);
}

export function genericTools<I extends SchemaInput, O extends SchemaInput>(
  server: Server,
  plain: ToolDefinition<I>,
  structured: StructuredToolDefinition<I, O>,
  failed: ToolResult,
): void {
  server.tool('plain', plain);
  server.tool('structured', { ...structured, run: (args, ctx) => structured.run(args, ctx) });
  server.tool('failed', { output: structured.output, run: async () => failed });
}

export async function context(ctx: Context): Promise<void> {
  expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
  expectTypeOf(ctx.principal).toEqualTypeOf<Principal | undefined>();
  expectTypeOf(ctx.revision).toEqualTypeOf<string>();
  expectTypeOf(ctx.session?.values).toEqualTypeOf<Map<string, unknown> | undefined>();
  expectTypeOf(ctx.requestId).toEqualTypeOf<string | number>();
  expectTypeOf(ctx.progress(1, 2, 'half')).toEqualTypeOf<Promise<void>>();
  expectTypeOf(ctx.attach('a,b', { name: 'rows.csv' })).toEqualTypeOf<Promise<ResourceLink>>();
  // @ts-expect-error: a link needs a name
  void ctx.attach('a,b', {});

  const form = await ctx.elicit('Who?', z.object({ name: z.string() }));
  if (form.action === 'accept') expectTypeOf(form.content).toEqualTypeOf<{ name: string }>();
  else expectTypeOf(form.content).toEqualTypeOf<undefined>();
  const plain = await ctx.elicit('Who?', {
    type: 'object',
    properties: { age: { type: 'integer' } },
    required: ['age'],
  });
  if (plain.action === 'accept') expectTypeOf(plain.content).toEqualTypeOf<{ age: number }>();

  expectTypeOf(await ctx.elicitUrl('Visit', 'https://example.org')).toEqualTypeOf<ElicitResult>();
  expectTypeOf(await ctx.sample({ messages: [], maxTokens: 10 })).toEqualTypeOf<SamplingResult>();
  expectTypeOf(await ctx.roots()).toEqualTypeOf<readonly Root[]>();
  expectTypeOf(await ctx.step('id', () => 7)).toEqualTypeOf<number>();
  expectTypeOf(await ctx.step('id', async () => ({ id: 'a' }))).toEqualTypeOf<{ id: string }>();
  expectTypeOf(ctx.can('sampling')).toEqualTypeOf<boolean>();
  // @ts-expect-error: no such ability
  ctx.can('telepathy');
  // @ts-expect-error: a level of RFC 5424
  ctx.log('loud', 'text');
}

export async function severalInputRequests(ctx: Context): Promise<void> {
  const requests = {
    name: elicit('Name?', z.object({ name: z.string() })),
    folders: roots(),
    model: sample({ messages: [], maxTokens: 10 }, { optional: true }),
  };
  const all = await ctx.requestInputs(requests);
  if (all.name.action === 'accept') expectTypeOf(all.name.content).toEqualTypeOf<{ name: string }>();
  expectTypeOf(all.folders).toEqualTypeOf<readonly Root[]>();
  expectTypeOf(all.model).toEqualTypeOf<SamplingResult | undefined>();
  expectTypeOf(await ctx.inputResponses(requests)).toEqualTypeOf<typeof all | undefined>();
  expectTypeOf(await ctx.requestInput('folders', roots())).toEqualTypeOf<readonly Root[]>();
}

export function resourcesAndTemplates(server: Server): void {
  server.resource('note://all', { name: 'All', read: (ctx) => ctx.revision });
  server.resource('note://bytes', { name: 'Bytes', read: async () => new Uint8Array() });
  // @ts-expect-error: a number is no content
  server.resource('note://number', { name: 'Number', read: () => 7 });
  // @ts-expect-error: a resource has a name
  server.resource('note://nameless', { read: () => '' });

  server.resourceTemplate('note://{owner}/{id}', {
    name: 'Note',
    complete: { owner: (value) => [value] },
    read: (variables, _ctx, uri) => {
      expectTypeOf(variables).toEqualTypeOf<Readonly<Record<'owner' | 'id', string>>>();
      expectTypeOf(uri).toEqualTypeOf<string>();
      return variables.id;
    },
  });
  server.resourceTemplate('note://{owner}/{+path}{?page,sort}', {
    name: 'Pages',
    read: (variables) => {
      // The names of a list are not found, those beside it are.
      expectTypeOf(variables.owner).toEqualTypeOf<string>();
      expectTypeOf(variables.path).toEqualTypeOf<string>();
      expectTypeOf(variables['page']).toEqualTypeOf<string | undefined>();
      return variables.owner;
    },
  });
  server.resourceTemplate('file:///{+path}', { name: 'File', read: ({ path }) => path });
  // @ts-expect-error: the template has no such variable
  server.resourceTemplate('note://{id}', { name: 'Note', read: ({ name }) => name });
  // @ts-expect-error: the template has no such variable
  server.resourceTemplate('note://{id}', { name: 'Note', read: () => '', complete: { name: () => [] } });
}

export function prompts(server: Server): void {
  server.prompt('greeting', {
    args: { name: { required: true }, style: { complete: () => ['formal'] } },
    get: ({ name, style }) => {
      expectTypeOf(name).toEqualTypeOf<string>();
      expectTypeOf(style).toEqualTypeOf<string | undefined>();
      return [{ role: 'user', content: { type: 'text', text: name } }];
    },
  });
  server.prompt('no-arguments', { get: () => 'text' });
  // @ts-expect-error: the prompt has no such argument
  server.prompt('misspelled', { args: { name: { required: true } }, get: ({ nmae }) => nmae });
  // @ts-expect-error: `robot` is no role
  server.prompt('role', { get: () => ({ role: 'robot', content: { type: 'text', text: '' } }) });
}

export function servers(): void {
  const server = createServer({ name: 'a', version: '1' });
  // @ts-expect-error: a server has a version
  createServer({ name: 'a' });
  const middleware: Middleware = (request, next) => (request.method === 'ping' ? {} : next());
  const observer: Observer = { ended: ({ durationMs }) => expectTypeOf(durationMs).toEqualTypeOf<number>() };
  const pack: Pack<Server> = { name: 'p', install: (target) => void target.tool('t', { run: () => '' }) };
  expectTypeOf(server.around(middleware)).toEqualTypeOf<Server>();
  expectTypeOf(server.observe(observer)).toEqualTypeOf<() => void>();
  expectTypeOf(server.use(pack)).resolves.toEqualTypeOf<void>();
  expectTypeOf(toFetch(server)).toExtend<(request: Request) => Promise<Response>>();
  expectTypeOf(serveStdio(server)).resolves.toEqualTypeOf<StdioServer>();
}
