import { expect, test } from 'vitest';
import { findCircle } from './circles.ts';

const a = { ids: ['a.json', 'process a'], above: ['c.json', 'process c'] };
const b = { ids: ['b.json', 'process b'], above: ['a.json', 'process a'] };

test('a client that leads back to its gateway is found over any number of gateways', () => {
  expect(findCircle(['b.json'], ['b.json'], [])).toBe('certain');
  expect(findCircle(['c.json', 'process c'], b.ids, [a, b])).toBe('certain');
  expect(findCircle(['c.json', 'process c'], b.ids, [b, a])).toBe('certain');
  expect(findCircle(['process c'], ['process b'], [a, b])).toBe('certain');
});

test('a chain of gateways, and clients that share one, are no circle', () => {
  expect(findCircle(['d.json', 'process d'], b.ids, [a, b])).toBe('none');
  expect(findCircle(['d.json'], [], [a, b])).toBe('none');
  expect(findCircle(['d.json'], ['a.json'], [{ ids: ['d.json'], above: ['a.json'] }])).toBe('none');
});

test('of gateways whose clients are not accepted yet, the one with the greatest id decides first', () => {
  const asking = (name: string, client: string) => ({ ids: [name], above: [client], accepted: [] });
  const two = [asking('a', 'b'), asking('b', 'a')];
  expect([findCircle(['a'], ['b'], two), findCircle(['b'], ['a'], two)]).toEqual(['undecided', 'certain']);
  const three = [asking('a', 'b'), asking('b', 'c'), asking('c', 'a')];
  const found = [findCircle(['a'], ['b'], three), findCircle(['b'], ['c'], three), findCircle(['c'], ['a'], three)];
  expect(found).toEqual(['undecided', 'undecided', 'certain']);
  // A client that is served already stays.
  const served = [asking('a', 'b'), { ids: ['b'], above: ['a'], accepted: ['a'] }];
  expect(findCircle(['a'], ['b'], served)).toBe('certain');
});
