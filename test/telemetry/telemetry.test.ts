// Spans and metrics by the conventions for MCP, through the wire, with exporters that keep everything in memory.

import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Client, connect, inMemory } from '../../src/client/index.ts';
import { createServer, type HttpServer, type Server, serveHttp, UserError } from '../../src/index.ts';
import { clientTelemetry, telemetry } from '../../src/telemetry/index.ts';
import { useExporters } from './exporters.ts';

const { spans, named, metrics } = useExporters();

const clients: Client[] = [];
const listeners: HttpServer[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  for (const listener of listeners.splice(0)) await listener.close();
});

const eras = ['2025-11-25', '2026-07-28'] as const;

async function createTraced(name = 'first'): Promise<Server> {
  const server = createServer({ name, version: '1.0.0', logger: false });
  await server.use(telemetry());
  server.tool('add', {
    input: { type: 'object', properties: { a: { type: 'number' } } },
    run: async () => 'sum',
  });
  server.tool('fail', {
    run: () => {
      throw new UserError('no');
    },
  });
  server.tool('ask', {
    run: async (_args, ctx) => {
      const { action } = await ctx.elicit('Sure?', { type: 'object', properties: { yes: { type: 'boolean' } } });
      return action;
    },
  });
  server.resource('notes://today', { name: 'today', read: () => 'text' });
  server.prompt('greet', { get: () => 'hello' });
  return server;
}

async function open(server: Server, revision: string, traced = true): Promise<Client> {
  const client = await connect(inMemory(server), {
    revision,
    handlers: { elicit: () => ({ action: 'accept', content: { yes: true } }) },
    ...(traced ? { telemetry: clientTelemetry() } : {}),
  });
  clients.push(client);
  spans.reset();
  return client;
}

describe.each(eras)('on %s', (revision) => {
  test('a tool call is one trace of a client and a server span, with the attributes of the conventions', async () => {
    const client = await open(await createTraced(), revision);
    await client.callTool('add', { a: 1 });
    const sent = named('tools/call add', SpanKind.CLIENT);
    const served = named('tools/call add', SpanKind.SERVER);
    expect(served.spanContext().traceId).toBe(sent.spanContext().traceId);
    expect(served.parentSpanContext?.spanId).toBe(sent.spanContext().spanId);
    for (const span of [sent, served]) {
      expect(span.attributes).toMatchObject({
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'add',
        'gen_ai.operation.name': 'execute_tool',
        'mcp.protocol.version': revision,
        'jsonrpc.request.id': expect.any(String),
      });
      expect(span.attributes).not.toHaveProperty('gen_ai.tool.call.arguments');
      expect(span.status.code).toBe(SpanStatusCode.UNSET);
    }
  });

  test('errors have a type: the code of an error, tool_error for a failed tool', async () => {
    const client = await open(await createTraced(), revision);
    await client.callTool('fail');
    await expect(client.callTool('no-such-tool')).rejects.toThrow();
    for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
      expect(named('tools/call fail', kind)).toMatchObject({
        attributes: { 'error.type': 'tool_error' },
        status: { code: SpanStatusCode.ERROR },
      });
    }
    expect(named('tools/call _other', SpanKind.SERVER)).toMatchObject({
      attributes: { 'error.type': '-32602', 'rpc.response.status_code': '-32602', 'gen_ai.tool.name': '_other' },
      status: { code: SpanStatusCode.ERROR },
    });
    expect(named('tools/call no-such-tool', SpanKind.CLIENT).attributes).toMatchObject({ 'error.type': '-32602' });
  });

  test('prompts are named, resources only by their scheme', async () => {
    const client = await open(await createTraced(), revision);
    await client.getPrompt('greet');
    await client.readResource('notes://today');
    expect(named('prompts/get greet', SpanKind.SERVER).attributes).toMatchObject({ 'gen_ai.prompt.name': 'greet' });
    expect(named('resources/read', SpanKind.SERVER).attributes).toMatchObject({ 'mcp.resource.uri': 'notes:' });
  });

  test('one trace goes from a client through a server to the client of a second server', async () => {
    const second = await createTraced('second');
    const first = await createTraced();
    first.tool('relay', {
      run: async () => {
        const inner = await connect(inMemory(second), { revision, telemetry: clientTelemetry() });
        clients.push(inner);
        return (await inner.callTool('add')).content;
      },
    });
    const client = await open(first, revision);
    await client.callTool('relay');
    const outer = named('tools/call relay', SpanKind.SERVER);
    const inner = named('tools/call add', SpanKind.CLIENT);
    const last = named('tools/call add', SpanKind.SERVER);
    expect(inner.parentSpanContext?.spanId).toBe(outer.spanContext().spanId);
    expect(last.parentSpanContext?.spanId).toBe(inner.spanContext().spanId);
    expect(last.spanContext().traceId).toBe(named('tools/call relay', SpanKind.CLIENT).spanContext().traceId);
  });

  test('a context that the caller sets itself is not replaced', async () => {
    const client = await open(await createTraced(), revision);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await client.callTool('add', {}, { meta: { traceparent } });
    expect(named('tools/call add', SpanKind.SERVER).spanContext().traceId).toBe('0af7651916cd43dd8448eb211c80319c');
  });
});

test('an input request is sent and served in spans of the same trace; a retry is a second span of the call', async () => {
  const server = await createTraced();
  const pushed = await open(server, '2025-11-25');
  expect((await pushed.callTool('ask')).content).toEqual([{ type: 'text', text: 'accept' }]);
  const call = named('tools/call ask', SpanKind.SERVER);
  const sent = named('elicitation/create', SpanKind.CLIENT);
  const served = named('elicitation/create', SpanKind.SERVER);
  for (const span of [sent, served]) {
    expect(span.attributes).toMatchObject({
      'mcp.method.name': 'elicitation/create',
      'mcp.protocol.version': '2025-11-25',
      'jsonrpc.request.id': expect.any(String),
    });
    expect(span.spanContext().traceId).toBe(call.spanContext().traceId);
  }
  expect(sent.attributes['mcp.session.id']).toMatch(/^[0-9a-f]{16}$/);
  expect(sent.parentSpanContext?.spanId).toBe(call.spanContext().spanId);
  expect(served.parentSpanContext?.spanId).toBe(sent.spanContext().spanId);
  expect(sent.status.code).toBe(SpanStatusCode.UNSET);
  const retried = await open(server, '2026-07-28');
  await retried.callTool('ask');
  const rounds = spans
    .getFinishedSpans()
    .filter(({ name, kind }) => name === 'tools/call ask' && kind === SpanKind.CLIENT);
  expect(rounds.map(({ attributes }) => attributes['mooring.outcome'])).toEqual(['input-required', undefined]);
});

test('sampling and roots have spans too, and an error of the client is one of the span', async () => {
  const server = await createTraced();
  server.tool('both', {
    run: async (_args, ctx) => {
      await ctx.roots();
      const failed = await ctx.sample({ messages: [], maxTokens: 1 }).catch((error: Error) => error.message);
      return String(failed);
    },
  });
  const client = await connect(inMemory(server), {
    revision: '2025-11-25',
    handlers: {
      roots: () => [],
      sample: () => {
        throw new Error('no model');
      },
    },
  });
  clients.push(client);
  spans.reset();
  await client.callTool('both');
  expect(named('roots/list', SpanKind.CLIENT).status.code).toBe(SpanStatusCode.UNSET);
  const sampled = named('sampling/createMessage', SpanKind.CLIENT);
  expect(sampled.status.code).toBe(SpanStatusCode.ERROR);
  expect(sampled.attributes['error.type']).toMatch(/^-?\d+$/);
  expect(sampled.attributes['rpc.response.status_code']).toBe(sampled.attributes['error.type']);
});

test('a task is a trace of its own, linked to the call that created it; its polls have no spans', async () => {
  const server = await createTraced();
  let finish = (): void => {};
  server.tool('slow', {
    task: 'required',
    run: () => new Promise<string>((resolve) => (finish = () => resolve('done'))),
  });
  const client = await open(server, '2026-07-28');
  const handle = client.callTool('slow');
  await expect.poll(() => spans.getFinishedSpans().map(({ name }) => name)).toContain('tools/call slow');
  finish();
  expect((await handle).content).toEqual([{ type: 'text', text: 'done' }]);
  const created = named('tools/call slow', SpanKind.SERVER);
  expect(created.attributes['mooring.outcome']).toBe('detached');
  const run = named('task slow', SpanKind.INTERNAL);
  expect(run.parentSpanContext).toBeUndefined();
  expect(run.spanContext().traceId).not.toBe(created.spanContext().traceId);
  expect(run.links.map((link) => link.context.spanId)).toEqual([created.spanContext().spanId]);
  expect(run.attributes).toMatchObject({ 'gen_ai.tool.name': 'slow', 'mooring.task.attempt': 1 });
  expect(spans.getFinishedSpans().map(({ name }) => name)).not.toContain('tasks/get');
});

test('a task that something outside of its call creates is linked to that call, and to no other', async () => {
  const server = await createTraced();
  const waiting: (() => void)[] = [];
  server.tool('late', {
    task: { support: 'optional', start: 'on-detach' },
    run: async (_args, ctx) => {
      await new Promise<void>((resolve) => waiting.push(() => void ctx.detach().then(resolve)));
      return 'done';
    },
  });
  server.tool('wake', { run: () => void waiting.splice(0).map((detach) => detach()) });
  const client = await open(server, '2026-07-28');
  const late = client.callTool('late');
  await vi.waitUntil(() => waiting.length > 0);
  await client.callTool('wake');
  await late;
  const [link] = named('task late', SpanKind.INTERNAL).links;
  expect(link?.context.spanId).toBe(named('tools/call late', SpanKind.SERVER).spanContext().spanId);
});

test('where a framework executes the tool in a span already, there is no second one', async () => {
  const client = await open(await createTraced(), '2026-07-28');
  const framework = trace.getTracer('framework');
  await framework.startActiveSpan('execute_tool add', async (span) => {
    span.setAttribute('gen_ai.operation.name', 'execute_tool');
    await client.callTool('add');
    span.end();
  });
  const names = spans.getFinishedSpans().filter(({ kind }) => kind !== SpanKind.SERVER);
  expect(names.map(({ name }) => name)).toEqual(['execute_tool add']);
  expect(names[0]?.attributes).toMatchObject({ 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'add' });
  const served = named('tools/call add', SpanKind.SERVER);
  expect(served.parentSpanContext?.spanId).toBe(names[0]?.spanContext().spanId);
});

test('the span of an HTTP request is a link of the call, not its parent', async () => {
  const client = await open(await createTraced(), '2025-11-25');
  await trace.getTracer('http').startActiveSpan('POST /mcp', async (span) => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await client.callTool('add', {}, { meta: { traceparent } });
    const served = named('tools/call add', SpanKind.SERVER);
    expect(served.parentSpanContext?.spanId).toBe('b7ad6b7169203331');
    expect(served.links.map((link) => link.context.spanId)).toEqual([span.spanContext().spanId]);
    span.end();
  });
});

test('over HTTP the transport and both addresses are named', async () => {
  const listener = await serveHttp(await createTraced(), { port: 0 });
  listeners.push(listener);
  const client = await connect(listener.url, { telemetry: clientTelemetry() });
  clients.push(client);
  await client.callTool('add');
  const { port } = new URL(listener.url);
  const shared = { 'network.transport': 'tcp', 'network.protocol.name': 'http' };
  expect(named('tools/call add', SpanKind.CLIENT).attributes).toMatchObject({
    ...shared,
    'server.address': '127.0.0.1',
    'server.port': Number(port),
  });
  expect(named('tools/call add', SpanKind.SERVER).attributes).toMatchObject({
    ...shared,
    'client.address': '127.0.0.1',
  });
});

test('arguments and results are recorded only on request, without secrets', async () => {
  const server = createServer({ name: 'contents', version: '1.0.0', logger: false });
  await server.use(telemetry({ contents: true }));
  server.tool('echo', { input: { type: 'object' }, run: (args) => JSON.stringify(args) });
  const client = await open(server, '2026-07-28');
  await client.callTool('echo', { text: 'hello', password: 'hunter2' });
  const { attributes } = named('tools/call echo', SpanKind.SERVER);
  expect(attributes['gen_ai.tool.call.arguments']).toBe('{"text":"hello","password":"[redacted]"}');
  expect(attributes['gen_ai.tool.call.result']).toContain('hello');
});

const boundaries = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];

test('the four histograms have the boundaries of the conventions', async () => {
  const client = await open(await createTraced(), '2025-11-25');
  await client.callTool('add');
  await client.close();
  const found = await metrics();
  for (const name of [
    'mcp.server.operation.duration',
    'mcp.client.operation.duration',
    'mcp.client.session.duration',
    'mcp.server.session.duration',
  ]) {
    const metric = found.get(name);
    expect(metric?.descriptor.unit, name).toBe('s');
    const [point] = metric?.dataPoints ?? [];
    expect(point?.value).toMatchObject({ buckets: { boundaries } });
  }
  const points = found.get('mcp.server.operation.duration')?.dataPoints ?? [];
  expect(points.map(({ attributes }) => attributes['gen_ai.tool.name'])).toContain('add');
});
