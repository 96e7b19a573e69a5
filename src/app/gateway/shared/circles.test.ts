import { expect, test } from 'vitest';
import { isCircle } from './circles.ts';

const a = { ids: ['a.json', 'process a'], above: ['c.json', 'process c'] };
const b = { ids: ['b.json', 'process b'], above: ['a.json', 'process a'] };

test('a client that leads back to its gateway is found over any number of gateways', () => {
  expect(isCircle(['b.json'], ['b.json'], [])).toBe(true);
  expect(isCircle(['c.json', 'process c'], b.ids, [a, b])).toBe(true);
  expect(isCircle(['c.json', 'process c'], b.ids, [b, a])).toBe(true);
  expect(isCircle(['process c'], ['process b'], [a, b])).toBe(true);
});

test('a chain of gateways, and clients that share one, are no circle', () => {
  expect(isCircle(['d.json', 'process d'], b.ids, [a, b])).toBe(false);
  expect(isCircle(['d.json'], [], [a, b])).toBe(false);
  expect(isCircle(['d.json'], ['a.json'], [{ ids: ['d.json'], above: ['a.json'] }])).toBe(false);
});
