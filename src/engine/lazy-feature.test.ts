import { expect, test } from 'vitest';
import { silentLogger } from '../common/logger.ts';
import { methods } from '../protocol/methods.ts';
import type { Feature } from './contract.ts';
import { callTool } from './features/call-tool.ts';
import { complete } from './features/completion.ts';
import { addFeatures, loadCallTool } from './features/index.ts';
import { getPrompt, listPrompts } from './features/prompts.ts';
import { listResources, listResourceTemplates, readResource } from './features/resources.ts';
import { toolOutcome } from './features/tool-outcome.ts';
import { roots } from './input-requests/input-request.ts';
import { inputRequired } from './input-requests/input-required.ts';
import { type FeatureInfo, lazyFeature } from './lazy-feature.ts';
import { createServer, type Server } from './server.ts';
import type { ServerOptions } from './server-options.ts';

const opening = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
const request = (id: number, method: string, params: object): object => ({ jsonrpc: '2.0', id, method, params });
const call = (id: number, name: string, args: object = {}): object =>
  request(id, 'tools/call', { name, arguments: args });
const cancel = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** A server whose tools/call is loaded when the test resolves the loads. */
function coldServer(options: Partial<ServerOptions> = {}) {
  const server = createServer({ name: 'cold', version: '1.0.0', ...options });
  const loads: { resolve: (feature: Feature) => void; reject: (error: Error) => void }[] = [];
  const load = (): Promise<Feature> => new Promise((resolve, reject) => loads.push({ resolve, reject }));
  const table = connect(server).channel.server.features;
  table.set(methods.callTool.name, lazyFeature(table, toolOutcome as FeatureInfo, load));
  const finish = async (): Promise<void> => {
    const feature = await loadCallTool();
    for (const { resolve } of loads.splice(0)) resolve(feature);
    await settled();
  };
  return { server, loads, finish };
}

/** Long enough for everything that only waits for promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function connect(server: Server) {
  const sent: Record<string, unknown>[] = [];
  const take = (text?: string): boolean => text !== undefined && sent.push(JSON.parse(text)) > 0;
  const channel = server.connect({ transport: 'memory' }, { duplex: true, push: take, end: (text) => void take(text) });
  channel.receive(opening);
  channel.receive({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { channel, sent };
}

test('a call that is cancelled, or whose connection is closed, before it can start never starts', async () => {
  const { server, finish } = coldServer();
  const ran: unknown[] = [];
  server.tool('act', { input: { type: 'object' }, run: ({ n }) => String(ran.push(n)) });
  const outcomes: string[] = [];
  let passed = 0;
  server.around((_request, next) => {
    passed++;
    return next();
  });
  server.observe({ ended: ({ outcome }) => void outcomes.push(outcome) });
  const gone = connect(server);
  const { channel, sent } = connect(server);
  outcomes.length = 0;
  passed = 0;
  gone.channel.receive(call(1, 'act', { n: 1 }));
  for (const n of [2, 3]) channel.receive(call(n, 'act', { n }));
  gone.channel.close();
  channel.receive(cancel(2));
  await finish();
  expect(ran).toEqual([3]);
  expect(passed).toBe(3);
  expect(outcomes).toEqual(['cancelled', 'cancelled', 'ok']);
  expect(sent.flatMap(({ id }) => id ?? [])).toEqual([0, 3]);
  // From now on calls are answered in the turn in which they arrive.
  channel.receive(call(4, 'act', { n: 4 }));
  expect(sent.at(-1)).toMatchObject({ id: 4, result: { content: [{ text: '2' }] } });
});

test('middleware may answer instead of a feature that is not loaded, and its failure counts as one', async () => {
  const { server, loads } = coldServer();
  server.tool('act', { run: () => 'not used' });
  server.prompt('ask', { args: { a: { complete: () => [] } }, get: () => 'not used' });
  server.resource('test://one', { name: 'one', read: () => 'not used' });
  const results: Record<string, object> = {
    'tools/call': { content: [{ type: 'text', text: 'from middleware' }], isError: true },
    'prompts/get': { messages: [{ role: 'user', content: { type: 'text', text: 'from middleware' } }] },
    'resources/read': { contents: [{ uri: 'test://one', text: 'from middleware' }] },
    'completion/complete': { values: ['from middleware'], total: 1, hasMore: false },
  };
  server.around(({ method }, next) => results[method] ?? next());
  const { channel, sent } = connect(server);
  const outcomes: string[] = [];
  server.observe({ ended: ({ outcome }) => void outcomes.push(outcome) });
  channel.receive(call(1, 'act'));
  channel.receive(request(2, 'prompts/get', { name: 'ask' }));
  channel.receive(request(3, 'resources/read', { uri: 'test://one' }));
  const completing = { ref: { type: 'ref/prompt', name: 'ask' }, argument: { name: 'a', value: '' } };
  channel.receive(request(4, 'completion/complete', completing));
  const { 'completion/complete': completion, ...others } = results;
  expect(sent.slice(1).map(({ result }) => result)).toMatchObject([...Object.values(others), { completion }]);
  expect(outcomes).toEqual(['failed', 'ok', 'ok', 'ok']);
  expect(loads).toHaveLength(0);
});

test('a lazy feature has the duration of the loaded one, and for tools/call everything but run', () => {
  const table = new Map<string, Feature>();
  addFeatures(table);
  const loaded: Record<string, Pick<Feature, 'duration'>> = {
    'resources/list': listResources,
    'resources/templates/list': listResourceTemplates,
    'resources/read': readResource,
    'prompts/list': listPrompts,
    'prompts/get': getPrompt,
    'completion/complete': complete,
  };
  for (const [method, { duration = 'immediate' }] of Object.entries(loaded)) {
    expect(`${method} ${table.get(method)?.duration}`).toBe(`${method} ${duration}`);
  }
  const { run: _run, ...rest } = callTool;
  expect(rest).toEqual(toolOutcome);
});

test('a timeout before the call could start is reported like any other', async () => {
  const { server, finish } = coldServer();
  let ran = false;
  server.tool('act', {
    timeoutMs: 1,
    run: () => {
      ran = true;
      return 'late';
    },
  });
  const { channel, sent } = connect(server);
  const ended = new Promise<string>((resolve) => server.observe({ ended: ({ outcome }) => resolve(outcome) }));
  channel.receive(call(1, 'act'));
  expect(await ended).toBe('failed');
  expect(sent.at(-1)).toMatchObject({ id: 1, result: { isError: true, content: [{ text: 'act timed out' }] } });
  await finish();
  expect(ran).toBe(false);
});

test('a load that fails is only an error of that call', async () => {
  const errors: unknown[] = [];
  const log = (): void => {};
  const error = (text: string) => void errors.push(text);
  const logger = { ...silentLogger, debug: log, info: log, notice: log, warn: log, error };
  const { server, loads, finish } = coldServer({ logger });
  server.tool('act', { run: () => 'done' });
  const { channel, sent } = connect(server);
  channel.receive(call(1, 'act'));
  loads.pop()?.reject(new Error('no such file'));
  await settled();
  expect(sent.at(-1)).toMatchObject({ id: 1, error: { code: -32603 } });
  expect(errors).toEqual(['tools/call act failed']);
  channel.receive(call(2, 'act'));
  await finish();
  expect(sent.at(-1)).toMatchObject({ id: 2, result: { content: [{ text: 'done' }] } });
});

test('with one call at a time the order is kept, and a cancelled call lets the next one start', async () => {
  const { server, finish } = coldServer({ rules: { execution: { concurrency: 1 } } });
  const ran: unknown[] = [];
  server.tool('act', { input: { type: 'object' }, run: async ({ n }) => String(ran.push(n)) });
  const { channel, sent } = connect(server);
  for (const n of [1, 2, 3]) channel.receive(call(n, 'act', { n }));
  channel.receive(cancel(1));
  await finish();
  await settled();
  expect(ran).toEqual([2, 3]);
  expect(sent.flatMap(({ id }) => id ?? [])).toEqual([0, 2, 3]);
});

test('a call that ends while its arguments are being validated does not reach the handler', async () => {
  const server = createServer({ name: 'cold', version: '1.0.0' });
  await server.prepare();
  let validated = (): void => {};
  const input = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => new Promise((resolve) => (validated = () => resolve({ value }))),
    },
  };
  let ran = false;
  server.tool('act', { input: { json: { type: 'object' }, schema: input } as never, run: () => String((ran = true)) });
  const { channel, sent } = connect(server);
  channel.receive(call(1, 'act'));
  channel.receive(cancel(1));
  validated();
  await settled();
  expect(ran).toBe(false);
  expect(sent).toHaveLength(1);
});

test('a handler that returned input requests does not run again for a call that has ended', async () => {
  const server = createServer({ name: 'cold', version: '1.0.0' });
  await server.prepare();
  let runs = 0;
  // The client does not support roots; an optional input request is skipped at once, while the call is cancelled.
  server.tool('ask', {
    run: () => {
      runs++;
      return inputRequired({ where: roots({ optional: true }) });
    },
  });
  const { channel, sent } = connect(server);
  channel.receive(call(1, 'ask'));
  channel.receive(cancel(1));
  // push.ts is loaded with the first input request.
  await import('./input-requests/push.ts');
  await settled();
  expect(runs).toBe(1);
  expect(sent).toHaveLength(1);
});

test('removing a registration twice does not remove its successor', () => {
  const server = createServer({ name: 'cold', version: '1.0.0' });
  const first = server.method('x/own', () => ({ n: 1 }));
  first.remove();
  server.method('x/own', () => ({ n: 2 }));
  first.remove();
  const { channel, sent } = connect(server);
  channel.receive(request(1, 'x/own', {}));
  expect(sent.at(-1)).toMatchObject({ result: { n: 2 } });
});
