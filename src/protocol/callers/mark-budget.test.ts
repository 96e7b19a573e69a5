import { expect, test } from 'vitest';
import { MarkBudget } from './mark-budget.ts';

function make(total: number, perCaller: number, lifetimeMs = 64_000) {
  const clock = { ms: 0 };
  return { budget: new MarkBudget(total, perCaller, lifetimeMs, () => clock.ms), clock };
}

test('a caller with its share of marks is full until some of them have expired', () => {
  const { budget, clock } = make(10, 2);
  budget.charge('a', 10_000);
  budget.charge('a', 20_000);
  expect([budget.isFull('a'), budget.isFull('b'), budget.isFull('a', 1)]).toEqual([true, false, false]);
  expect(budget.waitMs('a')).toBe(10_000);
  clock.ms = 9_999;
  expect(budget.isFull('a')).toBe(true);
  clock.ms = 10_000;
  expect(budget.isFull('a')).toBe(false);
  budget.charge('a', 64_000);
  expect(budget.isFull('a')).toBe(true);
  expect(budget.waitMs('a')).toBe(10_000);
});

test('everyone is full when all marks together reach the total', () => {
  const { budget, clock } = make(3, 2);
  for (const caller of ['a', 'a', 'b']) budget.charge(caller, 5_000);
  expect(budget.isFull('c')).toBe(true);
  expect(budget.waitMs('c')).toBe(5_000);
  clock.ms = 5_000;
  expect(budget.isFull('c')).toBe(false);
});

test('a mark counts at least until it has expired', () => {
  const { budget, clock } = make(1, 1);
  budget.charge('a', 1_234);
  clock.ms = 1_233;
  expect(budget.isFull('a')).toBe(true);
  clock.ms = 2_000;
  expect(budget.isFull('a')).toBe(false);
});
