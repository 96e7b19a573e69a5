import { expect, test } from 'vitest';
import { BodyBuffer } from './body-buffer.ts';

test('chunks of any size are joined in order', () => {
  const whole = Buffer.from(Array.from({ length: 300_000 }, (_, n) => n % 251));
  for (const size of [1, 997, 65_536, 300_000]) {
    const body = new BodyBuffer(300_000);
    for (let at = 0; at < whole.length; at += size) body.add(whole.subarray(at, at + size));
    expect(body.bytes.equals(whole)).toBe(true);
  }
});

test('memory grows with what was received, not with what was announced, and never exceeds that', () => {
  const body = new BodyBuffer(10_000_000);
  expect(body.capacity).toBe(64 * 1024);
  body.add(Buffer.alloc(64 * 1024));
  expect(body.capacity).toBe(64 * 1024);
  body.add(Buffer.alloc(1));
  expect(body.capacity).toBe(128 * 1024);
  body.add(Buffer.alloc(9_000_000));
  expect(body.capacity).toBeLessThanOrEqual(10_000_000);
  expect(new BodyBuffer(100).capacity).toBe(100);
});
