// What authors of a server can rely on: isolation, middleware, observers, visibility, drain.

import { expect, test } from 'vitest';
import { checkMiddleware } from '../../src/engine/calls/middleware.ts';
import { createMemoryTaskStore } from '../../src/engine/tasks/store/memory-store.ts';
import { createServer, InputRequestError, type Peer, type RequestEnd } from '../../src/index.ts';
import { wireErrors } from '../../src/protocol/errors.ts';
import type { CacheHint, Completion } from '../../src/protocol/model.ts';
import { TestClient } from '../support/test-client.ts';

const peerOf = (id: string): Peer => ({ transport: 'memory', principal: { id } });

test('the same id on two connections is two requests', async () => {
  const server = createServer({ name: 'two', version: '1' });
  server.tool('whoami', {
    run: async (_args, ctx) => {
      await ctx.progress(1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return ctx.principal?.id ?? 'unknown';
    },
  });
  const names = Array.from({ length: 20 }, (_, i) => `client-${i}`);
  await Promise.all(
    names.map(async (name) => {
      const client = await TestClient.open(server, '2025-06-18', {}, peerOf(name));
      const params = { name: 'whoami', _meta: { progressToken: 1 } };
      expect((await client.request('tools/call', params, 1)).result.content[0].text).toBe(name);
      expect(client.received.filter((each) => each.method === 'notifications/progress')).toHaveLength(1);
    }),
  );
});

test('for a caller, what it may not see does not exist', async () => {
  const server = createServer({ name: 'secret', version: '1' });
  const visible = (principal: { id: string } | undefined): boolean => principal?.id === 'ada';
  server.tool('open', { run: () => 'open' });
  server.tool('hidden', { visible, run: () => 'hidden' });
  server.resource('a://hidden', { name: 'h', visible, read: () => 'x' });
  server.prompt('hidden', { visible, get: () => 'x' });
  const ada = await TestClient.open(server, '2025-11-25', {}, peerOf('ada'));
  const bob = await TestClient.open(server, '2025-11-25', {}, peerOf('bob'));
  const names = async (who: TestClient) =>
    (await who.request('tools/list')).result.tools.map((each: { name: string }) => each.name);
  expect(await names(ada)).toEqual(['open', 'hidden']);
  expect(await names(bob)).toEqual(['open']);
  expect(await names(ada)).toEqual(['open', 'hidden']);
  expect((await bob.call('hidden')).error).toEqual((await bob.call('hidden')).error);
  expect((await bob.call('hidden')).error?.message).toBe('Unknown tool: hidden');
  expect((await bob.request('resources/read', { uri: 'a://hidden' })).error?.code).toBe(-32002);
  expect((await bob.request('prompts/get', { name: 'hidden' })).error?.code).toBe(-32602);
  expect((await ada.call('hidden')).result.content[0].text).toBe('hidden');
});

test('middleware wraps every request, outermost first, and may return a result of its own', async () => {
  const server = createServer({ name: 'around', version: '1' });
  const seen: string[] = [];
  server.tool('t', { run: () => 'inner' });
  server.around(async (request, next) => {
    seen.push(`> ${request.method} ${request.name ?? ''}`);
    const result = await next();
    seen.push(`< ${request.method}`);
    return result;
  });
  server.around((request, next) => (request.name === 't' ? { content: [{ type: 'text', text: 'outer' }] } : next()));
  const client = await TestClient.open(server);
  seen.length = 0;
  expect((await client.call('t')).result.content[0].text).toBe('outer');
  expect(seen).toEqual(['> tools/call t', '< tools/call']);
});

test('checks and other middleware run in the order in which they were added, also if a check delays a request', async () => {
  const server = createServer({ name: 'checks', version: '1' });
  const seen: string[] = [];
  server.tool('t', { run: () => 'ran' });
  server.around(checkMiddleware(() => void seen.push('first check')));
  server.around((_request, next) => {
    seen.push('in');
    const result = next();
    seen.push('out');
    return result;
  });
  server.around(
    checkMiddleware(async ({ name }) => {
      await Promise.resolve();
      seen.push('slow check');
      if (name === 'kept out') throw wireErrors.rateLimited(5);
    }),
  );
  server.around(checkMiddleware(() => void seen.push('last check')));
  const client = await TestClient.open(server);
  seen.length = 0;
  expect((await client.call('t')).result.content[0].text).toBe('ran');
  expect(seen).toEqual(['first check', 'in', 'out', 'slow check', 'last check']);
  expect((await client.call('kept out')).error?.message).toBe('Rate limit exceeded');
});

test('an observer that throws affects nothing else', async () => {
  const server = createServer({ name: 'tap', version: '1' });
  const boom = (): never => {
    throw new Error('boom');
  };
  server.observe({ received: boom, sent: boom, started: boom, ended: boom, connected: boom, disconnected: boom });
  server.tool('ok', { run: () => 'ok' });
  const client = await TestClient.open(server);
  expect((await client.call('ok')).result.content[0].text).toBe('ok');
  client.channel.close();
});

test('observers see messages and calls of every kind', async () => {
  const server = createServer({ name: 'tap', version: '1' });
  const ended: RequestEnd[] = [];
  const texts: string[] = [];
  server.observe({
    ended: (each) => ended.push(each),
    sent: (text) => texts.push(text),
    received: (each) => texts.push(JSON.stringify(each)),
  });
  server.tool('ok', { run: () => 'ok' });
  server.tool('bad', {
    run: () => {
      throw new Error('x');
    },
  });
  server.tool('later', { run: async () => 'later' });
  const client = await TestClient.open(server);
  await client.call('ok');
  await client.call('bad');
  await client.call('later');
  await client.call('unknown');
  expect(ended.map((each) => [each.request.name, each.outcome, each.code])).toEqual([
    [undefined, 'ok', undefined],
    ['ok', 'ok', undefined],
    ['bad', 'failed', undefined],
    ['later', 'ok', undefined],
    ['unknown', 'rejected', -32602],
  ]);
  expect(texts.some((each) => each.includes('"later"'))).toBe(true);
});

test('observers are notified of the end of a call before its response is sent', async () => {
  const server = createServer({ name: 'tap', version: '1' });
  const seen: string[] = [];
  server.tool('ok', { run: () => 'ok' });
  server.tool('later', { run: async () => 'later' });
  server.tool('stuck', { run: () => new Promise(() => {}) });
  const client = await TestClient.open(server);
  server.observe({
    ended: ({ request, outcome }) => seen.push(`${request.name} ${outcome}`),
    sent: (text) => seen.push(text.includes('"error"') ? 'error' : 'result'),
  });
  await client.call('ok');
  await client.call('later');
  await client.call('unknown');
  void client.call('stuck');
  client.channel.close();
  expect(seen).toEqual(['ok ok', 'result', 'later ok', 'result', 'unknown rejected', 'error', 'stuck cancelled']);
});

test('an observer that is added later sees messages of open connections from then on, and a removed one sees none', async () => {
  const server = createServer({ name: 'tap', version: '1' });
  server.tool('ok', { run: () => 'ok' });
  server.tool('later', { run: async () => 'later' });
  const client = await TestClient.open(server);
  const texts: string[] = [];
  const stop = server.observe({ sent: (text) => texts.push(text) });
  await client.call('ok');
  await client.call('later');
  server.toolsChanged();
  await client.next(({ method }) => method === 'notifications/tools/list_changed');
  expect(texts.map((text) => JSON.parse(text))).toMatchObject([
    { result: { content: [{ text: 'ok' }] } },
    { result: { content: [{ text: 'later' }] } },
    { method: 'notifications/tools/list_changed' },
  ]);
  stop();
  await client.call('ok');
  expect(texts).toHaveLength(3);
});

test('a drain lets calls finish, ends subscriptions with a result and fails the rest', async () => {
  const server = createServer({ name: 'drain', version: '1' });
  server.tool('quick', { run: () => new Promise((resolve) => setTimeout(() => resolve('done'), 20)) });
  server.tool('stuck', { run: () => new Promise(() => {}) });
  const client = await TestClient.open(server);
  const listen = client.stateless('subscriptions/listen', { notifications: { toolsListChanged: true } });
  const quick = client.call('quick');
  const stuck = client.call('stuck');
  await client.channel.drain(60);
  expect((await quick).result.content[0].text).toBe('done');
  expect((await listen).result.resultType).toBe('complete');
  expect((await stuck).error?.message).toContain('shutting down');
  const kinds = client.received.map((each) => each.method ?? 'answer');
  expect(kinds.indexOf('notifications/cancelled')).toBeLessThan(kinds.lastIndexOf('answer'));
});

test('a closed connection aborts its calls and sends nothing more', async () => {
  const server = createServer({ name: 'close', version: '1' });
  let reason: unknown;
  server.tool('wait', {
    run: (_args, ctx) =>
      new Promise((_, reject) =>
        ctx.signal.addEventListener('abort', () => {
          reason = ctx.signal.reason;
          reject(reason);
        }),
      ),
  });
  const client = await TestClient.open(server);
  void client.call('wait');
  const before = client.received.length;
  client.channel.close();
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect((reason as Error).name).toBe('AbortError');
  expect(client.received.length).toBe(before);
});

test('sessions have state, stateless requests have none', async () => {
  const server = createServer({ name: 'memory', version: '1' });
  server.tool('count', {
    run: (_args, { session }) => {
      if (session === undefined) return 'no session';
      const n = ((session.values.get('n') as number | undefined) ?? 0) + 1;
      session.values.set('n', n);
      return String(n);
    },
  });
  const one = await TestClient.open(server);
  const two = await TestClient.open(server);
  const text = (answer: { result?: { content: { text: string }[] } }) => answer.result?.content[0]?.text;
  expect([text(await one.call('count')), text(await one.call('count')), text(await two.call('count'))]).toEqual([
    '1',
    '2',
    '1',
  ]);
  expect(text(await one.stateless('tools/call', { name: 'count' }))).toBe('no session');
});

test('an input request where none is allowed fails with a reason', async () => {
  const server = createServer({ name: 'ask', version: '1' });
  let caught: unknown;
  server.prompt('p', {
    args: {
      a: {
        complete: async (_value, _known, ctx) => {
          caught = await ctx.roots().catch((error: unknown) => error);
          return [];
        },
      },
    },
    get: () => 'x',
  });
  const client = await TestClient.open(server, '2025-11-25', { roots: {} });
  await client.request('completion/complete', {
    ref: { type: 'ref/prompt', name: 'p' },
    argument: { name: 'a', value: '' },
  });
  expect(caught).toBeInstanceOf(InputRequestError);
  expect((caught as InputRequestError).code).toBe('not-allowed-here');
});

test('input requests made together are sent together, and the error names all missing capabilities', async () => {
  const server = createServer({ name: 'together', version: '1' });
  const form = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const;
  server.tool('both', {
    run: async (_args, ctx) => {
      const [one, two] = await Promise.all([ctx.elicit('one', form), ctx.elicit('two', form)]);
      return `${one.action} ${two.action}`;
    },
  });
  const client = new TestClient(server);
  const { result } = await client.stateless('tools/call', { name: 'both' }, { elicitation: {} });
  expect(Object.keys(result.inputRequests)).toEqual(['ask-0', 'ask-1']);
});

test('trace context and unknown capabilities reach the handler unchanged', async () => {
  const server = createServer({ name: 'trace', version: '1' });
  server.tool('t', { run: (_args, ctx) => JSON.stringify([ctx.trace, ctx.clientCapabilities]) });
  const client = await TestClient.open(server, '2024-11-05', { 'com.example/x': { y: 1 } });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const { result } = await client.request('tools/call', { name: 't', _meta: { traceparent } });
  expect(JSON.parse(result.content[0].text)).toEqual([{ traceparent }, { 'com.example/x': { y: 1 } }]);
});

test('values of a trace context that are too long to be valid reach neither the handler nor the store of tasks', async () => {
  const store = createMemoryTaskStore();
  const server = createServer({ name: 'trace', version: '1', tasks: { store } });
  server.tool('t', { task: 'optional', run: (_args, ctx) => JSON.stringify(ctx.trace) });
  const client = await TestClient.open(server, '2025-11-25');
  const long = '0'.repeat(10_000);
  const params = { name: 't', _meta: { traceparent: long, tracestate: 'vendor=1', baggage: long } };
  const { result } = await client.request('tools/call', params);
  expect(JSON.parse(result.content[0].text)).toEqual({ tracestate: 'vendor=1' });
  const created = await client.request('tools/call', { ...params, task: {} });
  const stored = await store.read(created.result.task.taskId);
  expect(JSON.stringify(stored)).not.toContain(long);
  await server.close();
});

test('a request that its transport has classified is not classified again', () => {
  const server = createServer({ name: 'routed', version: '1' });
  const sent: { id?: number; error?: unknown }[] = [];
  const outlet = { duplex: false, push: () => false, end: (text?: string) => void sent.push(JSON.parse(text ?? '{}')) };
  const read: string[] = [];
  const header = (name: string): undefined => void read.push(name);
  const channel = server.connect({ transport: 'http' });
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const opening = { jsonrpc: '2.0', id: 1, method: 'initialize', params: initialize };
  channel.receive(opening, { outlet, header, route: server.route(opening, () => undefined) });
  channel.receive({ jsonrpc: '2.0', id: 2, method: 'ping' }, { outlet, header, route: 'session' });
  expect(sent).toMatchObject([
    { id: 1, result: { protocolVersion: '2025-11-25' } },
    { id: 2, result: {} },
  ]);
  expect(read).toEqual([]);
  channel.receive({ jsonrpc: '2.0', id: 3, method: 'ping' }, { outlet, header });
  expect(read).toContain('mcp-protocol-version');
});

test('a restriction adds no capability for lists that the server does not have', async () => {
  const server = createServer({ name: 'restricted', version: '1.0.0' });
  server.tool('add', { run: () => 'ok' });
  server.restrict(() => true);
  const clientInfo = { name: 'test', version: '1' };
  const initialize = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const { result } = await new TestClient(server).request('initialize', initialize);
  expect(result?.['capabilities']).toEqual({ tools: { listChanged: true }, logging: {} });
});

test('cache hints are sent as the protocol allows them: whole milliseconds from 0, public or private', async () => {
  const server = createServer({ name: 'hints', version: '1', cache: { ttlMs: -5, cacheScope: 'public' } });
  const hints = new Map<string, unknown>([
    ['test://passed', { ttlMs: -1_000, cacheScope: 'public' }],
    ['test://fraction', { ttlMs: 1_500.75, cacheScope: 'private' }],
    ['test://forever', { ttlMs: Number.POSITIVE_INFINITY, cacheScope: 'public' }],
    ['test://unknown', { ttlMs: Number.NaN, cacheScope: 'x","y":"' }],
    ['test://empty', {}],
  ]);
  for (const [uri, cache] of hints) {
    server.resource(uri, { name: uri, read: () => ({ contents: [{ uri, text: '' }], cache: cache as CacheHint }) });
  }
  const client = new TestClient(server);
  const sent: unknown[] = [];
  for (const uri of hints.keys()) {
    const { ttlMs, cacheScope } = (await client.stateless('resources/read', { uri })).result;
    sent.push([ttlMs, cacheScope]);
  }
  const { ttlMs, cacheScope } = (await client.stateless('resources/list', {})).result;
  expect([...sent, [ttlMs, cacheScope]]).toEqual([
    [0, 'public'],
    [1_500, 'private'],
    [Number.MAX_SAFE_INTEGER, 'public'],
    [0, 'private'],
    [0, 'private'],
    [0, 'public'],
  ]);
});

test('an extension is advertised only under an identifier with a prefix', () => {
  const withExtension = (id: string) => () => createServer({ name: 'x', version: '1', extensions: { [id]: {} } });
  for (const id of ['com.example/spice', 'io.modelcontextprotocol/ui', 'a/', 'x-y.z9/a_b.c-d']) {
    expect(withExtension(id), id).not.toThrow();
  }
  for (const id of [
    'spice',
    '',
    '/spice',
    'com.example/-x',
    '9com/x',
    'com..example/x',
    'com-/x',
    'com.example/a b',
    'a/b/c',
  ]) {
    expect(withExtension(id), id).toThrow(`createServer, extensions: ${JSON.stringify(id)} is not an identifier`);
  }
});

test('a log message always has data', async () => {
  const server = createServer({ name: 'log', version: '1' });
  server.tool('log', {
    run: (_args, ctx) => {
      for (const data of [undefined, () => 1, Symbol('s'), false]) ctx.log('error', data);
      return 'logged';
    },
  });
  const client = await TestClient.open(server);
  await client.request('tools/call', { name: 'log' });
  const logged = client.received.filter(({ method }) => method === 'notifications/message');
  expect(logged.map(({ params }) => params.data)).toEqual([null, '() => 1', 'Symbol(s)', false]);
});

test('a completion never says that there are fewer values than there are', async () => {
  const server = createServer({ name: 'complete', version: '1' });
  const many = Array.from({ length: 150 }, (_, i) => String(i));
  const answers: Record<string, Completion> = {
    some: { values: ['a'], hasMore: true },
    cut: { values: many, hasMore: false },
    counted: { values: ['a'], total: 3 },
    all: { values: ['a'] },
  };
  server.prompt('pick', { args: { what: { complete: (value) => answers[value] as Completion } }, get: () => 'x' });
  const client = await TestClient.open(server);
  const seen: Record<string, unknown> = {};
  for (const value of Object.keys(answers)) {
    const params = { ref: { type: 'ref/prompt', name: 'pick' }, argument: { name: 'what', value } };
    const { values, ...rest } = (await client.request('completion/complete', params)).result.completion;
    seen[value] = [values.length, rest];
  }
  expect(seen).toEqual({
    some: [1, { hasMore: true }],
    cut: [100, { total: 150, hasMore: true }],
    counted: [1, { total: 3, hasMore: true }],
    all: [1, { total: 1, hasMore: false }],
  });
});

test('an embedded resource without text or blob is not sent as one, which no client could read', async () => {
  const server = createServer({ name: 'embedded', version: '1' });
  const returned: Record<string, object> = {
    text: { uri: 'a://b', text: '' },
    blob: { uri: 'a://b', blob: 'AA==' },
    neither: { uri: 'a://b' },
  };
  for (const [name, resource] of Object.entries(returned)) {
    server.tool(name, { run: () => [{ type: 'resource', resource }] as never });
  }
  const client = await TestClient.open(server);
  const types: string[] = [];
  for (const name of Object.keys(returned)) {
    const { content } = (await client.request('tools/call', { name })).result;
    types.push(content[0].type);
  }
  expect(types).toEqual(['resource', 'resource', 'text']);
});
