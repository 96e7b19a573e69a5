import { expect, test } from 'vitest';
import { CallerBudget, callerKey } from './caller-budget.ts';

test('a caller that holds its share is full, others are not', () => {
  const budget = new CallerBudget(10, 4);
  budget.charge('a', 4);
  expect(budget.isFull('a')).toBe(true);
  expect(budget.isFull('b')).toBe(false);
  budget.release('a', 1);
  expect(budget.isFull('a')).toBe(false);
});

test('everyone is full when the total is held', () => {
  const budget = new CallerBudget(10, 8);
  budget.charge('a', 6);
  budget.charge('b', 4);
  expect(budget.isFull('c')).toBe(true);
  expect(budget.isFull('c', 1)).toBe(false);
});

test('an item larger than the share passes when its caller holds nothing', () => {
  const budget = new CallerBudget(10, 4);
  expect(budget.isFull('a')).toBe(false);
  budget.charge('a', 9);
  expect(budget.isFull('a')).toBe(true);
  budget.release('a', 9);
  expect(budget.held).toBe(0);
  expect(budget.heldBy('a')).toBe(0);
});

test('a principal is one caller from any address, and never the same as an address', () => {
  const principal = { id: '10.0.0.1' };
  expect(callerKey({ principal, address: '10.0.0.1' })).toBe(callerKey({ principal, address: '10.0.0.2' }));
  expect(callerKey({ principal })).not.toBe(callerKey({ address: '10.0.0.1' }));
});

test('the addresses of one IPv6 network are one caller, and so are both forms of an IPv4 address', () => {
  const keyOf = (address: string): string => callerKey({ address });
  expect(keyOf('2001:db8:1:2::1')).toBe(keyOf('2001:db8:1:2:ffff:0:0:9'));
  expect(keyOf('2001:db8:1:2::1')).not.toBe(keyOf('2001:db8:1:3::1'));
  expect(keyOf('2001:db8::1')).toBe(keyOf('2001:db8:0:0:1::'));
  expect(keyOf('::ffff:192.0.2.1')).toBe(keyOf('192.0.2.1'));
  expect(keyOf('192.0.2.1')).not.toBe(keyOf('192.0.2.2'));
});
