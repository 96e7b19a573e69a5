import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LogSink, sendTo } from './sink.ts';

/** A way out that takes each text only when told to. */
function slowWay() {
  const taken: string[] = [];
  let pending: ((error?: Error | null) => void) | undefined;
  return {
    taken,
    send: (text: string, done: (error?: Error | null) => void) => {
      taken.push(text);
      pending = done;
      return false;
    },
    take(error?: Error) {
      const done = pending;
      pending = undefined;
      done?.(error);
    },
  };
}

const describeDrops = (count: number): string => `${count} dropped\n`;

test('a text is written immediately while the reader keeps up', () => {
  const taken: string[] = [];
  const sink = new LogSink((text) => taken.push(text) > 0, describeDrops);
  sink.write('1\n');
  sink.write('2\n');
  expect(taken).toEqual(['1\n', '2\n']);
});

test('texts are queued while it does not, and are written together later', () => {
  const way = slowWay();
  const sink = new LogSink(way.send, describeDrops);
  for (const text of ['1\n', '2\n', '3\n']) sink.write(text);
  expect(way.taken).toEqual(['1\n']);
  way.take();
  expect(way.taken).toEqual(['1\n', '2\n3\n']);
});

test('texts that do not fit are dropped, counted, and reported once there is space', () => {
  const way = slowWay();
  const sink = new LogSink(way.send, describeDrops, 10);
  sink.write('1\n');
  sink.write('ą234567\n');
  for (let n = 0; n < 5; n++) sink.write('too much\n');
  sink.write('s\n');
  way.take();
  expect(way.taken).toEqual(['1\n', 'ą234567\n6 dropped\n']);
  way.take();
  sink.write('again\n');
  expect(way.taken.slice(2)).toEqual(['again\n']);
});

test('flushed waits for the queue to empty', async () => {
  const way = slowWay();
  const sink = new LogSink(way.send, describeDrops);
  await sink.flushed();
  sink.write('1\n');
  sink.write('2\n');
  let flushed = false;
  void sink.flushed().then(() => (flushed = true));
  way.take();
  await nextTurn();
  expect(flushed).toBe(false);
  way.take();
  await nextTurn();
  expect(flushed).toBe(true);
});

test('a stream that fails ends the log and nothing else', async () => {
  const way = slowWay();
  const sink = new LogSink(way.send, describeDrops);
  sink.write('1\n');
  sink.write('2\n');
  const waiting = sink.flushed();
  way.take(new Error('EPIPE'));
  await waiting;
  sink.write('3\n');
  expect(way.taken).toEqual(['1\n']);
  const throwing = new LogSink(() => {
    throw new Error('EBADF');
  }, describeDrops);
  throwing.write('1\n');
  throwing.write('2\n');
});

test('a stream that takes the text during the call can be written to again immediately', async () => {
  const taken: string[] = [];
  const pending: (() => void)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      taken.push(chunk);
      if (taken.length < 3) done();
      else pending.push(done);
    },
  });
  const sink = new LogSink(sendTo(stream), describeDrops);
  for (const text of ['1', '2', '3', '4', '5']) sink.write(text);
  expect(taken).toEqual(['1', '2', '3']);
  pending.shift()?.();
  await nextTurn();
  expect(taken).toEqual(['1', '2', '3', '45']);
});

test('a destroyed stream does no harm', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
  const sink = new LogSink(sendTo(stream), describeDrops);
  stream.destroy(new Error('EPIPE'));
  await nextTurn();
  sink.write('1');
  await sink.flushed();
});
