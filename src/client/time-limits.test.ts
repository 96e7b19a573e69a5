// Time limits of calls that take more than one request, or a new connection.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { connect } from './connect.ts';
import type { ClientError } from './errors.ts';
import { ScriptedServer } from './testing/scripted-server.ts';
import type { Transport } from './transports/transport.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Opens its transports until it is told not to; then they never open. */
function unreachableAfter(server: ScriptedServer): { target: () => Transport; hang: () => void } {
  let hangs = false;
  return {
    target: () => {
      const transport = server.target();
      return hangs ? { ...transport, open: () => new Promise<void>(() => {}) } : transport;
    },
    hang: () => {
      hangs = true;
    },
  };
}

test('a call that waits for a new connection has the time limit of the call', async () => {
  const server = new ScriptedServer('handshake');
  const { target, hang } = unreachableAfter(server);
  const client = await connect(target, { connectTimeoutMs: 60_000 });
  hang();
  server.break();
  const failure = client.callTool('work', {}, { timeoutMs: 50 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(50);
  expect(await failure).toMatchObject({ code: 'timeout', message: expect.stringContaining('connection was lost') });
  await client.close();
});

test('a subscription that waits for a new connection ends when it is cancelled', async () => {
  const server = new ScriptedServer('handshake');
  const { target, hang } = unreachableAfter(server);
  const client = await connect(target, { connectTimeoutMs: 60_000 });
  hang();
  server.break();
  const stop = new AbortController();
  const watching = client.subscribe('file:///a', { signal: stop.signal });
  stop.abort();
  await expect(watching).rejects.toMatchObject({ code: 'cancelled' });
  await client.close();
});

test('retries with input responses share one limit', async () => {
  let rounds = 0;
  const server: ScriptedServer = new ScriptedServer('stateless', {
    'tools/call': ({ id }) => {
      rounds++;
      const inputRequests = { a: { method: 'roots/list', params: {} } };
      const result = { resultType: 'input_required', inputRequests, requestState: 's' };
      setTimeout(() => server.say({ id, result }), 60);
      return undefined;
    },
  });
  const client = await connect(server.target, { handlers: { roots: [] }, maxInputRetries: 1_000 });
  const failure = client.callTool('work', {}, { timeoutMs: 200, maxTimeoutMs: 300 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(300);
  expect(await failure).toMatchObject({ code: 'timeout' });
  expect(rounds).toBe(5);
  await client.close();
});

test('pages of a list share one limit', async () => {
  let pages = 0;
  const server: ScriptedServer = new ScriptedServer('handshake', {
    'tools/list': ({ id }) => {
      const result = { tools: [], nextCursor: String(++pages) };
      setTimeout(() => server.say({ id, result }), 60);
      return undefined;
    },
  });
  const client = await connect(server.target);
  const failure = client.listTools({ timeoutMs: 200, maxTimeoutMs: 300 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(300);
  expect(await failure).toMatchObject({ code: 'timeout' });
  expect(pages).toBe(5);
  await client.close();
});

test.each([Number.NaN, -1, 0, '5', null, true, 5n, {}])(
  'a time limit of %s is rejected, and nothing is sent',
  async (value) => {
    const server = new ScriptedServer('handshake');
    const client = await connect(server.target);
    const sent = server.sent.length;
    for (const name of ['timeoutMs', 'maxTimeoutMs']) {
      const options = { [name]: value } as object;
      for (const call of [
        () => client.callTool('work', {}, options),
        () => client.listTools(options),
        () => client.ping(options),
        () => client.subscribe('file:///a', options),
      ])
        await expect(call()).rejects.toThrow(`The limit ${name} must be a number above 0; it is `);
    }
    expect(server.sent).toHaveLength(sent);
    await client.close();
  },
);

test('maxTimeoutMs is never exceeded, also where timeoutMs is longer or is the default', async () => {
  const silent = () => undefined;
  const server = new ScriptedServer('handshake', { 'tools/call': silent });
  const timeoutOf = async (options: object, connected: object = {}): Promise<number> => {
    const client = await connect(server.target, connected);
    const since = performance.now();
    const failure = client.callTool('work', {}, options).then(
      () => undefined,
      ({ code }: ClientError) => (code === 'timeout' ? performance.now() - since : undefined),
    );
    await vi.advanceTimersByTimeAsync(3_600_000);
    const tookMs = await failure;
    await client.close();
    return Math.round((tookMs ?? Number.NaN) / 100) * 100;
  };
  expect(await timeoutOf({ maxTimeoutMs: 1_000 })).toBe(1_000);
  expect(await timeoutOf({ timeoutMs: 5_000, maxTimeoutMs: 1_000 })).toBe(1_000);
  expect(await timeoutOf({}, { maxTimeoutMs: 1_000 })).toBe(1_000);
  expect(await timeoutOf({ timeoutMs: 1_200_000 })).toBe(1_200_000);
  expect(await timeoutOf({}, { timeoutMs: 1_200_000 })).toBe(1_200_000);
  expect(await timeoutOf({ timeoutMs: 2_000 }, { maxTimeoutMs: 1_000 })).toBe(2_000);
});

test('a server that never responds: initialize is sent on a second connection, and listed once', async () => {
  const silent = () => undefined;
  const server = new ScriptedServer('handshake', { 'server/discover': silent, initialize: silent });
  const failure = connect(server.target, { connectTimeoutMs: 60_000 }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(server.sent.filter(({ method }) => method === 'initialize')).toHaveLength(2);
  const { code, tried } = (await failure) as ClientError;
  expect([code, tried.map((each) => each.split(' ')[0])]).toEqual([
    'connect-timeout',
    ['server/discover', 'initialize'],
  ]);
});
