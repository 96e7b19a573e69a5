import { expect, test } from 'vitest';
import type { FeedEntry } from '../api.ts';
import { Ring } from './ring.ts';

const entry = (number: number, peer: number, text = ''): FeedEntry => ({
  ...{ number, peer, text, at: '', direction: 'in', side: 'client', kind: 'notification', bytes: text.length },
});

const numbers = (ring: Ring): number[] => [...ring.entries()].map(({ number }) => number);

test('the oldest entries leave first', () => {
  const ring = new Ring({ maxEntries: 3 });
  for (let number = 1; number <= 5; number++) ring.add(entry(number, number));
  expect(numbers(ring)).toEqual([3, 4, 5]);
});

test('a peer that sends much does not push the messages of others out', () => {
  const ring = new Ring({ maxEntries: 10 });
  for (let number = 1; number <= 3; number++) ring.add(entry(number, 1));
  for (let number = 4; number <= 5_000; number++) ring.add(entry(number, 2));
  expect(numbers(ring).slice(0, 3)).toEqual([1, 2, 3]);
  expect(ring.size).toBe(10);
});

test('of two peers that send much, by number and by size, each loses its own', () => {
  const ring = new Ring({ maxEntries: 10, maxBytes: 100_000 });
  ring.add(entry(1, 3));
  for (let number = 2; number <= 7; number++) ring.add(entry(number, 1));
  for (let number = 8; number <= 20; number++) ring.add(entry(number, 2, 'x'.repeat(15_000)));
  expect(numbers(ring)[0]).toBe(1);
  expect(ring.get(2)).toBeUndefined();
  expect([...ring.entries()].filter(({ peer }) => peer === 1)).not.toHaveLength(0);
  expect(ring.get(20)).toMatchObject({ peer: 2 });
  ring.update({ ...entry(20, 2), reason: 'too late' });
  expect(ring.get(20)?.reason).toBe('too late');
});

test('large texts are limited by their size', () => {
  const ring = new Ring({ maxBytes: 100_000 });
  for (let number = 1; number <= 100; number++) ring.add(entry(number, 1, 'x'.repeat(10_000)));
  expect(numbers(ring)).toEqual([97, 98, 99, 100]);
});

test('entries after a number are found, however far apart the numbers are', () => {
  const ring = new Ring({ maxEntries: 4 });
  const far = Number.MAX_SAFE_INTEGER - 1;
  for (const number of [1, 5, 1_000_000, far]) ring.add(entry(number, number));
  const after = (number: number): number[] => [...ring.entries(number)].map((each) => each.number);
  expect(after(0)).toEqual([1, 5, 1_000_000, far]);
  expect(after(5)).toEqual([1_000_000, far]);
  expect(after(6)).toEqual([1_000_000, far]);
  expect(after(far)).toEqual([]);
  ring.add(entry(far + 1, 9));
  expect(after(0)[0]).toBe(5);
});
