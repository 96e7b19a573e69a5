import { expect, test } from 'vitest';
import { SlotSet } from './slot-set.ts';

test('slots are used again, and a member only leaves its own', () => {
  const set = new SlotSet<{ readonly name: string }>();
  const [a, b, c] = [{ name: 'a' }, { name: 'b' }, { name: 'c' }];
  const [slotA, slotB] = [set.add(a), set.add(b)];
  expect(set.delete(slotA, b)).toBe(false);
  expect(set.delete(slotA, a)).toBe(true);
  expect(set.delete(slotA, a)).toBe(false);
  expect(set.add(c)).toBe(slotA);
  expect(set.size).toBe(2);
  expect(new Set(set.values())).toEqual(new Set([b, c]));
  expect([set.delete(slotB, b), set.delete(slotA, c), set.size]).toEqual([true, true, 0]);
});
