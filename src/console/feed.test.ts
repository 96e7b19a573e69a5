import { expect, test } from 'vitest';
import type { FeedEntry } from './api.ts';
import { Capture } from './capture.ts';
import { Feed } from './feed.ts';

function openFeed() {
  const feed = new Feed(new Capture());
  const peer = feed.peers.add({ transport: 'stdio' });
  const request = (id: unknown, params: object = {}): void =>
    feed.record({ direction: 'in', peer, message: { jsonrpc: '2.0', id, method: 'tools/call', params } });
  const respond = (id: unknown): FeedEntry => {
    feed.record({ direction: 'out', peer, message: { jsonrpc: '2.0', id, result: {} } });
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
  feed.record({ direction: 'out', peer, message: { jsonrpc: '2.0', method: 'notifications/progress', params } });
  expect(feed.ring.get(3)?.group).toBe(feed.ring.get(1)?.group);
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 8 } };
  feed.record({ direction: 'in', peer, message: cancelled });
  expect(feed.ring.get(4)?.requestEntry).toBe(2);
  expect(respond(8).requestEntry).toBeUndefined();
});
