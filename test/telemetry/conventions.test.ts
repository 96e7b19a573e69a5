// Every attribute of the OpenTelemetry conventions for MCP on the transports and revisions that it applies to, and every
// histogram.

import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { type Attributes, propagation, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Client, connect, InputFailure, inMemory, type Target } from '../../src/client/index.ts';
import type { TransportListener } from '../../src/client/transports/transport.ts';
import { createServer, type Server, serveHttp, serveStdio, UserError } from '../../src/index.ts';
import { clientTelemetry, telemetry } from '../../src/telemetry/index.ts';
import { clientOf, gatewayOf } from '../gateway/fixture.ts';
import { useClosers } from '../support/closers.ts';
import { useExporters } from './exporters.ts';

const closers = useClosers();
const { spans, named, metrics, series } = useExporters();

const eras = ['2025-11-25', '2026-07-28'] as const;
type Kind = 'stdio' | 'http' | 'sse' | 'websocket';
const connections: readonly (readonly [Kind, string])[] = [
  ...eras.flatMap((era) => [['stdio', era] as const, ['http', era] as const, ['websocket', era] as const]),
  ['sse', '2024-11-05'],
];

async function createTraced(): Promise<Server> {
  const server = createServer({ name: 'conventions', version: '1.0.0', logger: false });
  await server.use(telemetry());
  server.tool('add', { run: () => 'sum' });
  server.tool('fail', {
    run: () => {
      throw new UserError('no');
    },
  });
  server.tool('ask', {
    run: async (_args, ctx) => {
      const answer = await ctx.elicit('Sure?', { type: 'object', properties: {} }).catch((error: Error) => error);
      return answer instanceof Error ? 'failed' : answer.action;
    },
  });
  server.tool('baggage', {
    run: () => propagation.getActiveBaggage()?.getEntry('user')?.value ?? 'none',
  });
  server.prompt('greet', { get: () => 'hello' });
  server.resource('notes://today', { name: 'today', read: () => 'text' });
  return server;
}

/** A server at the other end of two pipes. */
function pipesTo(server: Server): Target {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  return {
    kind: 'stdio',
    address: 'node server.js',
    async open(listener: TransportListener) {
      createInterface(stdout).on('line', (line) => listener.receive(line));
      await serveStdio(server, { stdin, stdout, logger: { ...console, enabled: () => false } as never });
    },
    send: ({ text }: { readonly text: string }) => void stdin.write(`${text}\n`),
    close: async () => void stdin.end(),
  };
}

interface Opened {
  readonly client: Client;
  readonly port: number;
}

async function open(kind: Kind, revision: string, options: Parameters<typeof connect>[1] = {}): Promise<Opened> {
  const server = await createTraced();
  let target = pipesTo(server);
  let port = 0;
  if (kind !== 'stdio') {
    const http = await serveHttp(server, { port: 0, graceMs: 100 });
    closers.push(() => http.close());
    port = http.port;
    const origin = `127.0.0.1:${port}`;
    const urls = { http: `http://${origin}/mcp`, sse: `http://${origin}/sse`, websocket: `ws://${origin}/mcp` };
    target = kind === 'sse' ? { type: 'sse', url: urls.sse } : urls[kind];
  }
  const client = await connect(target, { revision, telemetry: clientTelemetry(), ...options });
  closers.push(() => client.close());
  return { client, port };
}

const network: Readonly<Record<Kind, Attributes>> = {
  stdio: { 'network.transport': 'pipe' },
  http: { 'network.transport': 'tcp', 'network.protocol.name': 'http', 'network.protocol.version': '1.1' },
  sse: { 'network.transport': 'tcp', 'network.protocol.name': 'http', 'network.protocol.version': '1.1' },
  websocket: { 'network.transport': 'tcp', 'network.protocol.name': 'websocket', 'network.protocol.version': '13' },
};

/** Attributes that only some transports have. */
const optional = [
  ...['network.protocol.name', 'network.protocol.version', 'client.address', 'client.port'],
  ...['server.address', 'server.port'],
];

// Transports are loaded when they are first used, which takes long on a busy machine.
beforeAll(async () => {
  for (const [kind, revision] of connections) await (await open(kind, revision)).client.close();
}, 120_000);

describe.each(connections)('over %s on %s', (kind, revision) => {
  test('the spans of a tool call have the attributes of the conventions and no others', async () => {
    const { client, port } = await open(kind, revision);
    await client.callTool('add');
    const shared = {
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'add',
      'gen_ai.operation.name': 'execute_tool',
      'mcp.protocol.version': revision,
      'jsonrpc.request.id': expect.stringMatching(/./),
      ...network[kind],
    };
    const sent = named('tools/call add', SpanKind.CLIENT).attributes;
    const served = named('tools/call add', SpanKind.SERVER).attributes;
    const isNetwork = kind !== 'stdio';
    const hasSession = revision < '2026';
    const session = { 'mcp.session.id': expect.stringMatching(/^[0-9a-f]{16}$/) };
    expect(sent).toEqual({
      ...shared,
      ...(isNetwork ? { 'server.address': '127.0.0.1', 'server.port': port } : {}),
      // Only Streamable HTTP tells the client an id.
      ...(hasSession && kind === 'http' ? session : {}),
    });
    expect(served).toEqual({
      ...shared,
      ...(isNetwork ? { 'client.address': '127.0.0.1', 'client.port': expect.any(Number) } : {}),
      ...(hasSession ? session : {}),
    });
    if (!isNetwork) for (const name of optional) expect(served).not.toHaveProperty(name);
  });

  test('the histograms of operations name method, tool, revision, transport and error', async () => {
    const { client, port } = await open(kind, revision);
    await client.callTool('add');
    await client.callTool('fail');
    await client.callTool('no-such-tool').catch(() => {});
    await client.readResource('notes://today');
    const shared = { 'mcp.method.name': 'tools/call', 'mcp.protocol.version': revision, ...network[kind] };
    const rejected = { 'error.type': '-32602', 'rpc.response.status_code': '-32602' };
    const atServer = await series('mcp.server.operation.duration');
    const tool = (name: string) => ({ ...shared, 'gen_ai.tool.name': name, 'gen_ai.operation.name': 'execute_tool' });
    expect(atServer).toContainEqual(tool('add'));
    expect(atServer).toContainEqual({ ...tool('fail'), 'error.type': 'tool_error' });
    expect(atServer).toContainEqual({ ...tool('_other'), ...rejected });
    // A time series for every URI would be too many.
    expect(atServer).toContainEqual({ ...shared, 'mcp.method.name': 'resources/read' });
    const atClient = await series('mcp.client.operation.duration');
    const address = kind === 'stdio' ? {} : { 'server.address': '127.0.0.1', 'server.port': port };
    expect(atClient).toContainEqual({ ...tool('add'), ...address });
    expect(atClient).toContainEqual({ ...tool('fail'), ...address, 'error.type': 'tool_error' });
    expect(atClient).toContainEqual({ ...tool('no-such-tool'), ...address, ...rejected });
  });

  test('the histograms of sessions name revision and transport', async () => {
    const { client, port } = await open(kind, revision);
    await client.callTool('add');
    await client.close();
    const shared = { 'mcp.protocol.version': revision, ...network[kind] };
    const address = kind === 'stdio' ? {} : { 'server.address': '127.0.0.1', 'server.port': port };
    expect(await series('mcp.client.session.duration')).toContainEqual({ ...shared, ...address });
    // Stateless requests over HTTP belong to no session.
    if (kind === 'http' && revision >= '2026') return;
    await expect.poll(() => series('mcp.server.session.duration'), { timeout: 20_000 }).toContainEqual(shared);
  });
});

test('the time of a session over HTTP is counted from initialize', async () => {
  const before = performance.now();
  const { client } = await open('http', '2025-06-18');
  await client.close();
  const found = await metrics();
  const points = found.get('mcp.server.session.duration')?.dataPoints ?? [];
  const point = points.find(({ attributes }) => attributes['mcp.protocol.version'] === '2025-06-18');
  const { sum } = (point as NonNullable<typeof point>).value as { readonly sum: number };
  expect(sum).toBeGreaterThanOrEqual(0);
  // The clocks differ a little.
  expect(sum).toBeLessThanOrEqual((performance.now() - before) / 1000 + 5);
});

test('the request that negotiates the revision has none', async () => {
  await open('http', '2025-06-18');
  for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
    expect(named('initialize', kind).attributes).not.toHaveProperty('mcp.protocol.version');
  }
  for (const metric of ['mcp.client.operation.duration', 'mcp.server.operation.duration']) {
    const handshakes = (await series(metric)).filter((each) => each['mcp.method.name'] === 'initialize');
    expect(handshakes.length).toBeGreaterThan(0);
    expect(handshakes.filter((each) => 'mcp.protocol.version' in each)).toEqual([]);
  }
});

test('a connection that was lost has an error type', async () => {
  const server = await createTraced();
  const http = await serveHttp(server, { port: 0, graceMs: 100 });
  const client = await connect(`ws://127.0.0.1:${http.port}/mcp`, { telemetry: clientTelemetry(), reconnect: false });
  closers.push(() => client.close());
  await client.callTool('add');
  await http.close();
  const lost = expect.objectContaining({ 'server.port': http.port, 'error.type': 'connection-lost' });
  await expect.poll(() => series('mcp.client.session.duration'), { timeout: 20_000 }).toContainEqual(lost);
});

test('a request of the server is timed on both sides, and its error has the code of the response', async () => {
  const fail = (): never => {
    throw new InputFailure('declined', 'not now');
  };
  const { client } = await open('websocket', '2025-11-25', { handlers: { elicit: fail } });
  expect((await client.callTool('ask')).content).toEqual([{ type: 'text', text: 'failed' }]);
  for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
    expect(named('elicitation/create', kind)).toMatchObject({
      attributes: { 'error.type': '-1', 'rpc.response.status_code': '-1', 'network.protocol.name': 'websocket' },
      status: { code: SpanStatusCode.ERROR },
    });
  }
  const failed = expect.objectContaining({
    'mcp.method.name': 'elicitation/create',
    'error.type': '-1',
    'rpc.response.status_code': '-1',
  });
  expect(await series('mcp.client.operation.duration')).toContainEqual(failed);
  expect(await series('mcp.server.operation.duration')).toContainEqual(failed);
});

test.each(eras)('on %s baggage and tracestate reach the handler, and what it calls', async (revision) => {
  const last = await createTraced();
  const first = createServer({ name: 'first', version: '1.0.0', logger: false });
  await first.use(telemetry());
  first.tool('relay', {
    run: async () => {
      const client = await clientOf(closers, last, { revision, telemetry: clientTelemetry() });
      return (await client.callTool('baggage')).content;
    },
  });
  const client = await clientOf(closers, first, { revision });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const meta = { traceparent, tracestate: 'vendor=1', baggage: 'user=alice' };
  expect((await client.callTool('relay', {}, { meta })).content).toEqual([{ type: 'text', text: 'alice' }]);
  for (const name of ['tools/call relay', 'tools/call baggage']) {
    const context = named(name, SpanKind.SERVER).spanContext();
    expect(context.traceId).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(context.traceState?.get('vendor')).toBe('1');
  }
});

test.each(eras)('on %s one trace goes through a gateway, with a span for each side of it', async (revision) => {
  const upstream = await createTraced();
  const options = clientTelemetry({ attributes: { 'mooring.upstream': 'notes' } });
  const gateway = gatewayOf(closers, { notes: upstream }, {}, { connectOptions: () => ({ telemetry: options }) });
  const server = gateway.view('') as Server;
  await server.use(telemetry());
  const client = await clientOf(closers, server, { revision, telemetry: clientTelemetry() });
  await client.listTools();
  spans.reset();
  await client.callTool('notes__add');
  const [outer, atGateway] = [SpanKind.CLIENT, SpanKind.SERVER].map((kind) => named('tools/call notes__add', kind));
  const [sent, atUpstream] = [SpanKind.CLIENT, SpanKind.SERVER].map((kind) => named('tools/call add', kind));
  expect(sent?.attributes['mooring.upstream']).toBe('notes');
  expect(atGateway?.parentSpanContext?.spanId).toBe(outer?.spanContext().spanId);
  expect(sent?.parentSpanContext?.spanId).toBe(atGateway?.spanContext().spanId);
  expect(atUpstream?.parentSpanContext?.spanId).toBe(sent?.spanContext().spanId);
});

test.each(eras)('on %s arguments and results are recorded by a client only on request', async (revision) => {
  const server = createServer({ name: 'contents', version: '1.0.0', logger: false });
  server.tool('echo', { input: { type: 'object' }, run: (args) => JSON.stringify(args) });
  const traced = await clientOf(closers, server, { revision, telemetry: clientTelemetry({ contents: true }) });
  await traced.callTool('echo', { text: 'hello', password: 'hunter2' });
  const { attributes } = named('tools/call echo', SpanKind.CLIENT);
  expect(attributes['gen_ai.tool.call.arguments']).toBe('{"text":"hello","password":"[redacted]"}');
  expect(attributes['gen_ai.tool.call.result']).toContain('hello');
  spans.reset();
  const plain = await clientOf(closers, server, { revision, telemetry: clientTelemetry() });
  await plain.callTool('echo', { text: 'hello' });
  for (const name of Object.keys(named('tools/call echo', SpanKind.CLIENT).attributes)) {
    expect(name).not.toMatch(/gen_ai\.tool\.call/);
  }
});

test('prompts and resources have their attributes on both sides', async () => {
  const server = await createTraced();
  const client = await connect(inMemory(server), { telemetry: clientTelemetry({ uris: true }) });
  closers.push(() => client.close());
  await client.getPrompt('greet');
  await client.readResource('notes://today');
  for (const kind of [SpanKind.CLIENT, SpanKind.SERVER]) {
    const prompt = named('prompts/get greet', kind).attributes;
    expect(prompt['gen_ai.prompt.name']).toBe('greet');
    expect(prompt).not.toHaveProperty('gen_ai.operation.name');
  }
  expect(named('resources/read', SpanKind.CLIENT).attributes['mcp.resource.uri']).toBe('notes://today');
  expect(named('resources/read', SpanKind.SERVER).attributes['mcp.resource.uri']).toBe('notes:');
});
