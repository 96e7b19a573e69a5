import { expect, test } from 'vitest';
import { createMemoryExpiringStore, type MemoryStoreLimits } from './expiring-store.ts';

function make(limits: Partial<MemoryStoreLimits> = {}) {
  const clock = { ms: 1_000_000 };
  const now = (): number => clock.ms;
  return { store: createMemoryExpiringStore(limits, now, now), clock };
}

test('a mark is added once, and stays until it expires', () => {
  const { store, clock } = make();
  expect([store.add('used', true, 1_000), store.add('used', true, 1_000)]).toEqual([true, false]);
  expect(store.add('other', { n: 1 }, 1_000)).toBe(true);
  expect([store.get('used'), store.get('other')]).toEqual([true, { n: 1 }]);
  clock.ms += 1_000;
  expect([store.get('used'), store.get('other')]).toEqual([undefined, undefined]);
  expect(store.add('used', true, 1_000)).toBe(true);
});

test('no number of values or marks makes the store drop a mark', () => {
  const { store } = make({ maxValues: 10 });
  store.add('first', true, 1_000);
  for (let n = 0; n < 1_000; n++) {
    store.set(`value ${n}`, n, 1_000, `caller ${n}`);
    store.add(`mark ${n}`, true, 1_000);
  }
  expect([store.get('first'), store.get('mark 0'), store.get('mark 999')]).toEqual([true, true, true]);
});

test('a mark beyond the limit is rejected, and accepted once others have expired', () => {
  const { store, clock } = make({ maxMarks: 3 });
  for (const key of ['a', 'b', 'c']) store.add(key, true, 1_000);
  expect(() => store.add('d', true, 1_000)).toThrow(/overloaded/);
  clock.ms += 1_000;
  expect(store.add('d', true, 1_000)).toBe(true);
});

test('beyond the limit the oldest values are dropped', () => {
  const { store } = make({ maxValues: 2 });
  store.set('a', 1, 1_000);
  store.set('b', 2, 1_000);
  store.set('a', 3, 1_000);
  store.set('c', 4, 1_000);
  expect([store.get('a'), store.get('b'), store.get('c')]).toEqual([3, undefined, 4]);
});

test('a caller that exceeds its limit loses its own values, not those of others', () => {
  const { store } = make({ maxValueBytes: 100_000, maxValueBytesPerOwner: 10_000 });
  store.set('of alice', ['x'.repeat(1_000)], 1_000, 'alice');
  for (let n = 0; n < 100; n++) store.set(`of mallory ${n}`, { text: 'x'.repeat(2_000) }, 1_000, 'mallory');
  expect(store.get('of alice')).toBeDefined();
  expect([store.get('of mallory 0'), store.get('of mallory 99')]).toEqual([undefined, { text: 'x'.repeat(2_000) }]);
  expect(() => store.set('huge', 'x'.repeat(10_000), 1_000, 'mallory')).toThrow(/10000 bytes/);
});

test('when all callers together exceed the limit, the one with the most loses values', () => {
  const { store } = make({ maxValueBytes: 10_000, maxValueBytesPerOwner: 8_000 });
  store.set('small', 'x'.repeat(1_000), 1_000, 'a');
  for (let n = 0; n < 6; n++) store.set(`large ${n}`, 'x'.repeat(1_000), 1_000, 'b');
  for (let n = 0; n < 3; n++) store.set(`third ${n}`, 'x'.repeat(1_000), 1_000, 'c');
  expect(store.get('small')).toBeDefined();
  expect(store.get('large 0')).toBeUndefined();
  expect(store.get('third 2')).toBeDefined();
});

test('expired values are dropped while others are written', () => {
  const { store, clock } = make({ maxValues: 1_000, maxMarks: 1_000 });
  for (let n = 0; n < 500; n++) {
    store.set(`v${n}`, n, 1_000);
    store.add(`m${n}`, true, 1_000);
  }
  clock.ms += 1_000;
  for (let n = 0; n < 900; n++) {
    store.set(`w${n}`, n, 1_000);
    store.add(`n${n}`, true, 1_000);
  }
  expect([store.get('w0'), store.get('n0')]).toEqual([0, true]);
});

test('a value is replaced only if it is the expected one', () => {
  const { store, clock } = make();
  expect(store.replace?.('k', { n: 1 }, { n: 2 }, 1_000)).toBe(false);
  expect(store.replace?.('k', undefined, { n: 1 }, 1_000)).toBe(true);
  expect([store.replace?.('k', undefined, 'x', 1_000), store.replace?.('k', { n: 2 }, 'x', 1_000)]).toEqual([
    false,
    false,
  ]);
  expect(store.replace?.('k', { n: 1 }, { n: 2 }, 1_000)).toBe(true);
  expect(store.get('k')).toEqual({ n: 2 });
  clock.ms += 1_000;
  expect(store.replace?.('k', undefined, 'later', 1_000)).toBe(true);
});
