import { expect, test } from 'vitest';
import type { ByteSink } from '../exchange.ts';
import { DelayedSink } from './delayed-sink.ts';

class NotingSink implements ByteSink {
  readonly calls: string[] = [];
  queued = 0;

  write(text: string): void {
    this.calls.push(text);
    this.queued += text.length;
  }
  end(): void {
    this.calls.push('end');
  }
  destroy(): void {
    this.calls.push('destroy');
  }
}

function delayed() {
  const sink = new NotingSink();
  let settle: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { sink, delayed: new DelayedSink(sink, ready), ...(settle as NonNullable<typeof settle>) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('what is written before the promise settles is passed on then, in order, and the rest immediately', async () => {
  const { sink, delayed: stream, resolve } = delayed();
  stream.write('one ');
  stream.write('two');
  await turn();
  expect(sink.calls).toEqual([]);
  expect(stream.queued).toBe(7);
  resolve();
  await turn();
  expect(sink.calls).toEqual(['one two']);
  expect(stream.queued).toBe(7);
  stream.write('three');
  stream.end();
  expect(sink.calls).toEqual(['one two', 'three', 'end']);
});

test('a stream that ends meanwhile ends after what was written, also when the promise is rejected', async () => {
  const { sink, delayed: stream, reject } = delayed();
  stream.write('one');
  stream.end();
  expect(sink.calls).toEqual([]);
  reject(new Error('not stored'));
  await turn();
  expect(sink.calls).toEqual(['one', 'end']);
});

test('a reader that is disconnected meanwhile gets nothing', async () => {
  const { sink, delayed: stream, resolve } = delayed();
  stream.write('one');
  stream.destroy();
  resolve();
  await turn();
  expect(sink.calls).toEqual(['destroy']);
  expect(stream.queued).toBe(0);
});
