import { expect, test } from 'vitest';
import { IdTable } from './id-table.ts';
import type { RequestId } from './model.ts';

interface Entry {
  readonly id: RequestId;
}

const callWith = (id: RequestId): Entry => ({ id });
const idsOf = (calls: IdTable<Entry>): RequestId[] => calls.values().map(({ id }) => id);

test('calls are found by numbers and by texts, which differ', () => {
  const calls = new IdTable<Entry>();
  const [number, text] = [callWith(1), callWith('1')];
  calls.add(number);
  calls.add(text);
  expect(calls.get(1)).toBe(number);
  expect(calls.get('1')).toBe(text);
  expect(calls.has(2)).toBe(false);
  expect(calls.size).toBe(2);
});

test('ids that share a slot are told apart, however far from each other they are', () => {
  const calls = new IdTable<Entry>();
  const ids = [0, 8, -8, 2 ** 40, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1024, 5];
  const all = ids.map(callWith);
  for (const call of all) calls.add(call);
  for (const call of all) expect(calls.get(call.id)).toBe(call);
  for (const call of all) {
    calls.delete(call);
    expect(calls.has(call.id)).toBe(false);
  }
  expect(calls.size).toBe(0);
});

test('a long call stays while thousands of others come and go', () => {
  const calls = new IdTable<Entry>();
  const long = callWith(3);
  calls.add(long);
  const others: Entry[] = [];
  for (let id = 4; id < 5_000; id++) {
    const call = callWith(id);
    calls.add(call);
    others.push(call);
    if (others.length > 100) calls.delete(others.shift() as Entry);
  }
  expect(calls.get(3)).toBe(long);
  expect(calls.size).toBe(101);
  expect(idsOf(calls).slice(0, 2)).toEqual([3, 4_900]);
});

test('a call is only deleted by itself, not by another with its id', () => {
  const calls = new IdTable<Entry>();
  for (const id of [7, 'seven']) {
    calls.add(callWith(id));
    calls.delete(callWith(id));
    expect(calls.has(id)).toBe(true);
  }
  expect(idsOf(calls)).toEqual([7, 'seven']);
});
