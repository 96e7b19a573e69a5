// The states of upstreams: when a server counts as usable, and how it comes back.

import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { type Client, connect, inMemory, type Transport } from '../../src/client/index.ts';
import { silentLogger } from '../../src/common/logger.ts';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type UpstreamConfig,
  type UpstreamStatus,
} from '../../src/gateway/index.ts';
import { Pins } from '../../src/gateway/pins/index.ts';
import { createServer } from '../../src/index.ts';
import { startHttp, useClosers } from '../support/closers.ts';
import { isRunning } from '../support/is-running.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TestClient } from '../support/test-client.ts';
import { scripted, tool } from './answers.ts';
import { clientOf, gatewayConfig, upstream } from './fixture.ts';
import { type HttpUpstream, httpUpstream } from './http-upstream.ts';
import { scriptedUpstream } from './scripted-upstream.ts';

const closers = useClosers(afterEach);
const script = join(import.meta.dirname, 'servers/faulty.mjs');

afterEach(() => {
  vi.useRealTimers();
});

function gatewayWith(config: UpstreamConfig, options: GatewayOptions = {}): Gateway {
  const gateway = createGateway(gatewayConfig([config]), { logger: false, ...options });
  closers.push(() => gateway.close());
  return gateway;
}

const sessionClient = (gateway: Gateway): Promise<Client> =>
  clientOf(closers, gateway.server, { revision: '2025-11-25' });

/** A required server over HTTP. */
const remote = ({ url }: HttpUpstream, given: Partial<UpstreamConfig> = {}): UpstreamConfig =>
  upstream('one', { entry: { url }, revision: '2025-06-18', required: true, ...given });

const oneTry = { minMs: 1, maxMs: 1, tries: 1, withinMs: 60_000 };

test('a server that is down is tried again without a call, and makes the gateway ready when it is back', async () => {
  const program = join(temporaryFolder(), 'later.mjs');
  const entry = { command: process.execPath, args: [program] };
  const config = upstream('one', { entry, start: 'eager', required: true, restart: oneTry, revision: '2025-06-18' });
  const gateway = gatewayWith(config, { retryDownMs: 100 });
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('down');
  expect(gateway.isReady).toBe(false);
  copyFileSync(script, program);
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('ready');
  expect(gateway.isReady).toBe(true);
});

/** A server that ends when its tools are listed. */
function endingProgram(): string {
  const program = join(temporaryFolder(), 'ends.mjs');
  writeFileSync(
    program,
    readFileSync(script, 'utf8').replace("'tools/list') send", "'tools/list') process.exit(4); else if (0) send"),
  );
  return program;
}

const degradedBy = (reason: RegExp) => ({ state: 'degraded', reason: expect.stringMatching(reason) });

test('lists that a server could not return at first are read again, and announced', async () => {
  let isWarm = false;
  const notWarm = { code: -32603, message: 'still loading' };
  const target = scripted({
    'tools/list': (_params, send, id) => (isWarm ? { tools: [tool('work')] } : void send({ id, error: notWarm })),
  });
  const gateway = gatewayWith(upstream('one', { revision: '2025-06-18' }), { retryDownMs: 100, target: () => target });
  const client = await sessionClient(gateway);
  await client.listTools().catch(() => {});
  await expect.poll(() => gateway.status()[0]).toMatchObject(degradedBy(/still loading/));
  isWarm = true;
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('ready');
  expect((await client.listTools({ cache: 'refresh' })).map(({ name }) => name)).toEqual(['one__work']);
});

test('a server that ends while its first lists are read is started again to read them', async () => {
  const program = endingProgram();
  const config = upstream('one', {
    entry: { command: process.execPath, args: [program] },
    restart: { ...oneTry, tries: 100 },
    revision: '2025-06-18',
  });
  const gateway = gatewayWith(config, { retryDownMs: 100 });
  const client = await sessionClient(gateway);
  await client.listTools().catch(() => {});
  await expect
    .poll(() => gateway.status()[0])
    .toMatchObject(degradedBy(/its lists could not be read: .*exited with code 4/));
  copyFileSync(script, program);
  const names = async () => (await client.listTools({ cache: 'refresh' }).catch(() => [])).map(({ name }) => name);
  await expect.poll(names, { timeout: 5_000 }).toContain('one__pid');
  expect(gateway.status()[0]?.state).toBe('ready');
});

test('it is tried every minute, until the gateway is closed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  let starts = 0;
  const config = upstream('one', { start: 'eager', restart: oneTry });
  const states: string[] = [];
  const gateway = gatewayWith(config, {
    target: () => () => {
      starts++;
      throw new Error('not there');
    },
    onState: ({ state }) => states.push(state),
  });
  await vi.waitFor(() => expect(states).toContain('down'));
  const first = starts;
  await vi.advanceTimersByTimeAsync(59_000);
  expect(starts).toBe(first);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(starts).toBe(2 * first);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(starts).toBe(3 * first);
  await gateway.close();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(starts).toBe(3 * first);
});

test('more callers than maxProcesses can use a server over HTTP at a time, each with a connection of its own', async () => {
  const server = await httpUpstream(closers);
  let answer: () => void = () => {};
  server.answer = new Promise((resolve) => (answer = resolve));
  const gateway = gatewayWith(remote(server, { isolation: 'session', maxProcesses: 2 }));
  const clients = await Promise.all(Array.from({ length: 3 }, () => sessionClient(gateway)));
  const calls = clients.map((client) => client.callTool('one__work'));
  await expect.poll(() => server.calls).toBe(3);
  answer();
  for (const call of calls) expect((await call).isError).toBeUndefined();
  expect(server.requests.filter((method) => method === 'initialize').length).toBeGreaterThanOrEqual(3);
});

test('a server over HTTP that cannot be reached is down until a call or the next attempt reaches it', async () => {
  const server = await httpUpstream(closers);
  const gateway = gatewayWith(remote(server), { retryDownMs: 100 });
  const client = await clientOf(closers, gateway.server);
  await client.callTool('one__work');
  await server.stop();
  expect((await client.callTool('one__work')).isError).toBe(true);
  await expect.poll(() => gateway.status()[0]?.state).toBe('down');
  expect(gateway.isReady).toBe(false);
  await server.start();
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('ready');
  expect(gateway.isReady).toBe(true);
  expect((await client.callTool('one__work')).isError).toBeUndefined();
});

test('after it was down, the lists of a server are read before the next call', async () => {
  const server = await httpUpstream(closers);
  const gateway = gatewayWith(remote(server));
  const client = await clientOf(closers, gateway.server);
  await client.callTool('one__work');
  await server.stop();
  await client.callTool('one__work');
  await expect.poll(() => gateway.status()[0]?.state).toBe('down');
  await server.start();
  server.requests.length = 0;
  expect((await client.callTool('one__work')).isError).toBeUndefined();
  expect(server.requests.indexOf('tools/list')).toBeLessThan(server.requests.indexOf('tools/call'));
  expect(gateway.status()[0]?.state).toBe('ready');
});

test('a server that wants other credentials later needs a login, until it accepts a call', async () => {
  const server = await httpUpstream(closers);
  const gateway = gatewayWith(remote(server));
  const client = await clientOf(closers, gateway.server);
  await client.callTool('one__work');
  server.needsLogin = true;
  expect((await client.callTool('one__work')).isError).toBe(true);
  expect(gateway.status()[0]?.state).toBe('needs-login');
  expect(gateway.isReady).toBe(false);
  server.needsLogin = false;
  expect((await client.callTool('one__work')).isError).toBeUndefined();
  expect(gateway.status()[0]?.state).toBe('ready');
});

test('a connection that cannot be opened does not make a server down while another is open', async () => {
  const program = join(temporaryFolder(), 'program.mjs');
  copyFileSync(script, program);
  const entry = { command: process.execPath, args: [program] };
  const given = { entry, isolation: 'session', required: true, restart: oneTry, revision: '2025-06-18' } as const;
  const states: UpstreamStatus[] = [];
  const gateway = gatewayWith(upstream('one', given), { retryDownMs: 200, onState: (each) => states.push(each) });
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => sessionClient(gateway)));
  const works = async (client: Client | undefined): Promise<boolean> =>
    (await client?.callTool('one__pid'))?.isError !== true;
  expect(await works(first)).toBe(true);
  rmSync(program);
  expect(await works(second)).toBe(false);
  expect(states).toContainEqual(
    expect.objectContaining({ state: 'degraded', reason: expect.stringContaining('program.mjs') }),
  );
  expect(states.map(({ state }) => state)).not.toContain('down');
  expect(gateway.isReady).toBe(true);
  expect(await works(first)).toBe(true);
  copyFileSync(script, program);
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('ready');
  expect(await works(third)).toBe(true);
  // Each session has its own process, and none of them was started again.
  expect(gateway.status()[0]).toMatchObject({ restarts: 0 });
});

test('a server whose new tools are not accepted yet is ready, and says how many are withheld', async () => {
  const server = await httpUpstream(closers);
  const pins = new Pins({ file: join(temporaryFolder(), 'pins.json') });
  const gateway = gatewayWith(remote(server, { newTools: 'hold' }), { pins });
  await gateway.readLists();
  expect(gateway.status()[0]).toMatchObject({ state: 'ready', withheldTools: 1 });
});

test('a server with a process for each call is idle between calls', async () => {
  const entry = { command: process.execPath, args: [script] };
  const gateway = gatewayWith(upstream('one', { entry, isolation: 'call', revision: '2025-06-18' }));
  const client = await clientOf(closers, gateway.server);
  await client.callTool('one__pid');
  await client.callTool('one__pid');
  await expect.poll(() => gateway.status()[0]).toMatchObject({ state: 'idle', connections: 0, restarts: 0 });
});

test('the lists of a server with a process for each call are not read for every call', async () => {
  const { target, sides } = scriptedUpstream();
  const gateway = gatewayWith(upstream('one', { isolation: 'call', revision: '2025-11-25' }), { target: () => target });
  const client = await clientOf(closers, gateway.server);
  for (let n = 0; n < 3; n++) await client.callTool('one__work');
  const methods = sides.flatMap(({ received }) => received.map(({ method }) => method));
  expect(methods.filter((method) => method === 'tools/call')).toHaveLength(3);
  expect(methods.filter((method) => method === 'tools/list')).toHaveLength(1);
});

/** Asks a server with a process for each session for its process. */
async function processOf(client: Client): Promise<number> {
  const { content } = await client.callTool('one__pid');
  const pid = Number((content[0] as { text: string }).text);
  expect(isRunning(pid)).toBe(true);
  return pid;
}

const perSession = (): UpstreamConfig => {
  const entry = { command: process.execPath, args: [script] };
  return upstream('one', { entry, isolation: 'session', revision: '2025-06-18' });
};

test.each(['http', 'sse', 'websocket', 'memory'] as const)(
  'the process of a session ends with the session, over %s',
  async (kind) => {
    const gateway = gatewayWith(perSession());
    const { http } = await startHttp(closers, gateway.server);
    const { port } = http;
    const targets = {
      http: http.url,
      sse: { url: `http://127.0.0.1:${port}/sse`, type: 'sse' },
      websocket: `ws://127.0.0.1:${port}/mcp`,
      memory: inMemory(gateway.server),
    } as const;
    const other = await sessionClient(gateway);
    const others = await processOf(other);
    const client = await connect(targets[kind], { revision: kind === 'sse' ? '2024-11-05' : '2025-11-25' });
    const pid = await processOf(client);
    await client.close();
    await expect.poll(() => isRunning(pid), { timeout: 5_000 }).toBe(false);
    expect(isRunning(others)).toBe(true);
  },
);

test('a server that waits for no one is stopped, also after a client got input requests and did not retry', async () => {
  const server = createServer({ name: 'asking', version: '1.0.0', logger: false });
  const form = { type: 'object', properties: { name: { type: 'string' } } } as const;
  server.tool('greet', { run: async (_args, ctx) => `Hello ${(await ctx.elicit('Name?', form)).action}` });
  const config = upstream('one', { isolation: 'principal', idleMs: 50 });
  const gateway = gatewayWith(config, { target: () => inMemory(server) });
  const client = new TestClient(gateway.server, { transport: 'memory' });
  const params = { name: 'one__greet', arguments: {} };
  const { result } = await client.stateless('tools/call', params, { elicitation: { form: {} } });
  expect(result).toMatchObject({ resultType: 'input_required' });
  await expect.poll(() => gateway.status()[0]?.state).toBe('idle');
});

test('a server whose lists are read from time to time is stopped when no one has used it for a while', async () => {
  const { target, sides } = scriptedUpstream();
  const given = { entry: { command: 'one' }, revision: '2025-11-25', refreshMs: 200, idleMs: 800 };
  const gateway = gatewayWith(upstream('one', given), { target: () => target });
  const client = await clientOf(closers, gateway.server);
  await client.callTool('one__work');
  const reads = () => sides[0]?.received.filter(({ method }) => method === 'tools/list').length;
  await expect.poll(reads).toBeGreaterThan(2);
  await client.callTool('one__work');
  const usedAt = performance.now();
  await expect.poll(() => gateway.status()[0]?.state, { timeout: 5_000 }).toBe('idle');
  expect(performance.now() - usedAt).toBeGreaterThan(700);
  expect(sides).toHaveLength(1);
});

test.each(['connects', 'lists'])('closing a gateway while a server %s logs no failure', async (moment) => {
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const { target, sides } = scriptedUpstream(undefined, () => {});
  const silent = (): Transport => ({ ...target(), send: () => {} });
  const config = upstream('one', { start: 'eager', revision: '2025-11-25' });
  const gateway = gatewayWith(config, { logger, target: () => (moment === 'connects' ? silent : target) });
  if (moment === 'lists') {
    await expect.poll(() => sides[0]?.received.some(({ method }) => method === 'tools/list')).toBe(true);
  } else await expect.poll(() => sides.length).toBe(1);
  await gateway.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test('the log has no failure of a server that is still starting', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
  const { target } = scriptedUpstream();
  // What the server gets when it has started.
  const unsent: (() => void)[] = [];
  let isStarting = true;
  const slow = (): Transport => {
    const transport = target();
    return {
      ...transport,
      send: (message) => {
        if (isStarting) unsent.push(() => transport.send(message));
        else return transport.send(message);
      },
    };
  };
  const gateway = gatewayWith(upstream('one', { revision: '2025-11-25' }), { logger, target: () => slow });
  const client = await sessionClient(gateway);
  const failure = client.listTools().catch((error: Error) => error.message);
  await vi.waitFor(() => expect(unsent).not.toEqual([]));
  await vi.advanceTimersByTimeAsync(11_000);
  expect(await failure).toContain('The server one cannot be used: it is still starting');
  expect(gateway.status()[0]?.state).toBe('starting');
  isStarting = false;
  for (const send of unsent) send();
  await vi.waitFor(() => expect(gateway.status()[0]?.state).toBe('ready'));
  expect((await client.listTools({ cache: 'refresh' })).map(({ name }) => name)).toEqual(['one__work']);
  expect(warnings).toEqual([]);
});

test.each([
  ['during a call', () => script, 3],
  ['while its lists are read', endingProgram, 4],
])('the end of a server %s is one line of the log', async (_when, program, code) => {
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (_message: string, fields?: object) => void warnings.push(fields ?? {}) };
  const entry = { command: process.execPath, args: [program()] };
  const gateway = gatewayWith(upstream('one', { entry, revision: '2025-06-18' }), { logger });
  const client = await sessionClient(gateway);
  await client.callTool('one__crash').catch(() => {});
  await expect.poll(() => gateway.status()[0]?.reason).toContain(`exited with code ${code}`);
  await gateway.close();
  expect(warnings).toEqual([{ server: 'one', error: expect.stringContaining(`exited with code ${code}`) }]);
});

test('while a server is started again, its status still says why it has failed', async () => {
  const reasons: (string | undefined)[] = [];
  const target = (): Transport => {
    reasons.push(gateway.status()[0]?.reason);
    throw new Error(`attempt ${reasons.length} failed`);
  };
  const restart = { minMs: 1, maxMs: 1, tries: 2, withinMs: 60_000 };
  const config = upstream('one', { start: 'eager', restart });
  const states = new Set<string>();
  const onState = ({ state }: UpstreamStatus): void => void states.add(state);
  const gateway = gatewayWith(config, { retryDownMs: 50, target: () => target, onState });
  await expect.poll(() => reasons.length, { timeout: 5_000 }).toBeGreaterThan(2);
  expect(reasons.slice(0, 3)).toEqual([undefined, 'attempt 1 failed', 'attempt 2 failed']);
  expect([...states]).toEqual(['starting', 'down']);
});
