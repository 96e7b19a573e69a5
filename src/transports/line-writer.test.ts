import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LineWriter } from './line-writer.ts';

/** A stream whose reader takes a chunk only when told to. */
class SlowStream extends Writable {
  readonly writes: string[] = [];
  #done: ((error?: Error) => void) | undefined;
  readonly #eager: boolean;

  constructor(eager: boolean) {
    super({ decodeStrings: false });
    this.#eager = eager;
  }

  override _write(chunk: string, _encoding: string, done: (error?: Error) => void): void {
    this.writes.push(chunk);
    if (this.#eager) done();
    else this.#done = done;
  }

  read(error?: Error): boolean {
    const done = this.#done;
    this.#done = undefined;
    done?.(error);
    return done !== undefined;
  }
}

function listen() {
  const events: string[] = [];
  return {
    events,
    onFull: () => void events.push('full'),
    onReady: () => void events.push('ready'),
    onClosed: (error?: Error) => void events.push(error?.message ?? 'closed'),
  };
}

test('all lines of one turn leave in one write', async () => {
  const stream = new SlowStream(true);
  const writer = new LineWriter(stream, listen());
  for (let n = 0; n < 256; n++) writer.write(`{"id":${n}}`);
  await Promise.resolve().then(() => writer.write('after a promise'));
  process.nextTick(() => writer.write('after a tick'));
  expect(stream.writes).toEqual([]);
  await nextTurn();
  expect(stream.writes).toHaveLength(1);
  expect(stream.writes[0]?.split('\n')).toHaveLength(259);
  writer.write('next turn');
  await nextTurn();
  expect(stream.writes.slice(1)).toEqual(['next turn\n']);
});

test('a long text is written before the turn ends', () => {
  const stream = new SlowStream(true);
  const writer = new LineWriter(stream, listen());
  writer.write('short');
  writer.write('x'.repeat(64 * 1024));
  expect(stream.writes.map((each) => each.length)).toEqual([6, 64 * 1024 + 1]);
});

test('a stream that is not read is reported, and again when it is read', async () => {
  const stream = new SlowStream(false);
  const listener = listen();
  const writer = new LineWriter(stream, listener, { pauseBytes: 1000 });
  writer.write('x'.repeat(600));
  await nextTurn();
  expect(listener.events).toEqual([]);
  writer.write('y'.repeat(600));
  await nextTurn();
  expect(listener.events).toEqual(['full']);
  expect(writer.backlog).toBe(1202);
  while (stream.read()) await nextTurn();
  expect(listener.events).toEqual(['full', 'ready']);
  expect(stream.writes.join('')).toBe(`${'x'.repeat(600)}\n${'y'.repeat(600)}\n`);
});

test('a large write that the stream takes immediately does not pause the input', async () => {
  const listener = listen();
  const writer = new LineWriter(new SlowStream(true), listener, { pauseBytes: 1000 });
  writer.write('x'.repeat(1_000_000));
  await nextTurn();
  expect(listener.events).toEqual([]);
});

test('flushed waits until the last line has been taken', async () => {
  const stream = new SlowStream(false);
  const writer = new LineWriter(stream, listen());
  writer.write('1');
  let flushed = false;
  const waiting = writer.flushed().then(() => (flushed = true));
  await nextTurn();
  expect([stream.writes, flushed]).toEqual([['1\n'], false]);
  stream.read();
  await waiting;
});

test('a stream that failed is reported once, and later writes are ignored', async () => {
  const stream = new SlowStream(false);
  const listener = listen();
  const writer = new LineWriter(stream, listener);
  writer.write('1');
  const waiting = writer.flushed();
  stream.read(new Error('EPIPE'));
  await waiting;
  writer.write('2');
  await nextTurn();
  expect(listener.events).toEqual(['EPIPE']);
  expect([writer.closed, writer.backlog, stream.writes]).toEqual([true, 0, ['1\n']]);
});

test('a destroyed stream counts as closed', async () => {
  const stream = new SlowStream(true);
  const listener = listen();
  const writer = new LineWriter(stream, listener);
  stream.destroy();
  await nextTurn();
  expect([listener.events, writer.closed]).toEqual([['closed'], true]);
});

test('a closed writer survives a late failure of its stream', async () => {
  const stream = new SlowStream(false);
  const listener = listen();
  const writer = new LineWriter(stream, listener);
  writer.write('1');
  writer.close();
  expect(stream.writes).toEqual(['1\n']);
  stream.read(new Error('EPIPE'));
  await nextTurn();
  expect(listener.events).toEqual([]);
});

test('the write function of the start is used, even if it is replaced later', async () => {
  const stream = new SlowStream(true);
  const writer = new LineWriter(stream, listen());
  stream.write = () => {
    throw new Error('guarded');
  };
  writer.write('1');
  await nextTurn();
  expect(stream.writes).toEqual(['1\n']);
});

test('a line with encoded bytes keeps its position among the others, whatever characters it has', async () => {
  const stream = new SlowStream(true);
  const writer = new LineWriter(stream, listen());
  const body = JSON.stringify({ text: 'größer ✓ 😀 '.repeat(500) });
  writer.write('before');
  writer.writeBytes('{"id":"ä✓","result":', new TextEncoder().encode(body), '}');
  writer.write('after');
  await nextTurn();
  const lines = stream.writes.map(String).join('').split('\n');
  expect(lines).toEqual(['before', `{"id":"ä✓","result":${body}}`, 'after', '']);
});

test('a reader that does not read long lines is reported, and a closed stream is not written to', () => {
  const stream = new SlowStream(false);
  const heard = listen();
  const writer = new LineWriter(stream, heard, { pauseBytes: 10_000 });
  const body = new Uint8Array(6_000).fill(0x20);
  writer.writeBytes('[', body, ']');
  expect(heard.events).toEqual([]);
  writer.writeBytes('[', body, ']');
  expect(heard.events).toEqual(['full']);
  stream.destroy(new Error('gone'));
  writer.close();
  writer.writeBytes('[', body, ']');
  expect(stream.writes).toHaveLength(1);
});
