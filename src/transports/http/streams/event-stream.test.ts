import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLogger } from '../../../common/logger.ts';
import { CallerBudget } from '../../../protocol/callers/caller-budget.ts';
import { BufferedBytes } from '../buffered-bytes.ts';
import type { ByteSink } from '../exchange.ts';
import { FairTurns } from '../fair-turns.ts';
import { defaultHttpLimits, type HttpLimits } from '../limits.ts';
import { EventStream, eventText, Heartbeat } from './event-stream.ts';

class FakeSink implements ByteSink {
  written = '';
  queued = 0;
  state: 'open' | 'ended' | 'destroyed' = 'open';
  /** Whether the other end reads. */
  reads = true;

  write(text: string): void {
    this.written += text;
    if (!this.reads) this.queued += text.length;
  }
  end(): void {
    this.state = 'ended';
  }
  destroy(): void {
    this.state = 'destroyed';
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function heartbeat(maxQueuedBytes: number, more: Partial<HttpLimits> = {}): Heartbeat {
  const limits = { ...defaultHttpLimits, heartbeatMs: 1000, maxQueuedBytes, ...more };
  const buffered = new BufferedBytes(limits);
  return new Heartbeat(limits, new CallerBudget(100, 100), buffered, new FairTurns(), silentLogger);
}

function open(maxQueuedBytes = 1000, expiresAtMs?: number, beat = heartbeat(maxQueuedBytes)) {
  const sink = new FakeSink();
  const principal = expiresAtMs === undefined ? undefined : { id: 'ada', expiresAtMs };
  return { sink, beat, stream: new EventStream(sink, beat, { principal, address: undefined }) };
}

test('an event is one block, whatever it contains', () => {
  expect(eventText('{"a":1}')).toBe('event: message\ndata: {"a":1}\n\n');
  expect(eventText('{}', 'p-1.2', 'progress')).toBe('event: progress\nid: p-1.2\ndata: {}\n\n');
  expect(eventText(JSON.stringify('a\nb\r\nc\u2028'))).toHaveLength(
    'event: message\ndata: "a\\nb\\r\\nc\u2028"\n\n'.length,
  );
});

test('an idle stream sends a comment per heartbeat, a busy one does not', () => {
  const { sink, stream } = open();
  stream.send('{}');
  vi.advanceTimersByTime(1000);
  expect(sink.written).toBe(eventText('{}'));
  vi.advanceTimersByTime(2000);
  expect(sink.written).toBe(`${eventText('{}')}:\n\n:\n\n`);
  stream.end();
  vi.advanceTimersByTime(5000);
  expect(sink.written.split(':\n\n')).toHaveLength(3);
});

test('a burst within one turn does not disconnect a reader that reads it afterwards', () => {
  const { sink, beat, stream } = open(1000);
  sink.reads = false;
  for (let n = 0; n < 10; n++) expect(stream.write('x'.repeat(400))).toBe(true);
  sink.queued = 0;
  vi.advanceTimersByTime(1);
  expect([sink.state, beat.dropped]).toEqual(['open', 0]);
});

test('a reader that has not read it by the next turn is disconnected', () => {
  const { sink, beat, stream } = open(1000);
  sink.reads = false;
  for (let n = 0; n < 10; n++) stream.write('x'.repeat(400));
  vi.advanceTimersByTime(1);
  expect([sink.state, beat.dropped, beat.size]).toEqual(['destroyed', 1, 0]);
  expect(stream.write('more')).toBe(false);
});

test('what may be written in one turn is limited too', () => {
  const { sink, stream } = open(1000);
  sink.reads = false;
  let taken = 0;
  while (stream.write('x'.repeat(100)) && taken < 1000) taken++;
  expect(sink.state).toBe('destroyed');
  expect(sink.written.length).toBeLessThan(10_000);
});

test('one message may be larger than the limit', () => {
  const { sink, stream } = open(1000);
  sink.reads = false;
  expect(stream.write('x'.repeat(5000))).toBe(true);
  expect(sink.state).toBe('open');
});

test('large messages on many streams that are not read count together, from the moment they are written', () => {
  const beat = heartbeat(1000, { maxBufferedBytesPerCaller: 10_000 });
  const streams = Array.from({ length: 10 }, () => open(1000, undefined, beat));
  for (const { sink } of streams) sink.reads = false;
  // Twice the share of a caller, as responses to calls that were started while there was space may exceed it.
  expect(streams.map(({ stream }) => stream.write('x'.repeat(5000)))).toEqual(streams.map((_, n) => n < 4));
  expect(beat.dropped).toBe(6);
});

test('a reader that reads nothing for several heartbeats is disconnected, one that reads a little is not', () => {
  const [deaf, slow] = [open(100_000), open(100_000)];
  for (const { sink, stream } of [deaf, slow]) {
    sink.reads = false;
    stream.write('x'.repeat(500));
  }
  for (let n = 0; n < 10; n++) {
    slow.sink.queued -= 45;
    vi.advanceTimersByTime(1000);
  }
  expect([deaf.sink.state, slow.sink.state]).toEqual(['destroyed', 'open']);
});

test.each([1, 500, 1000, 2500])('a stream whose token expires in %i ms ends then, and reports why', (ms) => {
  const { sink, stream } = open(1000, Date.now() + ms);
  stream.onEnding = ({ message }) => stream.send(JSON.stringify(message));
  vi.advanceTimersByTime(ms - 1);
  expect(sink.state).toBe('open');
  vi.advanceTimersByTime(1);
  expect(sink.state).toBe('ended');
  const reason = 'Unauthorized: the access token has expired; authenticate again';
  expect(sink.written.endsWith(`${eventText(`"${reason}"`)}: ${reason}\n\n`)).toBe(true);
});
