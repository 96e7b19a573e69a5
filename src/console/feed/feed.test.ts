import assert from 'node:assert/strict';
import { afterEach, expect, test, vi } from 'vitest';
import type { FeedEntry } from '../api.ts';
import { Capture } from './capture.ts';
import { Feed } from './feed.ts';

afterEach(() => void vi.useRealTimers());

function openFeed() {
  const feed = new Feed(new Capture());
  const peer = feed.peers.add({ transport: 'stdio' });
  const request = (id: unknown, params: object = {}): void =>
    feed.record({ direction: 'in', peer, text: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }) });
  const respond = (id: unknown): FeedEntry => {
    feed.record({ direction: 'out', peer, text: JSON.stringify({ jsonrpc: '2.0', id, result: {} }) });
    return feed.ring.get(feed.last) as FeedEntry;
  };
  return { feed, peer, request, respond };
}

test('a response finds its request, whether the id is a number or a text', () => {
  const { request, respond } = openFeed();
  request(1);
  request('1');
  expect([respond('1').requestEntry, respond(1).requestEntry, respond(1).requestEntry]).toEqual([2, 1, undefined]);
});

test('of a thousand requests that are never answered the oldest are forgotten', () => {
  const { request, respond } = openFeed();
  for (let id = 1; id <= 1_100; id++) request(id);
  expect(respond(1).requestEntry).toBeUndefined();
  expect(respond(1_100).requestEntry).toBe(1_100);
  expect(respond(1_000).requestEntry).toBe(1_000);
});

test('progress belongs to the request with its token, and a cancellation ends its request', () => {
  const { feed, peer, request, respond } = openFeed();
  request(7, { _meta: { progressToken: 'p' } });
  request(8);
  const params = { progressToken: 'p', progress: 1 };
  const progress = { jsonrpc: '2.0', method: 'notifications/progress', params };
  feed.record({ direction: 'out', peer, text: JSON.stringify(progress) });
  expect(feed.ring.get(3)?.group).toBe(feed.ring.get(1)?.group);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 8 } };
  feed.record({ direction: 'in', peer, text: JSON.stringify(cancelled) });
  expect(feed.ring.get(4)?.requestEntry).toBe(2);
  expect(respond(8).requestEntry).toBeUndefined();
});

test('messages are recorded soon, together, with the times at which they were observed', () => {
  vi.useFakeTimers({ now: Date.parse('2026-11-17T08:30:00.990Z') });
  const { feed, peer } = openFeed();
  const seen: FeedEntry[] = [];
  feed.listen((entry) => void seen.push(entry));
  feed.record({ direction: 'in', peer, text: '{"jsonrpc":"2.0","id":1,"method":"ping"}' });
  vi.advanceTimersByTime(15);
  feed.record({ direction: 'out', peer, text: '{"jsonrpc":"2.0","id":1,"result":{}}' });
  expect(seen).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(seen.map(({ at }) => at)).toEqual(['2026-11-17T08:30:00.990Z', '2026-11-17T08:30:01.005Z']);
  expect(seen[1]).toMatchObject({ requestEntry: 1, durationMs: 15 });
});

test('many messages, and large ones, do not wait', () => {
  const { feed, peer } = openFeed();
  let seen = 0;
  feed.listen(() => void seen++);
  for (let count = 1; count <= 64; count++) feed.record({ direction: 'in', peer, text: 'not JSON' });
  expect(seen).toBe(64);
  feed.record({ direction: 'in', peer, text: 'x'.repeat(1024 * 1024 + 1) });
  expect(seen).toBe(65);
});

test('of requests with one id and one token in several HTTP exchanges each has its own response and progress', () => {
  const { feed, peer } = openFeed();
  const exchanges = [{}, {}, {}];
  const params = { _meta: { progressToken: 1 } };
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const progress = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1 } });
  for (const exchange of exchanges) feed.record({ direction: 'in', peer, text: request, exchange });
  const order = [1, 0, 2];
  for (const index of order) {
    const exchange = exchanges[index] as object;
    feed.record({ direction: 'out', peer, text: progress, exchange });
    feed.record({ direction: 'out', peer, text: '{"jsonrpc":"2.0","id":1,"result":{}}', exchange });
  }
  const [first, second, third, ...rest] = [...feed.ring.entries()];
  const groups = [first, second, third].map((entry) => entry?.group);
  expect(rest.filter(({ kind }) => kind === 'response').map(({ requestEntry }) => requestEntry)).toEqual([2, 1, 3]);
  expect(rest.filter(({ kind }) => kind === 'notification').map(({ group }) => group)).toEqual(
    order.map((index) => groups[index]),
  );
});

test('what a handler does to its arguments is not shown, and secrets that it adds are not stored', () => {
  const feed = new Feed(new Capture({ secretArguments: () => new Set(['pin']) }));
  const peer = feed.peers.add({ transport: 'stdio' });
  const args: Record<string, unknown> = { city: 'Oslo', pin: '1234' };
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: args } };
  feed.record({ direction: 'in', peer, text: JSON.stringify(message), message });
  args['city'] = 'hunter2';
  delete args['pin'];
  const { text } = feed.ring.get(1) as FeedEntry;
  expect(JSON.parse(text as string).params.arguments).toEqual({ city: 'Oslo', pin: '[redacted]' });
});

test('a message that cannot be read again counts as dropped', () => {
  const { feed, peer, request, respond } = openFeed();
  const message = new Proxy({}, { get: () => assert.fail('it is nested too deeply') });
  feed.record({ direction: 'in', peer, text: '{"password":"hunter2"}', message });
  request(1);
  expect(respond(1).requestEntry).toBe(2);
  expect(feed.ring.get(1)).toBeUndefined();
});

test('a message nested deeply is dropped or cut, and its secrets are not stored', () => {
  const { feed, peer, request, respond } = openFeed();
  const deep = 100_000;
  const text = `{"password":"hunter2","params":${'['.repeat(deep)}${']'.repeat(deep)}}`;
  feed.record({ direction: 'in', peer, text });
  request(1);
  expect(respond(1).requestEntry).toBe(2);
  expect(feed.ring.get(1)?.text ?? '').not.toContain('hunter2');
});

test('a server that does not know server/discover has not failed, but one that fails there has', () => {
  const { feed, peer } = openFeed();
  const outcomes = [-32601, -32000, -32603].map((code, id) => {
    feed.record({ direction: 'in', peer, text: JSON.stringify({ jsonrpc: '2.0', id, method: 'server/discover' }) });
    feed.record({ direction: 'out', peer, text: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: '' } }) });
    return feed.ring.get(feed.last);
  });
  expect(outcomes).toMatchObject([
    { outcome: 'unsupported', code: -32601 },
    { outcome: 'unsupported', code: -32000 },
    { outcome: 'rejected', code: -32603 },
  ]);
  feed.rates.tick(1, 0);
  expect(feed.rates.now(0)).toMatchObject({ callsPerSecond: 3, errorsPerSecond: 1 });
});
