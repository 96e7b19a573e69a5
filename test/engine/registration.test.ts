// Misuse of the API throws at once, with a message that says how to fix it.

import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { type ConnectOptions, connect, inMemory } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import { createGateway, type GatewayOptions, gatewayConfig } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import { TestClient } from '../support/test-client.ts';

const make = (): Server => createServer({ name: 'misuse', version: '1.0.0' });
const run = (): string => 'ok';

test('a server needs a name and a version', () => {
  expect(() => createServer({} as never)).toThrow('name and a version');
  expect(() => createServer(undefined as never)).toThrow('name and a version');
});

test('an option or a limit of a server that does not exist is not ignored', () => {
  const create = (options: object) => () => createServer({ name: 'misuse', version: '1.0.0', ...options });
  expect(create({ error: 'masked' })).toThrow(
    'Unknown option error of createServer; did you mean errors? Use one of name, version, title, ',
  );
  expect(create({ error: undefined })).not.toThrow();
  expect(create({ limits: { maxInflight: 5 } })).toThrow('Unknown limit maxInflight; use one of maxDepth, ');
  expect(create({ limits: { maxInFlight: '5' } })).toThrow('The limit maxInFlight must be a number above 0');
  expect(create({ tasks: { limits: { maxactive: 5 } } })).toThrow('Unknown limit maxactive; use one of maxActive');
  // An absent value does not remove the limit.
  expect(create({ limits: { maxInFlight: undefined } })().limits.maxInFlight).toBe(1024);
});

test('nor is an option of a client or a gateway', async () => {
  const header = { header: { authorization: 'Bearer x' } } as ConnectOptions;
  await expect(connect('http://127.0.0.1:1/mcp', header)).rejects.toThrow(
    /^Unknown option header of connect; did you mean headers\? Use one of client, serverName, .*headers/,
  );
  const late = { timeoutMs: '5s' } as unknown as ConnectOptions;
  await expect(connect('http://127.0.0.1:1/mcp', late)).rejects.toThrow('The limit timeoutMs must be a number above 0');
  const config = await gatewayConfig({ mcpServers: {} });
  expect(() => createGateway(config, { pin: undefined } as GatewayOptions)).not.toThrow();
  expect(() => createGateway(config, { pin: {} } as GatewayOptions)).toThrow('Unknown option pin of createGateway');
  expect(() => createGateway(config, { heldCalls: { maximum: 5 } as object })).toThrow('Unknown limit maximum');
  expect(() => createGateway({ mcpServers: {} } as never)).toThrow(
    'createGateway(await gatewayConfig({ mcpServers }))',
  );
  expect(() => createGateway(config, null as never)).toThrow(
    'The options of createGateway must be an object, not null',
  );
  for (const input of [undefined, 'mcp.json', { servers: {} }, { mcpServers: [] }]) {
    await expect(gatewayConfig(input as never)).rejects.toThrow('gatewayConfig({ mcpServers: { notes: { command: ');
  }
});

test('arguments of prompts are not a schema', () => {
  const problem = 'prompt "p", args: arguments of prompts are strings and have no schema. Write args: { city: {';
  for (const args of [z.object({ city: z.string() }), { city: z.string() }, v.object({ city: v.string() })]) {
    expect(() => make().prompt('p', { args: args as never, get: run })).toThrow(problem);
  }
  expect(() => make().prompt('p', { args: ['city'] as never, get: run })).toThrow(problem);
});

test('a tool can only need what clients can declare', () => {
  expect(() => make().tool('t', { needs: ['elicitation'] as never, run })).toThrow(
    'tool "t", needs: "elicitation" is not known; use elicitation.form, elicitation.url, sampling, sampling.tools, roots',
  );
  expect(() => make().tool('t', { needs: 'sampling' as never, run })).toThrow('tool "t", needs: must be a list');
});

test('a definition without a name before it is explained, without a warning', () => {
  const warn = vi.fn();
  const server = createServer({ name: 'misuse', version: '1.0.0', logger: { ...silentLogger, warn } });
  expect(() => server.tool({ name: 't', run } as never, undefined as never)).toThrow(
    'A tool needs a name, a non-empty string, before its definition: server.tool("name", { … })',
  );
  expect(warn).not.toHaveBeenCalled();
});

test('a name cannot be registered twice', () => {
  const server = make();
  server.tool('add', { run });
  expect(() => server.tool('add', { run })).toThrow('Tool "add" is already registered');
  server.prompt('p', { get: run });
  expect(() => server.prompt('p', { get: run })).toThrow('already registered');
  server.resource('a://b', { name: 'b', read: run });
  expect(() => server.resource('a://b', { name: 'b', read: run })).toThrow('already registered');
});

test('a removed name is free again', async () => {
  const server = make();
  server.tool('add', { run }).remove();
  server.tool('add', { run: () => 'second' });
  const client = await TestClient.open(server);
  expect((await client.call('add')).result.content[0].text).toBe('second');
});

test('handlers must be functions, names must not be empty, URIs must be absolute', () => {
  const server = make();
  expect(() => server.tool('x', {} as never)).toThrow('needs a function "run"');
  expect(() => server.tool('x', undefined as never)).toThrow('needs a function "run"');
  expect(() => server.tool('', { run })).toThrow('needs a name');
  expect(() => server.prompt('x', {} as never)).toThrow('needs a function "get"');
  expect(() => server.resource('no-scheme', { name: 'x', read: run })).toThrow('absolute URI');
  expect(() => server.resource('a://b', { name: 'x' } as never)).toThrow('needs a function "read"');
  expect(() => server.resourceTemplate('a://{b', { name: 'x', read: run })).toThrow('never closed');
  expect(() =>
    server.resourceTemplate('a://{b}', { name: 'x', read: run, complete: { c: () => [] } as never }),
  ).toThrow('not one of b');
});

test('a schema of arguments must describe an object', () => {
  const server = make();
  expect(() => server.tool('x', { input: z.string() as never, run })).toThrow(/object/);
  expect(() => server.tool('y', { input: { type: 'array' }, run: run as never })).toThrow(/object/);
  expect(() => server.tool('z', { input: { type: 'object', properties: { a: { $ref: '#/nowhere' } } }, run })).toThrow(
    /nowhere/,
  );
});

test('an invalid header annotation is rejected', () => {
  const server = make();
  const input = (header: unknown, property: object = { type: 'string' }) => ({
    type: 'object',
    properties: { a: { ...property, 'x-mcp-header': header } },
  });
  expect(() => server.tool('a', { input: input(''), run })).toThrow('HTTP token');
  expect(() => server.tool('b', { input: input('A', { type: 'number' }), run })).toThrow('string, integer or boolean');
});

test('a method of the protocol cannot be replaced; a custom method works on every revision', async () => {
  const server = make();
  expect(() => server.method('tools/list', () => ({}))).toThrow('already exists');
  server.method('acme/status', (params, ctx) => ({ params: Object.keys(params), revision: ctx.revision }));
  const client = await TestClient.open(server, '2024-11-05');
  expect((await client.request('acme/status', { a: 1 })).result).toEqual({
    params: ['a'],
    revision: '2024-11-05',
  });
  expect((await client.stateless('acme/status')).result).toMatchObject({
    resultType: 'complete',
    revision: '2026-07-28',
  });
});

test('an unknown handshake revision in the rules is named in the error', () => {
  expect(() => createServer({ name: 'x', version: '1', rules: { handshakeVersions: ['2023-01-01'] } })).toThrow(
    '2023-01-01',
  );
});

test.each([
  ['zod', z.object({ a: z.number().int(), b: z.string().optional() })],
  ['Valibot', toStandardJsonSchema(v.object({ a: v.pipe(v.number(), v.integer()), b: v.optional(v.string()) }))],
  ['ArkType', type({ a: 'number.integer', 'b?': 'string' })],
])('%s gives validation and JSON Schema', async (_library, input) => {
  const server = make();
  server.tool('t', { input, run: (args) => JSON.stringify(args) });
  const client = await TestClient.open(server);
  const [listed] = (await client.request('tools/list')).result.tools;
  expect(listed.inputSchema).toMatchObject({
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'string' } },
    required: ['a'],
  });
  expect((await client.call('t', { a: 1 })).result.content[0].text).toBe('{"a":1}');
  expect((await client.call('t', { a: 'x' })).result).toMatchObject({ isError: true });
});

test('a schema that cannot be serialized is rejected when it is registered, with the name of its tool', () => {
  const circle: Record<string, unknown> = {};
  circle['again'] = circle;
  const input = (more: object): never => ({ type: 'object', ...more }) as never;
  expect(() => make().tool('a', { input: input({ default: circle }), run })).toThrow(
    /^tool "a": the schema cannot be serialized to JSON: Converting circular structure to JSON$/,
  );
  expect(() => make().tool('a', { input: input({ const: 1n }), run })).toThrow(
    /^tool "a": the schema cannot be serialized to JSON: .*BigInt$/,
  );
  expect(() => make().tool('a', { input: input({ toJSON: () => undefined }), run })).toThrow(
    'tool "a": the schema cannot be serialized to JSON: its toJSON() returns nothing',
  );
});

test.for([
  ['a plain JSON Schema', { type: 'object', properties: { content: { type: 'array', items: { type: 'object' } } } }],
  ['a nullable list', { type: 'object', properties: { content: { type: ['array', 'null'] } } }],
  ['a zod schema', z.object({ content: z.array(z.object({ type: z.literal('text'), text: z.string() })) })],
  ['an optional zod list', z.object({ content: z.array(z.string()).optional() })],
] as const)('an output schema with a list "content" is registered with a warning: %s', ([, output]) => {
  const warn = vi.fn();
  const server = createServer({ name: 'hint', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.tool('page', { output: output as never, run: (() => ({})) as never });
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('tool "page": its output has a list "content"'));
});

test.for([
  ['inputSchema', '"inputSchema" is not known; use "input"'],
  ['outputSchema', '"outputSchema" is not known; use "output"'],
  ['handler', '"handler" is not known; use "run"'],
  ['anotations', '"anotations" is not known; use one of name, title, '],
] as const)('an option of a tool that does not exist is named in a warning: %s', ([key, text]) => {
  const warn = vi.fn();
  const server = createServer({ name: 'hint', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.tool('add', { name: 'add', [key]: {}, run } as never);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining(`tool "add": the option ${text}`));
});

test('an option of a prompt that does not exist is named in a warning', () => {
  const warn = vi.fn();
  const server = createServer({ name: 'hint', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.prompt('greet', { argsSchema: {}, get: run } as never);
  expect(warn).toHaveBeenCalledExactlyOnceWith('prompt "greet": the option "argsSchema" is not known; use "args"');
});

test('an option of a resource, a template or an app that does not exist is named in a warning', () => {
  const warn = vi.fn();
  const server = createServer({ name: 'hint', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.resource('memo://1', { name: 'memo', handler: run, read: run } as never);
  server.resourceTemplate('memo://{id}', { name: 'memos', mimetype: 'text/plain', read: run } as never);
  server.app('ui://page', { page: '', html: '<p>' } as never);
  expect(warn.mock.calls.flat()).toEqual([
    'resource "memo://1": the option "handler" is not known; use "read"',
    expect.stringMatching(/^resource template "memo:.*": the option "mimetype" is not known; use one of name, title, /),
    expect.stringMatching(/^app "ui:.*": the option "page" is not known; use one of .*, html, /),
  ]);
});

test('lists contain nothing but the fields of the protocol, under the name that was registered', async () => {
  const server = createServer({ name: 'strict', version: '1.0.0', logger: false });
  const other = { secret: 'x', name: 'other', uri: 'memo://other', uriTemplate: 'memo://other/{id}' };
  server.tool('add', { ...other, run } as never);
  server.prompt('greet', { ...other, args: { who: { ...other, required: true } }, get: run } as never);
  server.resource('memo://1', { ...other, name: 'memo', read: run } as never);
  server.resourceTemplate('memo://{id}', { ...other, name: 'memos', read: run } as never);
  const client = await connect(inMemory(server), { revision: '2025-11-25' });
  try {
    expect(await client.listTools()).toEqual([{ name: 'add', inputSchema: expect.anything() }]);
    expect(await client.listPrompts()).toEqual([{ name: 'greet', arguments: [{ name: 'who', required: true }] }]);
    expect(await client.listResources()).toEqual([{ uri: 'memo://1', name: 'memo' }]);
    expect(await client.listResourceTemplates()).toEqual([{ uriTemplate: 'memo://{id}', name: 'memos' }]);
  } finally {
    await client.close();
  }
});

test('an output schema with another kind of "content" is registered without a warning', () => {
  const warn = vi.fn();
  const server = createServer({ name: 'hint', version: '1.0.0', logger: { ...silentLogger, warn } });
  server.tool('text', { output: z.object({ content: z.string() }), run: () => ({ content: 'x' }) });
  server.tool('list', { output: z.object({ items: z.array(z.string()) }), run: () => ({ items: [] }) });
  server.tool('none', { run });
  expect(warn).not.toHaveBeenCalled();
});

test('removing the last tool is announced to a client that knows of tools', async () => {
  const server = createServer({ name: 'last', version: '1.0.0' });
  const only = server.tool('only', { run: () => 'here' });
  let announce = (): void => {};
  const changed = new Promise<void>((resolve) => {
    announce = resolve;
  });
  const client = await connect(inMemory(server), { revision: '2025-11-25', onListChanged: () => announce() });
  try {
    expect(await client.listTools()).toHaveLength(1);
    only.remove();
    await changed;
    expect(await client.listTools()).toEqual([]);
  } finally {
    await client.close();
  }
});
