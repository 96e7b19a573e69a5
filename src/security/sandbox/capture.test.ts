import { expect, test } from 'vitest';
import { HeadBuffer, TailBuffer } from './capture.ts';

test('the head keeps the first bytes and reports when there were more', () => {
  const head = new HeadBuffer(10);
  head.push(Buffer.from('01234'));
  head.push(Buffer.from('56789'));
  expect([head.bytes().toString(), head.overflowed]).toEqual(['0123456789', false]);
  head.push(Buffer.from('x'));
  expect([head.bytes().toString(), head.overflowed]).toEqual(['0123456789', true]);
});

test('a piece across the limit is cut', () => {
  const head = new HeadBuffer(4);
  head.push(Buffer.from('abcdef'));
  expect([head.bytes().toString(), head.overflowed]).toEqual(['abcd', true]);
});

test('a head grows from small pieces to its limit', () => {
  const head = new HeadBuffer(100_000);
  for (let index = 0; index < 100_001; index++) head.push(Buffer.from([index % 251]));
  expect(head.bytes().length).toBe(100_000);
  expect(head.bytes()[99_999]).toBe(99_999 % 251);
  expect(head.overflowed).toBe(true);
});

test('an empty head is empty', () => {
  expect(new HeadBuffer(1).bytes().length).toBe(0);
});

test('the tail keeps the last bytes, in pieces of any size', () => {
  for (const size of [1, 3, 7, 10, 64]) {
    const text = Array.from({ length: 500 }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
    const tail = new TailBuffer(10);
    for (let at = 0; at < text.length; at += size) tail.push(Buffer.from(text.slice(at, at + size)));
    expect(tail.bytes().toString()).toBe(text.slice(-10));
  }
});

test('a tail that is not full returns what it has', () => {
  const tail = new TailBuffer(10);
  tail.push(Buffer.from('ab'));
  expect(tail.bytes().toString()).toBe('ab');
});
