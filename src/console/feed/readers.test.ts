// Readers of the feed, with a sink that does not read.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FeedBatch } from '../api.ts';
import { Capture } from './capture.ts';
import { Feed } from './feed.ts';
import { Readers } from './readers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function setUp(maxEntries = 100) {
  const feed = new Feed(new Capture(), { maxEntries });
  const peer = feed.peers.add({ transport: 'memory' });
  const state = { callVersion: 0, callsSince: () => [], subscriptionVersion: 0, subscriptions: () => [] };
  const readers = new Readers(feed, { ...state, connection: undefined });
  const say = (count: number, text = 'x'): void => {
    for (let index = 0; index < count; index++) {
      const message = { jsonrpc: '2.0', method: 'note', params: { text } };
      feed.record({ direction: 'in', peer, text: JSON.stringify(message) });
    }
  };
  const sink = {
    texts: [] as string[],
    queued: 0,
    destroyed: false,
    write: (text: string): void => void sink.texts.push(text),
    end: () => {},
    destroy: (): void => {
      sink.destroyed = true;
    },
    get batches(): FeedBatch[] {
      return sink.texts.flatMap((text) =>
        /^data: (.*)$/m.exec(text)?.[1] ? [JSON.parse(/^data: (.*)$/m.exec(text)?.[1] as string)] : [],
      );
    },
  };
  return { feed, readers, sink, say };
}

const numbers = (batches: readonly FeedBatch[]): number[] =>
  batches.flatMap(({ entries }) => entries.map(({ number }) => number));
const dropped = (batches: readonly FeedBatch[]): number => batches.reduce((sum, batch) => sum + batch.dropped, 0);

test('a reader gets everything once, in order and in batches', () => {
  const { readers, sink, say } = setUp(10_000);
  say(3);
  readers.add(sink, 0);
  say(1_200);
  vi.advanceTimersByTime(100);
  expect(numbers(sink.batches)).toEqual(Array.from({ length: 1_203 }, (_, index) => index + 1));
  expect(Math.max(...sink.batches.map(({ entries }) => entries.length))).toBeLessThanOrEqual(500);
  expect(dropped(sink.batches)).toBe(0);
});

test('a reader that does not read is told how many entries it lost, and nothing is lost without being counted', () => {
  const { readers, sink, say } = setUp(100);
  readers.add(sink, 0);
  sink.queued = 2 * 1024 * 1024;
  say(250);
  vi.advanceTimersByTime(1_000);
  expect(numbers(sink.batches)).toEqual([]);
  sink.queued = 0;
  vi.advanceTimersByTime(100);
  expect(numbers(sink.batches)).toEqual(Array.from({ length: 100 }, (_, index) => index + 151));
  expect(dropped(sink.batches)).toBe(150);
});

test('a reader that reads nothing for a minute is disconnected', () => {
  const { readers, sink, say } = setUp();
  readers.add(sink, 0);
  sink.queued = 2 * 1024 * 1024;
  say(1);
  vi.advanceTimersByTime(61_000);
  expect(sink.destroyed).toBe(true);
  expect(readers.size).toBe(0);
});

test('a reader continues after the last entry it had, and starts again after a restart of the server', () => {
  const { readers, sink, say } = setUp();
  say(10);
  readers.add(sink, 7);
  expect(numbers(sink.batches)).toEqual([8, 9, 10]);
  const other = setUp();
  other.say(2);
  other.readers.add(other.sink, 7);
  expect(numbers(other.sink.batches)).toEqual([1, 2]);
});

test('peers are sent when they are new or have changed', () => {
  const { feed, readers, sink } = setUp();
  readers.add(sink, 0);
  const [peer] = feed.peers.all();
  feed.peers.update(peer as NonNullable<typeof peer>, { client: 'probe 1' });
  vi.advanceTimersByTime(100);
  feed.peers.update(peer as NonNullable<typeof peer>, { client: 'probe 1' });
  vi.advanceTimersByTime(100);
  expect(sink.batches.map(({ peers }) => peers.map(({ client }) => client))).toEqual([[undefined], ['probe 1']]);
});

test('an idle page gets heartbeats although the clock was set back', () => {
  const { readers, sink } = setUp();
  readers.add(sink, 0);
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(60_000);
  expect(sink.texts).toContain(': \n\n');
});
