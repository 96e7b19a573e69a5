import { expect, test } from 'vitest';
import { rejectionOf } from '../../test/support/rejection.ts';
import { silentLogger } from '../common/logger.ts';
import { ResponseCache } from './cache.ts';
import { connect } from './connect.ts';
import { ClientError } from './errors.ts';
import type { ConnectOptions } from './options.ts';
import { ScriptedServer, type Sent, scriptError } from './testing/scripted-server.ts';
import type { Outgoing } from './transports/transport.ts';

const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });

test('all pages of a list are collected, and single ones can be asked for', async () => {
  const pages: Record<string, object> = {
    start: { tools: [tool('a')], nextCursor: '' },
    '': { tools: [tool('b')], nextCursor: 'last' },
    last: { tools: [tool('c')] },
  };
  const server = new ScriptedServer('handshake', {
    'tools/list': ({ params }) => pages[(params?.['cursor'] as string) ?? 'start'] as Record<string, unknown>,
  });
  const client = await connect(server.target);
  expect((await client.listTools()).map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(await client.pageTools('last')).toEqual({ items: [tool('c')] });
  expect((await client.pageTools()).nextCursor).toBe('');
});

test('what a server does not declare is not asked for', async () => {
  const server = new ScriptedServer('handshake', {
    initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} } }),
  });
  const client = await connect(server.target);
  expect(await client.listPrompts()).toEqual([]);
  expect((await rejectionOf(client.getPrompt('x'), ClientError)).code).toBe('not-offered');
  expect((await rejectionOf(client.subscribe('demo://x'), ClientError)).code).toBe('not-offered');
  expect(server.of('prompts/list')).toEqual([]);
});

test('a server that declares nothing at all is asked nevertheless', async () => {
  const server = new ScriptedServer('handshake', {
    initialize: () => ({ protocolVersion: '2024-11-05', capabilities: {} }),
    'tools/list': () => ({ tools: [tool('a')] }),
  });
  expect((await (await connect(server.target)).listTools()).length).toBe(1);
});

test('an unknown resource is told by either of its codes', async () => {
  for (const [code, data] of [
    [-32002, undefined],
    [-32602, { uri: 'demo://x' }],
  ] as const) {
    const server = new ScriptedServer('handshake', {
      'resources/read': () => scriptError(code, 'Resource not found', data),
    });
    expect((await rejectionOf((await connect(server.target)).readResource('demo://x'), ClientError)).code).toBe(
      'resource-not-found',
    );
  }
});

test('an answer declared fresh is reused until it expires, changes, or is refreshed', async () => {
  let version = 0;
  const server = new ScriptedServer('stateless', {
    'tools/list': () => ({
      resultType: 'complete',
      tools: [tool(`v${++version}`)],
      ttlMs: 60_000,
      cacheScope: 'private',
    }),
    'resources/read': () => ({ resultType: 'complete', contents: [{ uri: 'a', text: `v${++version}` }], ttlMs: 0 }),
  });
  const client = await connect(server.target);
  const names = async (cache?: 'refresh' | 'bypass') => (await client.listTools({ cache })).map(({ name }) => name);
  expect([await names(), await names()]).toEqual([['v1'], ['v1']]);
  expect([await names('bypass'), await names()]).toEqual([['v2'], ['v1']]);
  expect([await names('refresh'), await names()]).toEqual([['v3'], ['v3']]);
  server.say({ method: 'notifications/tools/list_changed' });
  expect(await names()).toEqual(['v4']);
  // Without a time to live nothing is kept.
  await client.readResource('a');
  await client.readResource('a');
  expect(server.of('resources/read')).toHaveLength(2);
});

test('public answers are shared between clients of one cache, private ones are not', async () => {
  const cache = new ResponseCache();
  const list = (cacheScope: string) => () => ({
    resultType: 'complete',
    prompts: [{ name: 'p' }],
    ttlMs: 1000,
    cacheScope,
  });
  for (const [scope, asked] of [
    ['public', 1],
    ['private', 2],
  ] as const) {
    const server = new ScriptedServer('stateless', { 'prompts/list': list(scope) });
    const first = await connect(server.target, { cache });
    const second = await connect(server.target, { cache });
    await first.listPrompts();
    await second.listPrompts();
    expect(server.of('prompts/list')).toHaveLength(asked);
    await first.close();
    cache.drop('');
  }
});

test('a cursor that went stale starts the list again, once', async () => {
  let stale = true;
  const server = new ScriptedServer('handshake', {
    'tools/list': ({ params }) => {
      if (params?.['cursor'] === undefined) return { tools: [tool('a')], nextCursor: 'next' };
      if (!stale) return { tools: [tool('b')] };
      stale = false;
      return scriptError(-32602, 'Invalid cursor');
    },
  });
  expect((await (await connect(server.target)).listTools()).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(server.of('tools/list')).toHaveLength(4);
});

test('structured results are checked once the list is known, and only successful ones', async () => {
  const outputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  let result: Record<string, unknown> = { content: [], structuredContent: { n: 1 } };
  const server = new ScriptedServer('handshake', {
    'tools/list': () => ({ tools: [tool('count', { outputSchema })] }),
    'tools/call': () => result,
  });
  const client = await connect(server.target);
  await client.listTools();
  expect(await client.callTool('count')).toEqual(result);
  result = { content: [], structuredContent: { n: 'one' } };
  expect((await rejectionOf(client.callTool('count'), ClientError)).message).toMatch(/count.*n/);
  result = { content: [] };
  expect((await rejectionOf(client.callTool('count'), ClientError)).code).toBe('invalid-structured-content');
  result = { content: [], isError: true };
  expect((await client.callTool('count')).isError).toBe(true);
  const careless = await connect(server.target, { validateOutput: false });
  await careless.listTools();
  result = { content: [], structuredContent: {} };
  expect(await careless.callTool('count')).toEqual(result);
});

test('arguments are checked before they are sent, where that is wanted', async () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const server = new ScriptedServer('handshake', {
    'tools/list': () => ({ tools: [{ name: 'count', inputSchema }] }),
    'tools/call': () => text('ok'),
  });
  const client = await connect(server.target, { validateArguments: true });
  expect((await rejectionOf(client.callTool('count', { n: 'one' }), ClientError)).code).toBe('invalid-arguments');
  expect(server.of('tools/call')).toEqual([]);
  await client.callTool('count', { n: 1 });
  expect(server.of('tools/list')).toHaveLength(1);
});

test('arguments that are no JSON are rejected, not thrown', async () => {
  const client = await connect(new ScriptedServer('handshake').target);
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect((await rejectionOf(client.callTool('x', circle), ClientError)).code).toBe('invalid-arguments');
});

test('a contradiction between headers and body is resolved by reading the list again, once', async () => {
  const annotated = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
  let calls = 0;
  const server = new ScriptedServer(
    'stateless',
    {
      'tools/list': () => ({ resultType: 'complete', tools: [{ name: 'run', inputSchema: annotated }] }),
      'tools/call': () => (++calls === 1 ? scriptError(-32020, 'Mcp-Param-Region is missing') : text('ok')),
    },
    true,
  );
  const client = await connect(server.target);
  await client.callTool('run', { region: 'Köln' });
  expect(server.headers.at(-1)).toEqual([
    ...['Mcp-Method', 'tools/call', 'Mcp-Name', 'run'],
    ...['Mcp-Param-Region', '=?base64?S8O2bG4=?='],
  ]);
  calls = -10;
  server.headers.length = 0;
  const stubborn = new ScriptedServer(
    'stateless',
    { 'tools/list': () => ({ tools: [] }), 'tools/call': () => scriptError(-32020, 'no') },
    true,
  );
  expect((await rejectionOf((await connect(stubborn.target)).callTool('run'), ClientError)).serverError?.code).toBe(
    -32020,
  );
  expect(stubborn.of('tools/call')).toHaveLength(2);
});

test('a mirrored integer is written in decimal, however large it is', async () => {
  const inputSchema = { type: 'object', properties: { n: { type: 'integer', 'x-mcp-header': 'N' } } };
  const server = new ScriptedServer(
    'stateless',
    { 'tools/list': () => ({ tools: [{ name: 'run', inputSchema }] }), 'tools/call': () => text('ok') },
    true,
  );
  const client = await connect(server.target);
  await client.listTools();
  const sent: (string | undefined)[] = [];
  for (const n of [-7, 1e21]) {
    await client.callTool('run', { n });
    sent.push(server.headers.at(-1)?.at(-1));
  }
  expect(sent).toEqual(['-7', '1000000000000000000000']);
});

test('tools that misuse mirrored headers are left out where there are headers, and only there', async () => {
  const wrong = { type: 'object', properties: { n: { type: 'number', 'x-mcp-header': 'N' } } };
  const answers = {
    'tools/list': () => ({ tools: [{ name: 'bad', inputSchema: wrong }, tool('good')] }),
  };
  const names = async (server: ScriptedServer) => (await (await connect(server.target)).listTools()).map((t) => t.name);
  expect(await names(new ScriptedServer('stateless', answers, true))).toEqual(['good']);
  expect(await names(new ScriptedServer('stateless', answers))).toEqual(['bad', 'good']);
});

test('arguments as text keep their digits, and are sent on one line', async () => {
  const server = new ScriptedServer('stateless', { 'tools/call': () => text('ok') });
  const sent: string[] = [];
  const client = await connect(server.target, {
    onMessage: (direction, message) => direction === 'out' && sent.push(message),
  });
  await client.callTool('x', undefined, { argumentsText: '{\r\n  "id": 12345678901234567890,\n  "text": "a\\nb"\n}' });
  expect(sent.at(-1)).toMatch(/"arguments":\{ +"id": 12345678901234567890, +"text": "a\\nb" \}/);
  expect(sent.filter((message) => /[\r\n]/.test(message))).toEqual([]);
});

test('every request of the newest revision names revision, client and capabilities', async () => {
  const server = new ScriptedServer('stateless', { 'tools/call': () => text('ok') });
  const client = await connect(server.target, {
    client: { name: 'me', version: '2.0.0' },
    handlers: { roots: [], elicit: () => ({ action: 'decline' }) },
    capabilities: { extensions: { 'com.example/x': {} } },
  });
  await client.callTool('x', { a: 1 }, { meta: { traceparent: '00-1-2-01' }, logLevel: 'debug', onProgress: () => {} });
  const [{ id, params }] = server.of('tools/call') as [Sent];
  expect(params).toEqual({
    name: 'x',
    arguments: { a: 1 },
    _meta: {
      progressToken: id,
      'io.modelcontextprotocol/logLevel': 'debug',
      traceparent: '00-1-2-01',
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'me', version: '2.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {
        elicitation: { form: {} },
        roots: {},
        extensions: { 'com.example/x': {}, 'io.modelcontextprotocol/tasks': {} },
      },
    },
  });
});

test('capabilities are encoded as each revision knows them', async () => {
  const encoded = async (revision: string) => {
    const server = new ScriptedServer('handshake');
    const answer = () => ({ action: 'decline' as const });
    const sample = () => scriptError(1, 'never');
    await connect(server.target, {
      revision,
      handlers: { roots: [], elicit: answer, elicitUrl: answer, sample },
      capabilities: { sampling: { tools: {} } },
    });
    return server.of('initialize')[0]?.params?.['capabilities'];
  };
  expect(await encoded('2024-11-05')).toEqual({ roots: { listChanged: true }, sampling: {} });
  expect(await encoded('2025-06-18')).toEqual({ roots: { listChanged: true }, sampling: {}, elicitation: {} });
  expect(await encoded('2025-11-25')).toEqual({
    roots: { listChanged: true },
    sampling: { tools: {} },
    elicitation: { form: {}, url: {} },
  });
});

test('forms are declared by an empty capability, which servers of older revisions understand too', async () => {
  const server = new ScriptedServer('handshake');
  await connect(server.target, { handlers: { elicit: () => ({ action: 'decline' }) } });
  expect(server.of('initialize')[0]?.params?.['capabilities']).toEqual({ elicitation: {} });
});

test('the log level belongs to the session, or to every request', async () => {
  const session = new ScriptedServer('handshake', { 'logging/setLevel': () => ({}), 'tools/call': () => text('ok') });
  await (await connect(session.target)).setLogLevel('error');
  expect(session.of('logging/setLevel')[0]?.params).toEqual({ level: 'error' });
  const stateless = new ScriptedServer('stateless', { 'tools/call': () => text('ok') });
  const client = await connect(stateless.target);
  await client.setLogLevel('warning');
  await client.callTool('x');
  expect(stateless.of('tools/call')[0]?.params?._meta).toMatchObject({ 'io.modelcontextprotocol/logLevel': 'warning' });
});

test('a handler for log messages asks for them with every request, where that is necessary', async () => {
  const levels = async (target: ScriptedServer, options: ConnectOptions) => {
    const client = await connect(target.target, options);
    await client.callTool('x');
    target.break();
    await client.callTool('x', {}, { idempotent: true });
    await client.close();
    return target.of('tools/call').map(({ params }) => params?._meta?.['io.modelcontextprotocol/logLevel']);
  };
  const script = { 'tools/call': () => text('ok') };
  const onLog = () => {};
  expect(await levels(new ScriptedServer('stateless', script), { onLog })).toEqual(['info', 'info']);
  expect(await levels(new ScriptedServer('stateless', script), {})).toEqual([undefined, undefined]);
  const session = new ScriptedServer('handshake', script);
  expect(await levels(session, { onLog })).toEqual([undefined, undefined]);
  expect(session.of('logging/setLevel')).toEqual([]);
});

test('ping is a ping where there is one, and a question who is there where there is none', async () => {
  const session = new ScriptedServer('handshake', { ping: () => ({}) });
  await (await connect(session.target)).ping();
  expect(session.of('ping')).toHaveLength(1);
  const stateless = new ScriptedServer('stateless');
  await (await connect(stateless.target)).ping();
  expect(stateless.of('server/discover')).toHaveLength(2);
});

test('log messages and changed lists reach the handlers', async () => {
  const heard: unknown[] = [];
  const server = new ScriptedServer('handshake');
  await connect(server.target, {
    onLog: ({ level, data }) => heard.push([level, data]),
    onListChanged: (kind) => heard.push(kind),
    onNotification: (method) => heard.push(method),
  });
  server.say({ method: 'notifications/message', params: { level: 'info', data: 'hello' } });
  server.say({ method: 'notifications/message', params: { level: 'loud', data: 'dropped' } });
  server.say({ method: 'notifications/prompts/list_changed' });
  server.say({ method: 'notifications/example', params: {} });
  expect(heard).toEqual([['info', 'hello'], 'prompts', 'notifications/example']);
});

test('a handler of notifications that fails does no harm', async () => {
  const server = new ScriptedServer('handshake', { 'tools/call': () => text('ok') });
  const client = await connect(server.target, {
    onLog: () => {
      throw new Error('oops');
    },
  });
  server.say({ method: 'notifications/message', params: { level: 'info', data: 'hello' } });
  expect(await client.callTool('x')).toEqual(text('ok'));
});

test('requests of extensions go through as they are', async () => {
  const server = new ScriptedServer('handshake', { 'vendor/do': ({ params }) => ({ got: params }) });
  expect(await (await connect(server.target)).request('vendor/do', { a: 1 })).toEqual({ got: { a: 1 } });
});

test('listeners of the application that throw do not disturb the connection', async () => {
  const server = new ScriptedServer('handshake', { 'tools/call': () => text('fine') });
  const fail = (): never => {
    throw new Error('a bug of the application');
  };
  const client = await connect(server.target, { onState: fail, onMessage: fail });
  server.break();
  expect(await client.callTool('a')).toEqual(text('fine'));
  expect(server.connections).toBe(2);
  await client.close();
});

test.each([
  [
    'throws',
    () => {
      throw new Error('the socket is not open');
    },
  ],
  ['rejects', () => Promise.reject(new Error('the socket is not open'))],
])('a transport of your own whose send %s fails the call, and nothing else', async (_title, send) => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown): number => unhandled.push(reason);
  process.on('unhandledRejection', note);
  const warnings: unknown[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  try {
    const server = new ScriptedServer('handshake', {
      'tools/call': () => text('done'),
      'tools/list': () => ({ tools: [] }),
    });
    let broken = false;
    const target = () => {
      const transport = server.target();
      return { ...transport, send: (message: Outgoing) => (broken ? send() : transport.send(message)) };
    };
    const client = await connect(target, { logger });
    broken = true;
    const error = await rejectionOf(client.callTool('a'), ClientError);
    expect([error.code, error.message]).toEqual([
      'connection-lost',
      'Could not send tools/call to "scripted server": the socket is not open',
    ]);
    // A notification has no caller that could be told.
    client.notify('notifications/roots/list_changed');
    await new Promise((resolve) => setImmediate(resolve));
    expect(warnings).toEqual(['notifications/roots/list_changed could not be sent']);
    broken = false;
    expect((await client.callTool('a')).content).toEqual(text('done').content);
    await client.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
