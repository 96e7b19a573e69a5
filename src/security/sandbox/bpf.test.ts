import { expect, test } from 'vitest';
import { assemble, load, returnAction, unlessOneOf, whenEqual } from './bpf.ts';

test('an instruction is eight little-endian bytes: code, two jumps, operand', () => {
  expect(assemble([load(4)]).toString('hex')).toBe('2000000004000000');
  expect(assemble([returnAction(0x80000000)]).toString('hex')).toBe('0600000000000080');
  expect(assemble(whenEqual(0xc00000b7, [returnAction(0)])).toString('hex')).toBe('15000001b70000c00600000000000000');
});

test('a list of values jumps past the body from each of its tests', () => {
  const program = unlessOneOf([1, 2, 3], [returnAction(7)]);
  expect(program.slice(0, 3).map(({ ifTrue }) => ifTrue)).toEqual([3, 2, 1]);
});

test('a jump that does not fit into its byte is rejected', () => {
  const body = Array.from({ length: 256 }, () => returnAction(0));
  expect(() => whenEqual(1, body)).toThrow(RangeError);
});

test('a program longer than the kernel accepts is rejected', () => {
  expect(() => assemble(Array.from({ length: 4097 }, () => returnAction(0)))).toThrow(RangeError);
});
