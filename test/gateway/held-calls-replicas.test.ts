// Held calls with several processes that serve the same endpoint: the client may come back to any of them.

import { afterEach, expect, test } from 'vitest';
import type { Gateway, GatewayOptions } from '../../src/gateway/index.ts';
import { createServer, type Server } from '../../src/index.ts';
import type { Principal } from '../../src/protocol/exchange.ts';
import { TestBuses, type TestProcess } from '../support/bus.ts';
import { useClosers } from '../support/closers.ts';
import { type Message, TestClient } from '../support/test-client.ts';
import { gatewayConfig, gatewayOf } from './fixture.ts';

const closers = useClosers(afterEach);
const canElicit = { elicitation: { form: {} } };
const form = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } as const;
const key = `${'k'.repeat(8)}0123456789abcdefghijklmnopqrstuvwxyz`;

interface Seen {
  calls: number;
  answers: number;
  cancelled: number;
  /** Lets a call end that waits after its last answer. */
  release: (() => void)[];
}

/** A server of a handshake revision that asks as often as it is told to, and then does what it is told to. */
function asking(): { readonly server: Server; readonly seen: Seen } {
  const seen: Seen = { calls: 0, answers: 0, cancelled: 0, release: [] };
  const server = createServer({ name: 'asking', version: '1.0.0', logger: false });
  server.tool('greet', {
    input: { type: 'object', properties: { questions: { type: 'integer' }, ending: { type: 'string' } } },
    run: async (args, ctx) => {
      const { questions = 1, ending } = args as { questions?: number; ending?: string };
      seen.calls++;
      ctx.signal.addEventListener('abort', () => seen.cancelled++);
      const names: unknown[] = [];
      for (let n = 1; n <= questions; n++) {
        await ctx.progress(n, questions);
        ctx.log('warning', `question ${n}`);
        const answer = await ctx.elicit(`Name ${n}?`, form);
        seen.answers++;
        names.push(answer.action === 'accept' ? answer.content.name : answer.action);
      }
      if (ending === 'fail') throw new Error('no wind');
      if (ending === 'wait') {
        await new Promise<void>((resolve, reject) => {
          seen.release.push(resolve);
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
        });
      }
      return `Hello ${names.join(' and ')}`;
    },
  });
  return { server, seen };
}

interface Group {
  readonly gateways: readonly Gateway[];
  readonly processes: readonly TestProcess[];
  readonly seen: Seen;
}

/** Gateways as if each were a process of its own, in front of one server. */
async function start(count: number, heldCalls: GatewayOptions['heldCalls'] = {}): Promise<Group> {
  const buses = new TestBuses();
  closers.push(() => buses.close());
  const { server, seen } = asking();
  const processes: TestProcess[] = [];
  for (let n = 0; n < count; n++) processes.push(await buses.join());
  const gateways = processes.map(({ bus }) =>
    gatewayOf(closers, { one: server }, { revision: '2025-11-25' }, { heldCalls, server: { key, bus } }),
  );
  return { gateways, processes, seen };
}

const clientOf = (gateway: Gateway | undefined, principal?: Principal): TestClient =>
  new TestClient((gateway as Gateway).server, { transport: 'memory', principal });

function call(client: TestClient, args: object = {}, more: object = {}): Promise<Message> {
  return client.stateless('tools/call', { name: 'one__greet', arguments: args, ...more }, canElicit);
}

function retryOf({ result }: Message, name: string): object {
  const keys = Object.keys(result.inputRequests);
  const answer = { action: 'accept', content: { name } };
  return { inputResponses: Object.fromEntries(keys.map((each) => [each, answer])), requestState: result.requestState };
}

const textOf = ({ result }: Message): string => result.content[0].text;
const isLost = { code: -32603, data: { reason: 'held-call-lost', mayHaveRun: true } };

test('a client that comes back to another process gets the result of the one call', async () => {
  const { gateways, seen } = await start(2);
  const first = await call(clientOf(gateways[0]));
  expect(first.result.resultType).toBe('input_required');
  const last = await call(clientOf(gateways[1]), {}, retryOf(first, 'Ada'));
  expect(textOf(last)).toBe('Hello Ada');
  expect(seen.calls).toBe(1);
});

test('each answer may reach another process, the holder included', async () => {
  const { gateways, seen } = await start(3);
  const [a, b, c] = gateways.map((gateway) => clientOf(gateway)) as [TestClient, TestClient, TestClient];
  const args = { questions: 4 };
  const first = await call(a, args);
  const second = await call(b, args, retryOf(first, 'Ada'));
  expect(Object.values(second.result.inputRequests)).toMatchObject([{ params: { message: '[one] Name 2?' } }]);
  const third = await call(c, args, retryOf(second, 'Bob'));
  const fourth = await call(a, args, retryOf(third, 'Cy'));
  expect(textOf(await call(b, args, retryOf(fourth, 'Di')))).toBe('Hello Ada and Bob and Cy and Di');
  expect(seen).toMatchObject({ calls: 1, answers: 4 });
});

test('the same retry sent to all processes at once, and again later, gets the same result', async () => {
  const { gateways, seen } = await start(3);
  const first = await call(clientOf(gateways[0]));
  const retry = retryOf(first, 'Ada');
  const atOnce = await Promise.all(gateways.map((gateway) => call(clientOf(gateway), {}, retry)));
  const later = await Promise.all(gateways.map((gateway) => call(clientOf(gateway), {}, retry)));
  expect([...atOnce, ...later].map(textOf)).toEqual(Array.from({ length: 6 }, () => 'Hello Ada'));
  expect(seen).toMatchObject({ calls: 1, answers: 1 });
});

test('a failed call is the same failure in another process', async () => {
  const { gateways, seen } = await start(2);
  const args = { ending: 'fail' };
  const first = await call(clientOf(gateways[0]), args);
  const retry = retryOf(first, 'Ada');
  const there = await call(clientOf(gateways[1]), args, retry);
  const here = await call(clientOf(gateways[0]), args, retry);
  expect(there.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('no wind') }] });
  expect(there.result).toEqual(here.result);
  expect(seen.calls).toBe(1);
});

test('progress and log messages go to the process that waits now', async () => {
  const { gateways } = await start(2);
  const [here, there] = gateways.map((gateway) => clientOf(gateway)) as [TestClient, TestClient];
  const withToken = (client: TestClient, token: string, retry: object = {}): Promise<Message> =>
    call(
      client,
      { questions: 2 },
      {
        ...retry,
        _meta: { progressToken: token, 'io.modelcontextprotocol/logLevel': 'warning' },
      },
    );
  const first = await withToken(here, 'a');
  const second = await withToken(there, 'b', retryOf(first, 'Ada'));
  expect(second.result.resultType).toBe('input_required');
  const seenBy = ({ received }: TestClient): unknown[] =>
    received.flatMap(({ method, params }) => {
      if (method === 'notifications/progress') return [[params.progressToken, params.progress]];
      return method === 'notifications/message' ? [params.data] : [];
    });
  expect(seenBy(here)).toEqual([['a', 1], 'question 1']);
  expect(seenBy(there)).toEqual([['b', 2], 'question 2']);
});

test('another principal cannot take over the call in another process either', async () => {
  const { gateways, seen } = await start(2);
  const first = await call(clientOf(gateways[0], { id: 'ada' }));
  const stolen = await call(clientOf(gateways[1], { id: 'eve' }), {}, retryOf(first, 'Eve'));
  expect(stolen.error?.code).toBe(-32602);
  expect(textOf(await call(clientOf(gateways[1], { id: 'ada' }), {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
  expect(seen).toMatchObject({ calls: 1, answers: 1 });
});

test('a client that cancels in another process cancels the call', async () => {
  const { gateways, seen } = await start(2);
  const args = { ending: 'wait' };
  const first = await call(clientOf(gateways[0]), args);
  const client = clientOf(gateways[1]);
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': canElicit,
  };
  const params = { name: 'one__greet', arguments: args, ...retryOf(first, 'Ada'), _meta };
  client.send({ jsonrpc: '2.0', id: 'retry', method: 'tools/call', params });
  await expect.poll(() => seen.release.length).toBe(1);
  client.notify('notifications/cancelled', { requestId: 'retry', _meta });
  await expect.poll(() => seen.cancelled).toBe(1);
  expect(seen.calls).toBe(1);
});

test('after its time a call is lost in all processes, and does not run again', async () => {
  const { gateways, seen } = await start(2, { expiresMs: 500 });
  // On a busy machine the time may be over before the client has been asked.
  let calls = 0;
  let first: Message;
  do {
    calls++;
    first = await call(clientOf(gateways[0]));
  } while (first.result?.resultType !== 'input_required' && calls < 10);
  await expect.poll(() => seen.cancelled).toBe(calls);
  for (const gateway of gateways) {
    const late = await call(clientOf(gateway), {}, retryOf(first, 'Ada'));
    expect(late.error).toMatchObject(isLost);
  }
  expect(seen.calls).toBe(calls);
});

test('a call whose process was killed is lost, before and while the client waits, and does not run again', async () => {
  const { gateways, processes, seen } = await start(3);
  const args = { ending: 'wait' };
  const first = await call(clientOf(gateways[0]), args);
  const waiting = call(clientOf(gateways[1]), args, retryOf(first, 'Ada'));
  await expect.poll(() => seen.release.length).toBe(1);
  processes[0]?.leave();
  expect((await waiting).error).toMatchObject(isLost);
  for (const gateway of gateways.slice(1)) {
    expect((await call(clientOf(gateway), args, retryOf(first, 'Ada'))).error).toMatchObject(isLost);
  }
  expect(seen.calls).toBe(1);
});

test('views and single servers share one bus', async () => {
  const { gateways, seen } = await start(2);
  const at = (n: number): TestClient => new TestClient((gateways[n] as Gateway).single('one') as Server);
  expect(gateways.map((gateway) => gateway.server.name)).toHaveLength(2);
  const single = (client: TestClient, retry: object = {}): Promise<Message> =>
    client.stateless('tools/call', { name: 'greet', arguments: {}, ...retry }, canElicit);
  const first = await single(at(0));
  expect(textOf(await single(at(1), retryOf(first, 'Ada')))).toBe('Hello Ada');
  expect(seen.calls).toBe(1);
});

test('a client that comes back to another process after the server was removed gets the result', async () => {
  const { gateways, seen } = await start(2);
  const first = await call(clientOf(gateways[0]));
  await clientOf(gateways[1]).stateless('tools/list');
  for (const gateway of gateways) await gateway.reload(gatewayConfig([], { drainMs: 20_000 }));
  expect(textOf(await call(clientOf(gateways[1]), {}, retryOf(first, 'Ada')))).toBe('Hello Ada');
  expect((await call(clientOf(gateways[1]))).error?.message).toContain('Unknown tool: one__greet');
  expect(seen.calls).toBe(1);
});
