import { expect, test } from 'vitest';
import { OutputRing } from './output-ring.ts';

const never = new AbortController().signal;

test('positions never repeat, and readers see how much they missed', () => {
  const ring = new OutputRing(10);
  ring.push('0123456789');
  expect(ring.read(0, 100)).toEqual({ text: '0123456789', next: 10, dropped: 0 });
  ring.push('abcde');
  expect(ring.read(2, 100)).toEqual({ text: '56789abcde', next: 15, dropped: 3 });
  expect(ring.read(15, 100)).toEqual({ text: '', next: 15, dropped: 0 });
  expect(ring.read(99, 100)).toEqual({ text: '', next: 15, dropped: 0 });
});

test('without a position the end is read; the next part continues there', () => {
  const ring = new OutputRing(100);
  ring.push('hello world');
  expect(ring.read(undefined, 5)).toEqual({ text: 'world', next: 11, dropped: 0 });
  expect(ring.read(0, 5)).toEqual({ text: 'hello', next: 5, dropped: 0 });
});

test('memory is bounded whatever is pushed', () => {
  const ring = new OutputRing(100);
  for (let n = 0; n < 1000; n++) ring.push('x'.repeat(37));
  expect(ring.end).toBe(37_000);
  expect(ring.read(0, 1000)).toMatchObject({ next: 37_000, dropped: 36_900 });
});

test('a wait ends with the next push, with the signal, with a wake, or immediately if there is output', async () => {
  const ring = new OutputRing(100);
  const pushed = ring.waitBeyond(0, 60_000, never);
  ring.push('x');
  await pushed;
  await ring.waitBeyond(0, 60_000, never);
  const abort = new AbortController();
  const aborted = ring.waitBeyond(1, 60_000, abort.signal);
  abort.abort();
  await aborted;
  const woken = ring.waitBeyond(1, 60_000, never);
  ring.wake();
  await woken;
  await ring.waitBeyond(1, 5, never);
});
