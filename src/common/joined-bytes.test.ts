import { expect, test } from 'vitest';
import { JoinedBytes } from './joined-bytes.ts';

const whole = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));

test('chunks of any size are joined in order', () => {
  for (const sizes of [[1], [997], [5_000], [65_536], [300_000], [1, 5_000], [65_536, 3, 900]]) {
    const body = new JoinedBytes();
    for (let at = 0, n = 0; at < whole.length; n++) {
      const size = sizes[n % sizes.length] as number;
      body.add(new Uint8Array(whole.subarray(at, at + size)));
      at += size;
    }
    expect(body.length).toBe(300_000);
    expect(whole.equals(body.join())).toBe(true);
  }
});

test('more can be added after the chunks were joined', () => {
  const body = new JoinedBytes();
  for (const text of ['so', 'me', ' more']) {
    body.add(Buffer.from(text));
    body.join();
  }
  expect(Buffer.from(body.join()).toString()).toBe('some more');
});

test('a chunk without content, and no chunk at all', () => {
  const body = new JoinedBytes();
  expect(body.join().length).toBe(0);
  body.add(new Uint8Array(0));
  expect(body.join().length).toBe(0);
});

test('tiny chunks take as much memory as they are long, and not that of which they are a part', () => {
  const body = new JoinedBytes();
  for (let n = 0; n < 100_000; n++) body.add(new Uint8Array(64 * 1024).subarray(0, 1));
  expect(body.capacity).toBeLessThan(200_000);
});

test('a part of a large memory is copied; most of it is not', () => {
  const body = new JoinedBytes();
  body.add(new Uint8Array(1024 * 1024).subarray(0, 100_000));
  expect(body.capacity).toBe(100_000);
  const memory = new Uint8Array(64 * 1024);
  body.add(memory.subarray(0, 30_000));
  body.add(memory.subarray(30_000));
  expect(body.capacity).toBe(100_000 + 64 * 1024);
});

test('a chunk that is not bytes is rejected', () => {
  expect(() => new JoinedBytes().add('text' as unknown as Uint8Array)).toThrow('not a Uint8Array');
});

test('memory that was released is not counted', () => {
  const body = new JoinedBytes();
  body.add(Buffer.from('some'));
  body.clear();
  expect([body.length, body.capacity]).toEqual([0, 0]);
  body.add(Buffer.from('more'));
  expect(Buffer.from(body.join()).toString()).toBe('more');
});
