// The pack `openapi` through the wire, against a local API.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { LogFields, Logger } from '../../src/common/logger.ts';
import { createServer } from '../../src/engine/server.ts';
import { type OpenApiOptions, openApi } from '../../src/packs/openapi/index.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type Message, TestClient } from '../support/test-client.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Respond = (request: Received, response: ServerResponse) => void;

/** An API that records requests, and responds with what it got unless told otherwise. */
async function startApi(respond: Respond = (request, response) => json(response, request)) {
  const received: Received[] = [];
  const server = createHttpServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request = { method, url, headers, body: Buffer.concat(chunks).toString('latin1') };
    received.push(request);
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, port, received };
}

function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

function send(response: ServerResponse, status: number, type: string, body: string | Uint8Array): void {
  response.writeHead(status, type === '' ? {} : { 'content-type': type }).end(body);
}

const documentOf = (paths: object, more: object = {}) => ({
  openapi: '3.1.0',
  info: { title: 'Test', version: '1' },
  paths,
  ...more,
});

type Line = readonly [level: string, message: string, fields: LogFields];

/** A server with the tools of a document. */
async function open(
  document: string | object,
  options: OpenApiOptions = {},
  before?: (server: ReturnType<typeof createServer>) => void,
) {
  const lines: Line[] = [];
  const log = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push([level, message, fields ?? {}]);
  const [debug, info, warn] = [log('debug'), log('info'), log('warn')];
  const logger = { debug, info, warn, notice: info, error: warn, enabled: () => true, child: () => logger } as Logger;
  const server = createServer({ name: 'api', version: '1.0.0', logger });
  closers.push(() => server.close());
  before?.(server);
  await server.use(openApi(document, options));
  const client = await TestClient.open(server);
  // A server without tools does not have the method.
  const tools = ((await client.request('tools/list')).result?.tools ?? []) as {
    name: string;
    [key: string]: unknown;
  }[];
  return { server, client, tools, names: tools.map(({ name }) => name), lines };
}

const textOf = ({ result }: Message): string => result.content[0].text;

const pet = { type: 'object', properties: { name: { type: 'string' }, friend: { $ref: '#/components/schemas/Pet' } } };
const pets = documentOf(
  {
    '/pets': {
      get: {
        operationId: 'listPets',
        summary: 'List pets',
        description: 'All of them,\u200b page by page',
        tags: ['pets'],
        parameters: [{ name: 'limit', in: 'query', description: 'How many', schema: { type: 'integer', minimum: 1 } }],
      },
      post: {
        operationId: 'pets/create',
        deprecated: true,
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
        },
      },
    },
    '/pets/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { tags: ['pets'] },
      delete: { operationId: 'deletePet' },
      put: { operationId: 'replacePet', tags: ['pets', 'write'] },
      patch: { operationId: 'changePet' },
    },
  },
  { components: { schemas: { Pet: pet } } },
);

test('each operation is a tool, described as in the document', async () => {
  const { origin } = await startApi();
  const { tools, lines } = await open(pets, { url: origin });
  const id = { properties: { id: { type: 'string' } }, required: ['id'] };
  expect(tools).toEqual([
    {
      name: 'listPets',
      title: 'List pets',
      description: 'List pets\n\nAll of them, page by page',
      inputSchema: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, description: 'How many' } },
        additionalProperties: false,
      },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    {
      name: 'pets_create',
      description: 'POST /pets\n\nDeprecated.',
      inputSchema: {
        type: 'object',
        properties: {
          body: { type: 'object', properties: { name: { type: 'string' }, friend: { $ref: '#/$defs/Pet' } } },
        },
        required: ['body'],
        additionalProperties: false,
        $defs: { Pet: { type: 'object', properties: { name: { type: 'string' }, friend: { $ref: '#/$defs/Pet' } } } },
      },
      annotations: { readOnlyHint: false, openWorldHint: true },
    },
    {
      name: 'get_pets_id',
      description: 'GET /pets/{id}',
      inputSchema: { type: 'object', ...id, additionalProperties: false },
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: true },
    },
    expect.objectContaining({
      name: 'replacePet',
      annotations: { readOnlyHint: false, idempotentHint: true, openWorldHint: true },
    }),
    expect.objectContaining({
      name: 'deletePet',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    }),
    expect.objectContaining({ name: 'changePet', annotations: { readOnlyHint: false, openWorldHint: true } }),
  ]);
  expect(lines).toEqual([['info', 'openapi: 6 operations are tools', { api: origin }]]);
});

test.each(['2024-11-05', '2025-11-25', '2026-07-28'])(
  'on %s, a call is a request, and its response is the result',
  async (revision) => {
    const { origin, received } = await startApi();
    const { server } = await open(pets, { url: `${origin}/v1/` });
    const stateless = revision === '2026-07-28';
    const client = stateless ? new TestClient(server) : await TestClient.open(server, revision);
    const call = (name: string, args: object): Promise<Message> =>
      stateless ? client.stateless('tools/call', { name, arguments: args }) : client.call(name, args);

    const { result } = await call('pets_create', { body: { name: 'Rex', friend: { name: 'Tom' } } });
    expect(received[0]).toMatchObject({
      method: 'POST',
      url: '/v1/pets',
      body: '{"name":"Rex","friend":{"name":"Tom"}}',
    });
    expect(JSON.parse(result.content[0].text)).toEqual(received[0]);
    expect(result.structuredContent).toEqual(revision === '2024-11-05' ? undefined : received[0]);
    expect(result.isError).toBeUndefined();

    await call('get_pets_id', { id: 'a/b ?' });
    expect(received[1]?.url).toBe('/v1/pets/a%2Fb%20%3F');
    await call('listPets', { limit: 3 });
    expect(received[2]?.url).toBe('/v1/pets?limit=3');
    // Arguments are validated before anything is sent.
    const wrong = await call('listPets', { limit: 'many' });
    expect(wrong.error?.message ?? textOf(wrong)).toContain('limit');
    expect((await call('pets_create', {})).result?.isError ?? true).toBe(true);
    expect(received).toHaveLength(3);
  },
);

test.each([
  [{ readOnly: true }, ['listPets', 'get_pets_id']],
  [{ tags: ['pets'] }, ['listPets', 'get_pets_id', 'replacePet']],
  [{ include: ['*Pet', 'pets_*'] }, ['pets_create', 'replacePet', 'deletePet', 'changePet']],
  [{ exclude: ['*Pet', 'pets_*'] }, ['listPets', 'get_pets_id']],
  [{ include: ['*Pet'], exclude: ['my_r*'], tags: ['write'], prefix: 'my' }, []],
  [{ include: ['my_*Pet'], tags: ['write'], prefix: 'my' }, ['my_replacePet']],
] as [OpenApiOptions, string[]][])('with %j, the tools are %j', async (options, expected) => {
  expect((await open(pets, { url: 'https://api.example', ...options })).names).toEqual(expected);
});

test('the document is read from a file, as JSON or YAML, or from an address', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.json'), `\uFEFF${JSON.stringify(pets)}`);
  writeFileSync(join(folder, 'a.yaml'), "openapi: '3.0.3'\npaths:\n  /a:\n    get:\n      operationId: fromYaml\n");
  const url = 'https://api.example';
  expect((await open(join(folder, 'a.json'), { url })).names).toHaveLength(6);
  expect((await open(join(folder, 'a.yaml'), { url })).names).toEqual(['fromYaml']);

  const { origin, received } = await startApi((request, response) =>
    json(response, request.url === '/docs/openapi.json' ? { ...pets, servers: [{ url: '../v2' }] } : request),
  );
  const { client, names } = await open(`${origin}/docs/openapi.json`);
  expect(names).toHaveLength(6);
  await client.call('listPets');
  expect(received[1]?.url).toBe('/v2/pets');
});

test.each([
  ['no document', '/missing/openapi.json', 'there is no such file'],
  ['a folder', '.', 'it is a folder'],
])('%s is an error', async (_what, path, message) => {
  await expect(open(path)).rejects.toThrow(`${path}: the file cannot be read: ${message}`);
});

test.each([
  ['a page', 200, '<!doctype html><title>Docs</title>', /is not an object|neither JSON nor YAML/],
  ['an error', 404, '{}', 'the server responded with status 404'],
  ['Swagger 2.0', 200, '{"swagger":"2.0"}', 'The document is Swagger 2.0'],
  ['broken JSON', 200, '{"openapi":', 'the document is neither JSON nor YAML'],
  ['deep JSON', 200, `${'['.repeat(5_000)}${']'.repeat(5_000)}`, 'nested too deeply'],
])(
  '%s at the address of a document is an error, which does not repeat a token in it',
  async (_what, status, body, message) => {
    const { origin } = await startApi((_request, response) => send(response, status, 'text/html', body));
    const opened = open(`${origin}/openapi.json?token=secret`);
    await expect(opened).rejects.toThrow(message);
    await expect(opened).rejects.toThrow(`${origin}/openapi.json: `);
    await expect(opened).rejects.not.toThrow('secret');
  },
);

/** A tool `get` whose response is given. */
async function responding(respond: Respond, options: OpenApiOptions = {}) {
  const { origin, received } = await startApi(respond);
  const { client } = await open(documentOf({ '/x': { get: { operationId: 'get' } } }), { url: origin, ...options });
  return { origin, received, client, result: async () => (await client.call('get')).result };
}

const png = Buffer.from([0x89, 0x50, 0xff]);

test.each([
  [
    'an object',
    'application/json',
    '{"id": 12345678901234567890}',
    { structuredContent: { id: 12345678901234567000 } },
  ],
  ['a list', 'application/vnd.x+json; charset=utf-8', '[1]', {}],
  ['what is not JSON', 'application/json', 'OK', {}],
  [
    'an object that looks like a result',
    'application/json',
    '{"content":[],"isError":true}',
    { structuredContent: { content: [], isError: true } },
  ],
  ['text', 'text/csv', 'a,b\n1,2', {}],
  ['XML', 'application/xml', '<a/>', {}],
  ['an image in XML', 'image/svg+xml', '<svg/>', {}],
  ['anything without a type', '', 'plain', {}],
])('%s is text (%s)', async (_what, type, body, more) => {
  const { result } = await responding((_request, response) => send(response, 200, type, body));
  expect(await result()).toEqual({ content: [{ type: 'text', text: body }], ...more });
});

test.each([
  ['image/png', { type: 'image', mimeType: 'image/png', data: png.toString('base64') }],
  ['audio/wav', { type: 'audio', mimeType: 'audio/wav', data: png.toString('base64') }],
])('%s is content of its kind', async (type, content) => {
  const { result } = await responding((_request, response) => send(response, 200, type, png));
  expect(await result()).toEqual({ content: [content] });
});

test('other bytes are an embedded resource, whose URI has no credentials', async () => {
  const { origin } = await startApi((_request, response) => send(response, 200, 'application/pdf', png));
  const components = { securitySchemes: { key: { type: 'apiKey', in: 'query', name: 'key' } } };
  const document = documentOf({ '/files/a.pdf': { get: { operationId: 'get' } } }, { components });
  const { client } = await open(document, { url: origin, credentials: 'secret-key' });
  expect((await client.call('get')).result.content).toEqual([
    {
      type: 'resource',
      resource: { uri: `${origin}/files/a.pdf`, mimeType: 'application/pdf', blob: png.toString('base64') },
    },
  ]);
});

test('a response without content says that the request succeeded', async () => {
  const { result } = await responding((_request, response) => send(response, 204, '', ''));
  expect((await result()).content).toEqual([
    { type: 'text', text: 'GET /x succeeded with status 204, without content' },
  ]);
});

test.each([400, 404, 500, 304])('status %i is an error with what the API says', async (status) => {
  const { result } = await responding((_request, response) =>
    send(response, status, 'text/plain', 'No\u200b such\u001b[31m pet'),
  );
  const said = status === 304 ? '' : ': No such pet';
  expect(await result()).toEqual({
    content: [{ type: 'text', text: `GET /x failed with status ${status}${said}` }],
    isError: true,
  });
});

test('the text of an error is bounded', async () => {
  const { result } = await responding((_request, response) => send(response, 500, 'text/plain', 'x'.repeat(5_000_000)));
  const { content, isError } = await result();
  expect(isError).toBe(true);
  expect(content[0].text.length).toBeLessThan(4_200);
  expect(content[0].text.slice(-5)).toBe('xxxx…');
});

test('a response that is too large, too slow or broken is an error', async () => {
  const large = await responding((_request, response) => send(response, 200, 'text/plain', 'x'.repeat(2_000)), {
    limits: { maxResponseBytes: 1_000 },
  });
  expect(await large.result()).toMatchObject({
    content: [{ text: 'GET /x failed: The body exceeds the limit of 1000 bytes. Ask for less, such as one page' }],
    isError: true,
  });
  const slow = await responding(() => {}, { limits: { timeoutMs: 50 } });
  expect(await slow.result()).toMatchObject({
    content: [{ text: 'GET /x failed: No complete response within 50 ms' }],
    isError: true,
  });
  const broken = await responding((_request, response) => void response.destroy());
  expect(await broken.result()).toMatchObject({ content: [{ text: /^GET \/x failed: / }], isError: true });
});

test('a cancelled call ends its request', async () => {
  let ended: Promise<unknown> | undefined;
  const { client, received } = await responding((_request, response) => {
    ended = once(response, 'close');
  });
  void client.request('tools/call', { name: 'get' }, 'slow');
  await expect.poll(() => received.length).toBe(1);
  client.notify('notifications/cancelled', { requestId: 'slow' });
  await ended;
});

const secured = (scheme: object) =>
  documentOf(
    { '/x': { get: { operationId: 'get' } } },
    { security: [{ key: [] }], components: { securitySchemes: { key: scheme } } },
  );
const apiKey = { type: 'apiKey', in: 'header', name: 'X-Key' };

test('credentials and headers of the operator are sent, and are no arguments', async () => {
  const { origin, received } = await startApi();
  const parameters = [
    { name: 'x-key', in: 'header', required: true, schema: { type: 'string' } },
    { name: 'X-Version', in: 'header', required: true, schema: { type: 'string' } },
  ];
  const document = { ...secured(apiKey), paths: { '/x': { get: { operationId: 'get', parameters } } } };
  const { client, tools } = await open(document, {
    url: origin,
    credentials: { key: 'secret-key' },
    headers: { 'X-Version': '2' },
  });
  expect(tools[0]?.['inputSchema']).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  await client.call('get', {});
  expect(received[0]?.headers).toMatchObject({ 'x-key': 'secret-key', 'x-version': '2' });
});

test('schemes without credentials are in the log, and their operations are offered', async () => {
  const { names, lines } = await open(secured(apiKey), { url: 'https://api.example' });
  expect(names).toEqual(['get']);
  expect(lines).toEqual([['info', expect.any(String), { api: 'https://api.example', missingSchemes: 'key' }]]);
});

test('a credential that the API repeats is hidden in the error', async () => {
  const { origin } = await startApi((request, response) => json(response, request.headers, 401));
  const { client, lines } = await open(secured(apiKey), { url: origin, credentials: 'secret-key' });
  const text = textOf(await client.call('get'));
  expect(text).toContain('GET /x failed with status 401: {');
  expect(text).toContain('"x-key":"[hidden]"');
  expect(JSON.stringify(lines)).not.toContain('secret-key');
});

test('a redirect within the API is followed with credentials', async () => {
  const { origin, received } = await startApi((request, response) => {
    if (request.url === '/x') response.writeHead(307, { location: '/x/' }).end();
    else json(response, { ok: true });
  });
  const { client } = await open(secured(apiKey), { url: origin, credentials: 'secret-key' });
  expect((await client.call('get')).result.structuredContent).toEqual({ ok: true });
  expect(received.map(({ url, headers }) => [url, headers['x-key']])).toEqual([
    ['/x', 'secret-key'],
    ['/x/', 'secret-key'],
  ]);
});

test('a redirect to another origin is rejected, and nothing is sent there', async () => {
  const other = await startApi();
  for (const location of [other.origin, `http://localhost:${other.port}/`, `//127.0.0.1:${other.port}/x`]) {
    const { origin } = await startApi((_request, response) => void response.writeHead(302, { location }).end());
    const { client } = await open(secured(apiKey), { url: origin, credentials: 'secret-key' });
    const { result } = await client.call('get');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toMatch(/^GET \/x failed: Connection to (127\.0\.0\.1|localhost) is not allowed/);
  }
  expect(other.received).toEqual([]);
});

test('a redirect without end is an error', async () => {
  const { result } = await responding((_request, response) => void response.writeHead(302, { location: '/x' }).end());
  expect((await result()).content[0].text).toBe('GET /x failed: Redirect rejected: more than 5 redirects');
});

test('a document cannot make the server request a private address', async () => {
  const { origin, port, received } = await startApi();
  const paths = { '/x': { get: { operationId: 'get' } } };
  await expect(open(documentOf(paths, { servers: [{ url: origin }] }))).rejects.toThrow(
    'which is not a public address',
  );
  // A name that resolves to one.
  const named = documentOf(paths, { servers: [{ url: `http://localhost.:${port}` }] });
  await expect(open(named)).rejects.toThrow('which is not a public address');
  const elsewhere = documentOf({
    '/x': { get: { operationId: 'get', servers: [{ url: origin }] } },
    '/y': { servers: [{ url: origin }], get: { operationId: 'y' } },
    '/z': { get: { operationId: 'z' } },
  });
  const { names, lines } = await open(elsewhere, { url: 'https://api.example' });
  expect(names).toEqual(['z']);
  expect(lines).toEqual([
    ['warn', 'openapi: 1 operation is a tool, 2 were left out', { api: 'https://api.example' }],
    [
      'debug',
      'openapi: an operation was left out',
      { operation: 'GET /x', reason: `is at another address (${origin}) than the API` },
    ],
    ['debug', 'openapi: an operation was left out', expect.objectContaining({ operation: 'GET /y' })],
  ]);
  expect(received).toEqual([]);
});

test('a network policy comes first', async () => {
  const { origin } = await startApi();
  const paths = { '/x': { get: { operationId: 'get' } } };
  const denied = await open(documentOf(paths), { url: origin, network: {} });
  expect(textOf(await denied.client.call('get'))).toBe(
    'GET /x failed: Connection to 127.0.0.1 is not allowed: loopback addresses are not allowed',
  );
  const allowed = await open(documentOf(paths, { servers: [{ url: origin }] }), { network: { allow: ['127.0.0.1'] } });
  expect((await allowed.client.call('get')).result.isError).toBeUndefined();
});

test('arguments reach no other operation and no other header', async () => {
  const { origin, received } = await startApi();
  const at = (place: string, name: string) => ({ in: place, name, required: true, schema: { type: 'string' } });
  const { client } = await open(
    documentOf({
      '/pets/{id}': { get: { operationId: 'get', parameters: [at('path', 'id'), at('header', 'X-Trace')] } },
    }),
    { url: `${origin}/v1` },
  );
  for (const args of [
    { id: '../../admin', 'X-Trace': 't' },
    { id: '..', 'X-Trace': 't' },
    { id: '1', 'X-Trace': 'a\r\nx-admin: 1' },
  ]) {
    expect((await client.call('get', args)).result.isError).toBe(true);
  }
  expect(received).toEqual([]);
});

test('a hostile document leaves out operations and breaks nothing', async () => {
  const { origin, received } = await startApi();
  const text = JSON.stringify(
    documentOf(
      {
        '/circle': {
          post: { requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } } },
        },
        '/type': { get: { parameters: [{ name: 'p', in: 'query', schema: { type: 'file' } }] } },
        '/deep': { get: { parameters: [{ name: 'p', in: 'query', schema: 'DEEP' }] } },
        '/proto': {
          get: {
            operationId: 'PROTO',
            parameters: [{ name: 'PROTO', in: 'query', schema: { $ref: '#/components/schemas/PROTO' } }],
          },
        },
        '/null': { get: null, post: 5 },
        PROTO: { get: {} },
      },
      {
        components: {
          schemas: {
            A: { $ref: '#/components/schemas/B' },
            B: { $ref: '#/components/schemas/A' },
            PROTO: { type: 'string' },
          },
        },
      },
    ),
  );
  const hostile = text
    .replaceAll('PROTO', '__proto__')
    .replace('"DEEP"', `${'{"not":'.repeat(150)}{}${'}'.repeat(150)}`);
  const { client, names, lines } = await open(JSON.parse(hostile), { url: origin });
  expect(names).toEqual(['__proto__']);
  expect(lines.map(([level, , { operation }]) => operation ?? level)).toEqual([
    'warn',
    'POST /circle',
    'GET /type',
    'GET /deep',
  ]);
  const args = JSON.parse('{"__proto__":"x"}');
  expect((await client.call('__proto__', args)).result.isError).toBeUndefined();
  expect((await client.call('__proto__', {})).result.isError).toBeUndefined();
  expect(received.map(({ url }) => url)).toEqual(['/proto?__proto__=x', '/proto']);
  expect(({} as Record<string, unknown>)['get']).toBeUndefined();
});

test('a document with ten thousand operations is read quickly, and the first of them are tools', async () => {
  const paths = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, n) => [`/p${n}`, { get: { operationId: `op${n}` } }]),
  );
  const { names, lines } = await open(documentOf(paths), { url: 'https://api.example', limits: { maxOperations: 3 } });
  expect(names).toEqual(['op0', 'op1', 'op2']);
  expect(lines[0]?.[1]).toBe('openapi: 3 operations are tools, 9997 were left out');
});

test('a tool of the server is not replaced', async () => {
  const own = (server: ReturnType<typeof createServer>) =>
    void server.tool('listPets', { description: 'Own', run: () => 'own' });
  const { client, names, lines } = await open(pets, { url: 'https://api.example' }, own);
  expect(names.filter((name) => name === 'listPets')).toHaveLength(1);
  expect(textOf(await client.call('listPets'))).toBe('own');
  expect(lines.at(-1)?.[2]).toEqual({
    operation: 'listPets',
    reason: 'the server has another tool of this name (use a prefix)',
  });
});

test.each([
  [{ inculde: [] }, 'Unknown option inculde of openApi'],
  [{ limits: { maxOperations: 0 } }, 'The limit maxOperations must be a number above 0'],
  [{ headers: { 'x-a': 'b\r\nc' } }, 'openApi(), headers: "x-a" or its value cannot be a header'],
  [{ prefix: 'a b' }, 'the prefix "a b" must have'],
])('the options %j are an error', async (options, message) => {
  await expect(open(pets, { url: 'https://api.example', ...options } as OpenApiOptions)).rejects.toThrow(message);
});
