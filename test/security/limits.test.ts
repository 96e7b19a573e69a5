// Limits as a client sees them: what is rejected, with which words, and what still gets through.

import { expect, test } from 'vitest';
import { createServer, type Server } from '../../src/engine/server.ts';
import type { Peer } from '../../src/protocol/exchange.ts';
import { limitCalls, limitConcurrency, rateLimit, shedLoad } from '../../src/security/limits/index.ts';
import { TestClient } from '../support/test-client.ts';

const alice: Peer = { transport: 'memory', principal: { id: 'alice' } };
const bob: Peer = { transport: 'memory', principal: { id: 'bob' } };

interface Bench {
  readonly server: Server;
  /** How often the tool ran. */
  readonly ran: () => number;
  /** Lets the oldest waiting call of `wait` finish. */
  readonly finish: () => void;
}

function bench(): Bench {
  const server = createServer({ name: 'limits', version: '1.0.0', logging: true });
  let ran = 0;
  const waiting: (() => void)[] = [];
  server.tool('count', { run: () => String(++ran) });
  server.tool('other', { run: () => 'other' });
  server.tool('wait', {
    run: () => {
      ran++;
      return new Promise<string>((resolve) => waiting.push(() => resolve('done')));
    },
  });
  server.tool('large', {
    input: { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer' } } },
    run: ({ text, times }) => String(text).repeat(Number(times)),
  });
  server.resource('test://large', { name: 'large', read: () => 'x'.repeat(5000) });
  server.resource('test://small', { name: 'small', read: () => 'x' });
  return { server, ran: () => ran, finish: () => waiting.shift()?.() };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('S2-31: too many requests are rejected with retryAfterMs, the tool does not run, and the service recovers', async () => {
  const { server, ran } = bench();
  let now = 0;
  server.around(rateLimit([{ per: 'session', requests: 2, windowMs: 1_000 }], { now: () => now }));
  const client = await TestClient.open(server);
  for (let n = 0; n < 2; n++) expect((await client.call('count')).result).toBeDefined();
  const rejected = await client.call('count');
  expect(rejected.error).toEqual({ code: -32000, message: 'Rate limit exceeded', data: { retryAfterMs: 500 } });
  expect(ran()).toBe(2);
  now = 500;
  expect((await client.call('count')).result.content[0].text).toBe('3');
});

test('S2-31: the stateless revision has its own error code', async () => {
  const { server } = bench();
  server.around(rateLimit([{ per: 'principal', requests: 1, windowMs: 1_000 }], { now: () => 0 }));
  const client = new TestClient(server, alice);
  await client.stateless('tools/call', { name: 'count' });
  const { error } = await client.stateless('tools/call', { name: 'count' });
  expect(error).toMatchObject({ code: 429, data: { retryAfterMs: 1000 } });
});

test('S2-32: initialize, ping and notifications pass when everything else is used up, and the connection stays', async () => {
  const { server } = bench();
  server.around(rateLimit([{ per: 'global', requests: 1, windowMs: 1_000_000 }], { now: () => 0 }));
  const first = await TestClient.open(server);
  await first.call('count');
  expect((await first.call('count')).error?.code).toBe(-32000);
  const second = await TestClient.open(server);
  expect(second.received[0]?.result.serverInfo.name).toBe('limits');
  for (let n = 0; n < 20; n++) expect((await first.request('ping')).result).toEqual({});
  expect((await second.stateless('server/discover')).result).toBeDefined();
});

test('S4-51: callers are limited apart from each other, sessions of one caller together', async () => {
  const { server } = bench();
  server.around(rateLimit([{ per: 'principal', requests: 2, windowMs: 1_000 }], { now: () => 0 }));
  const [one, two] = [
    await TestClient.open(server, undefined, {}, alice),
    await TestClient.open(server, undefined, {}, alice),
  ];
  const other = await TestClient.open(server, undefined, {}, bob);
  await one.call('count');
  await two.call('count');
  expect((await one.call('count')).error?.code).toBe(-32000);
  expect((await other.call('count')).result).toBeDefined();
});

test('S4-51: an expensive tool has a limit of its own, per caller and tool', async () => {
  const { server } = bench();
  const rule = { per: ['principal', 'tool'], tools: ['c*'], requests: 1, windowMs: 1_000 } as const;
  server.around(rateLimit([rule], { now: () => 0 }));
  const client = await TestClient.open(server, undefined, {}, alice);
  await client.call('count');
  expect((await client.call('count')).error?.code).toBe(-32000);
  for (let n = 0; n < 5; n++) expect((await client.call('other')).result).toBeDefined();
});

test('anonymous callers are counted by where they come from, a household of addresses as one', async () => {
  const { server } = bench();
  server.around(rateLimit([{ per: 'principal', requests: 1, windowMs: 1_000 }], { now: () => 0 }));
  const from = (address: string) => new TestClient(server, { transport: 'http', address });
  await from('2001:db8:1:2::1').stateless('tools/call', { name: 'count' });
  const same = await from('2001:db8:1:2:ffff::9').stateless('tools/call', { name: 'count' });
  const other = await from('2001:db8:1:3::1').stateless('tools/call', { name: 'count' });
  expect([same.error?.code, other.error?.code]).toEqual([429, undefined]);
});

test('made-up tool names share one bucket', async () => {
  const { server } = bench();
  const isKnown = (name: string) => server.catalog.tools.has(name);
  server.around(rateLimit([{ per: 'tool', requests: 3, windowMs: 1_000 }], { now: () => 0, isKnown }));
  const client = await TestClient.open(server);
  const codes = [];
  for (let n = 0; n < 5; n++) codes.push((await client.call(`ghost-${n}`)).error?.code);
  expect(codes).toEqual([-32602, -32602, -32602, -32000, -32000]);
});

test('a bucket store of several machines may take its time', async () => {
  const { server } = bench();
  const answers = [0, 700];
  const store = { find: () => ({ take: async () => answers.shift() ?? 0 }) };
  server.around(rateLimit([{ per: 'global', requests: 1, windowMs: 1 }], { store }));
  const client = await TestClient.open(server);
  expect((await client.call('count')).result).toBeDefined();
  expect((await client.call('count')).error?.data).toEqual({ retryAfterMs: 700 });
});

test('no more calls run at a time than allowed; the next in line starts when one ends, the rest is rejected', async () => {
  const { server, ran, finish } = bench();
  server.around(limitConcurrency({ per: 'principal', max: 1, queue: 1 }));
  const client = await TestClient.open(server, undefined, {}, alice);
  const first = client.call('wait');
  const second = client.call('wait');
  expect((await client.call('wait')).error?.code).toBe(-32000);
  expect(ran()).toBe(1);
  finish();
  await first;
  await turn();
  expect(ran()).toBe(2);
  finish();
  expect((await second).result.content[0].text).toBe('done');
});

test('a call cancelled in the queue gives its place up and never runs', async () => {
  const { server, ran, finish } = bench();
  server.around(limitConcurrency({ per: 'principal', max: 1, queue: 1 }));
  const client = await TestClient.open(server, undefined, {}, alice);
  const first = client.request('tools/call', { name: 'wait' }, 1);
  client.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'wait' } });
  client.notify('notifications/cancelled', { requestId: 2 });
  const third = client.request('tools/call', { name: 'wait' }, 3);
  finish();
  await first;
  await turn();
  finish();
  expect((await third).result).toBeDefined();
  expect(ran()).toBe(2);
});

test('cancelling does not free a slot while the handler continues', async () => {
  const { server, ran } = bench();
  server.around(limitConcurrency({ per: 'principal', max: 1 }));
  const client = await TestClient.open(server, undefined, {}, alice);
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wait' } });
  client.notify('notifications/cancelled', { requestId: 1 });
  expect((await client.call('wait')).error?.code).toBe(-32000);
  expect(ran()).toBe(1);
});

test('a call that waits for an answer by retry gives its place back', async () => {
  const { server } = bench();
  server.tool('ask', {
    run: async (_args, ctx) => {
      await ctx.elicit('Sure?', { type: 'object', properties: { yes: { type: 'boolean' } } });
      return 'asked';
    },
  });
  server.around(limitConcurrency({ per: 'principal', max: 1 }));
  const client = new TestClient(server, alice);
  const capabilities = { elicitation: { form: {} } };
  for (let n = 0; n < 3; n++) {
    const { result } = await client.stateless('tools/call', { name: 'ask' }, capabilities);
    expect(result.resultType).toBe('input_required');
  }
});

test('a call that takes too long is ended, and a tool with more patience keeps to the shorter limit', async () => {
  const { server } = bench();
  server.tool('patient', { timeoutMs: 60_000, run: () => new Promise<string>(() => {}) });
  server.around(limitCalls([{ timeoutMs: 20 }]));
  const client = await TestClient.open(server);
  const { result } = await client.call('patient');
  expect(result).toMatchObject({ isError: true, content: [{ text: 'patient timed out' }] });
});

test('a result beyond its limit is replaced by an error that says so', async () => {
  const { server } = bench();
  server.around(limitCalls([{ maxResultBytes: 1000 }]));
  const client = await TestClient.open(server);
  const large = await client.call('large', { text: 'x', times: 2000 });
  expect(large.result).toMatchObject({
    isError: true,
    content: [{ text: 'The result exceeds 1000 bytes; ask for less' }],
  });
  const wide = await client.call('large', { text: '\u20ac', times: 400 });
  expect(wide.result.isError).toBe(true);
  expect((await client.call('large', { text: 'x', times: 900 })).result.isError).toBeUndefined();
  expect((await client.request('resources/read', { uri: 'test://large' })).error?.message).toContain('exceeds 1000');
  expect((await client.request('resources/read', { uri: 'test://small' })).result).toBeDefined();
});

test('under load new calls are rejected, while ping, initialize and cancellations succeed', async () => {
  const { server, ran } = bench();
  let now = 0;
  const shedding = shedLoad({ maxLagMs: 100, now: () => now });
  server.around(shedding.middleware);
  const client = await TestClient.open(server);
  expect((await client.call('count')).result).toBeDefined();
  now = 10_000;
  const rejected = await client.call('count');
  expect(rejected.error).toMatchObject({ code: -32000, data: { retryAfterMs: 1000 } });
  expect((await client.stateless('tools/call', { name: 'count' })).error?.code).toBe(503);
  expect((await client.request('ping')).result).toEqual({});
  expect((await TestClient.open(server)).received[0]?.result).toBeDefined();
  expect(ran()).toBe(1);
  shedding.close();
});

test('when too much is in flight new work is rejected until something ends', async () => {
  const { server, finish } = bench();
  const shedding = shedLoad({ maxInFlight: 2, maxLagMs: Number.POSITIVE_INFINITY });
  server.around(shedding.middleware);
  const client = await TestClient.open(server);
  const first = client.call('wait');
  client.call('wait');
  expect(shedding.load.inFlight).toBe(2);
  expect((await client.call('count')).error?.message).toContain('overloaded');
  finish();
  await first;
  expect((await client.call('count')).result).toBeDefined();
  shedding.close();
});

test('slow calls of one caller do not take the place of the others', async () => {
  const { server, finish } = bench();
  const shedding = shedLoad({ maxInFlight: 4, maxInFlightPerCaller: 2, maxLagMs: Number.POSITIVE_INFINITY });
  server.around(shedding.middleware);
  const slow = await TestClient.open(server, undefined, {}, alice);
  const other = await TestClient.open(server, undefined, {}, bob);
  const first = slow.call('wait');
  slow.call('wait');
  expect((await slow.call('count')).error?.message).toContain('overloaded');
  expect((await other.call('count')).result).toBeDefined();
  finish();
  await first;
  expect((await slow.call('count')).result).toBeDefined();
  shedding.close();
});
