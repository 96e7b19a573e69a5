import { expect, test } from 'vitest';
import { EndedCalls } from './ended-calls.ts';
import type { EndedCall } from './line-encoder.ts';

const callWith = (args: unknown): EndedCall => ({ name: 'echo', arguments: args }) as EndedCall;

test('calls are returned once, in the order in which they ended', () => {
  const pending = new EndedCalls();
  const calls = [1, 2, 3].map((value) => callWith({ value }));
  expect(calls.map((call) => pending.add(call))).toEqual([true, true, true]);
  expect(pending.take()).toEqual(calls);
  expect(pending.take()).toEqual([]);
});

test('the list is full after a limited number of calls', () => {
  const pending = new EndedCalls();
  let added = 0;
  while (!pending.isFull && added < 1000) {
    pending.add(callWith({}));
    added++;
  }
  expect(added).toBeLessThan(1000);
  pending.take();
  expect(pending.isFull).toBe(false);
});

test.each([
  ['a long text', { text: 'x'.repeat(300) }],
  ['a long key', { ['k'.repeat(300)]: 1 }],
  ['many values', Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, index]))],
  ['a nested value', { inner: { text: 'x' } }],
])('a call with %s does not wait', (_what, args) => {
  const pending = new EndedCalls();
  expect(pending.add(callWith(args))).toBe(false);
  expect(pending.take()).toEqual([]);
});
