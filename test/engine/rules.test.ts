// Each rule that a profile may change, tested over the wire, and the official behaviour without it.

import { expect, test } from 'vitest';
import { createServer, type Rules, type Server, WireError } from '../../src/index.ts';
import { TestClient } from '../support/test-client.ts';

function make(rules: Rules = {}): Server {
  const server = createServer({ name: 'rules', version: '1.0.0', rules });
  server.tool('greet', {
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: ({ name }) => `hello ${name}`,
  });
  server.tool('fail', {
    run: () => {
      throw new Error('no ink');
    },
  });
  server.tool('value', { run: () => ({ n: 1 }) });
  server.tool('embed', {
    run: () => ({ type: 'resource', resource: { uri: 'a://b', mimeType: 'text/plain', text: 'x' } }) as const,
  });
  server.tool('slow', {
    run: (_args, ctx) => new Promise((resolve) => ctx.signal.addEventListener('abort', () => resolve('late'))),
  });
  return server;
}

const old = '2024-11-05';

test('handshakeVersions: with one version, that one is always negotiated', async () => {
  const server = make({ handshakeVersions: [old] });
  const client = new TestClient(server);
  const { result } = await client.request('initialize', { protocolVersion: '2025-11-25' });
  expect(result.protocolVersion).toBe(old);
});

test('lifecycle.lenientInitialize: false requires every field', async () => {
  const client = new TestClient(make({ lifecycle: { lenientInitialize: false } }));
  expect((await client.request('initialize', {})).error?.message).toContain('protocolVersion');
  expect((await client.request('initialize', { protocolVersion: old, capabilities: {} })).error?.message).toContain(
    'clientInfo',
  );
});

test('lifecycle.requestsFrom: initialized rejects requests before the notification, and ping if a rule says so', async () => {
  const client = new TestClient(make({ lifecycle: { requestsFrom: 'initialized', pingBeforeInit: false } }));
  expect((await client.request('ping')).error?.code).toBe(-32600);
  await client.request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'x', version: '1' },
  });
  expect((await client.request('tools/list')).error?.code).toBe(-32600);
  expect((await client.stateless('tools/list')).result.tools).toHaveLength(5);
  client.notify('notifications/initialized');
  expect((await client.request('tools/list')).result.tools).toHaveLength(5);
  expect((await client.request('ping')).result).toEqual({});
});

test('lifecycle.initializedAliases: "initialized" counts as the notification as well', async () => {
  const client = new TestClient(make({ lifecycle: { requestsFrom: 'initialized' } }));
  await client.request('initialize', {});
  client.notify('initialized', {});
  expect((await client.request('tools/list')).result.tools).toHaveLength(5);
});

test('batch: true accepts arrays on revisions without batches, false rejects them everywhere', async () => {
  const on = await TestClient.open(make({ batch: true }), '2025-11-25');
  on.send([{ jsonrpc: '2.0', id: 'b', method: 'ping' }]);
  expect((await on.next((each) => each.id === 'b')).result).toEqual({});
  const off = await TestClient.open(make({ batch: false }), old);
  off.send([{ jsonrpc: '2.0', id: 'b', method: 'ping' }]);
  expect((await off.next((each) => each.error !== undefined)).error?.code).toBe(-32600);
});

test('errors.style: details has the generic message and puts the specific one in data', async () => {
  const client = await TestClient.open(make({ errors: { style: 'details', unknownTool: 'methodNotFound' } }), old);
  expect((await client.call('missing', {})).error).toEqual({
    code: -32601,
    message: 'Method not found',
    data: { details: 'Unknown tool: missing' },
  });
  expect((await client.request('tools/call')).error).toMatchObject({ code: -32602, message: 'Invalid params' });
  expect((await client.request('no/such')).error).toEqual({
    code: -32601,
    message: 'Method not found',
    data: { details: 'no/such' },
  });
  // The stateless revision keeps the official form.
  expect((await client.stateless('tools/call', { name: 'missing' })).error).toEqual({
    code: -32602,
    message: 'Unknown tool: missing',
  });
});

test('errors.unknownTool, invalidArguments, toolText: errors become results with a text of the profile', async () => {
  const rules: Rules = {
    errors: {
      unknownTool: 'result',
      invalidArguments: 'result',
      toolText: (message, failure) =>
        failure === 'arguments' ? `Validation error: ${message}` : JSON.stringify({ error: message }),
    },
    tools: { missingArguments: 'error', jsonIndent: 2 },
  };
  const client = await TestClient.open(make(rules), old);
  const text = async (name: string, args?: object): Promise<string> =>
    (await client.call(name, args)).result.content[0].text;
  expect(await text('missing', {})).toBe('{"error":"Unknown tool: missing"}');
  expect(await text('fail', {})).toBe('{"error":"no ink"}');
  expect(await text('greet')).toBe('{"error":"No arguments provided"}');
  expect(await text('greet', {})).toMatch(/^Validation error: /);
  expect(await text('value', {})).toBe('{\n  "n": 1\n}');
});

test('errors.invalidArguments: error makes it a protocol error on every handshake revision', async () => {
  const client = await TestClient.open(make({ errors: { invalidArguments: 'error' } }), '2025-11-25');
  expect((await client.call('greet', {})).error?.code).toBe(-32602);
});

test('errors.resourceNotFound: invalidParams changes the code', async () => {
  const server = make({ errors: { resourceNotFound: 'invalidParams' } });
  server.resource('a://b', { name: 'b', read: () => 'x' });
  const client = await TestClient.open(server, old);
  expect((await client.request('resources/read', { uri: 'a://c' })).error?.code).toBe(-32602);
});

test('errors.handler: an exception becomes a protocol error of the profile', async () => {
  const rules: Rules = {
    errors: {
      style: 'details',
      handler: (error) => new WireError('application', (error as Error).message, { code: -32001 }),
    },
  };
  const client = await TestClient.open(make(rules), old);
  expect((await client.call('fail', {})).error).toMatchObject({ code: -32001, data: { details: 'no ink' } });
  expect((await client.stateless('tools/call', { name: 'fail' })).result.isError).toBe(true);
});

test('tools.explicitIsErrorFalse and content.flatResource', async () => {
  const client = await TestClient.open(
    make({ tools: { explicitIsErrorFalse: true }, content: { flatResource: true } }),
  );
  expect((await client.call('greet', { name: 'Ada' })).result.isError).toBe(false);
  expect((await client.call('embed')).result.content[0]).toEqual({
    type: 'resource',
    uri: 'a://b',
    mimeType: 'text/plain',
    text: 'x',
  });
});

test('execution.timeoutMs: a call that takes too long returns a failure, and the handler is aborted', async () => {
  const client = await TestClient.open(make({ execution: { timeoutMs: 80 } }));
  expect((await client.call('slow')).result).toEqual({
    content: [{ type: 'text', text: 'slow timed out' }],
    isError: true,
  });
  expect((await client.stateless('tools/call', { name: 'slow' })).result.isError).toBe(true);
});

test('execution.concurrency: one call at a time, in order; ping is not affected', async () => {
  const server = createServer({ name: 'queue', version: '1', rules: { execution: { concurrency: 1 } } });
  const order: string[] = [];
  let release: () => void = () => {};
  server.tool('first', {
    run: () => new Promise((resolve) => (release = () => resolve(order.push('first') as never))),
  });
  server.tool('second', { run: () => void order.push('second') });
  const client = await TestClient.open(server);
  const first = client.call('first');
  const second = client.call('second');
  expect((await client.request('ping')).result).toEqual({});
  expect(order).toEqual([]);
  release();
  await Promise.all([first, second]);
  expect(order).toEqual(['first', 'second']);
});

test('execution.concurrency: a queued call can be cancelled before it starts', async () => {
  const server = createServer({ name: 'queue', version: '1', rules: { execution: { concurrency: 1 } } });
  let release: () => void = () => {};
  let ran = false;
  server.tool('first', { run: () => new Promise((resolve) => (release = () => resolve('done'))) });
  server.tool('second', { run: () => void (ran = true) });
  const client = await TestClient.open(server);
  const first = client.call('first');
  client.send({ jsonrpc: '2.0', id: 'q', method: 'tools/call', params: { name: 'second' } });
  client.notify('notifications/cancelled', { requestId: 'q' });
  release();
  await first;
  await client.request('ping');
  expect(ran).toBe(false);
  expect(client.received.some((each) => each.id === 'q')).toBe(false);
});
