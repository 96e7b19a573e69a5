import { expect, test } from 'vitest';
import { formatIssues, formatPath, shorten } from './issues.ts';

test('issues become one line for people', () => {
  expect(
    formatIssues([
      { path: ['name'], message: 'must be a string' },
      { path: ['tags', 2], message: 'must be one of "a", "b"' },
      { path: [], message: 'is not allowed' },
    ]),
  ).toBe('name: must be a string; tags[2]: must be one of "a", "b"; is not allowed');
  expect(formatIssues([])).toBe('');
});

test('paths are written as code would write them', () => {
  expect(formatPath([])).toBe('');
  expect(formatPath([0, 'a', 'b-c', 1])).toBe('[0].a.b-c[1]');
  expect(formatPath(['a b', 'c', ''])).toBe('["a b"].c[""]');
  expect(formatPath(['1', 'größe'])).toBe('["1"].größe');
});

test('a name as long as a book is cut', () => {
  expect(formatPath(['x y'.repeat(10_000)]).length).toBeLessThan(100);
  expect(formatPath(['x'.repeat(10_000)]).length).toBeLessThan(100);
  expect(formatPath(new Array(500).fill('child')).length).toBe(200);
  expect(shorten('abcdef', 4)).toBe('abc…');
});
