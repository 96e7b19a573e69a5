import { expect, test } from 'vitest';
import { styleFor } from './style.ts';
import { table } from './table.ts';
import { cutTo, widthOf, wrapTo } from './width.ts';

const plain = styleFor({}, {});
const rows = [
  { name: 'short', about: 'some words that go on for a while' },
  { name: '日本', about: 'wide 🌍' },
];
const columns = [
  { title: 'name', text: (row: (typeof rows)[0]) => row.name },
  { title: 'about', text: (row: (typeof rows)[0]) => row.about },
];

test('columns are aligned by what a terminal draws, and nothing is cut in a pipe', () => {
  expect(table(rows, columns, { style: plain })).toBe(
    'name   about\nshort  some words that go on for a while\n日本   wide 🌍\n',
  );
});

test('the last column is wrapped to the terminal', () => {
  expect(table(rows, columns, { style: plain, width: 32 })).toBe(
    'name   about\nshort  some words that go on for\n       a while\n日本   wide 🌍\n',
  );
});

test('a last column that does not fit beside the others goes below', () => {
  const wide = [{ name: 'a-name-that-takes-nearly-everything', about: 'and more' }];
  expect(table(wide, columns, { style: plain, width: 40 })).toBe(
    'name\na-name-that-takes-nearly-everything\n    and more\n',
  );
});

test('colour codes take no width', () => {
  const coloured = styleFor({ isTTY: true }, {});
  expect(widthOf(coloured.name('abc'))).toBe(3);
  expect(styleFor({ isTTY: true }, { NO_COLOR: '1' }).name('x')).toBe('x');
  expect(styleFor({}, { FORCE_COLOR: '1' }).name('x')).not.toBe('x');
});

test.each([
  ['abc', 3],
  ['日本語', 6],
  ['é', 1],
  ['e\u0301', 1],
  ['🌍', 2],
  ['a\u200bb', 2],
])('%j takes %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

test('long words are broken, and texts are cut between characters', () => {
  expect(wrapTo('abcdefghijkl mn', 8)).toEqual(['abcdefgh', 'ijkl mn']);
  expect(cutTo('日本語', 5)).toBe('日本…');
  expect(cutTo('abc', 3)).toBe('abc');
});
