import { expect, test } from 'vitest';
import { applyEdits, decodeText, unifiedDiff } from './edit.ts';

const edit = (text: string, ...edits: Parameters<typeof applyEdits>[1] & object[]) =>
  applyEdits(text, edits as never, 'a.txt');

test('edits are applied in order, each to the result of the one before', () => {
  expect(edit('one two', { oldText: 'one', newText: 'two three' }, { oldText: 'two three', newText: '1' })).toBe(
    '1 two',
  );
});

test('new text is taken as it is, dollar signs included', () => {
  expect(edit('price: x', { oldText: 'x', newText: "$& $1 $' $$" })).toBe("price: $& $1 $' $$");
});

test('text that is missing, or there more than once, is an error that says what to do', () => {
  expect(() => edit('a', { oldText: 'b', newText: '' })).toThrow(
    /Edit 1: oldText was not found.*copy the text exactly/,
  );
  expect(() => edit('a a', { oldText: 'a', newText: 'b' })).toThrow(/occurs 2 times.*replaceAll/);
  expect(() => edit('a', { oldText: '', newText: 'b' })).toThrow('oldText is empty');
  expect(edit('a a', { oldText: 'a', newText: 'b', replaceAll: true })).toBe('b b');
});

test('Windows line breaks stay', () => {
  expect(edit('a\r\nb\r\nc\r\n', { oldText: 'a\nb', newText: 'x\ny' })).toBe('x\r\ny\r\nc\r\n');
  expect(edit('a\nb\n', { oldText: 'a\nb', newText: 'x\ny' })).toBe('x\ny\n');
});

test('only UTF-8 text can be edited', () => {
  expect(decodeText(Buffer.from('ä'), 'a')).toBe('ä');
  for (const bytes of [Buffer.from([0xe4]), Buffer.from('a\0b')])
    expect(() => decodeText(bytes, 'a')).toThrow('Only text files in UTF-8 can be edited: a');
});

test('the diff is unified, and empty without a change', async () => {
  expect(await unifiedDiff('/a', 'x\n', 'x\n')).toBe('');
  expect((await unifiedDiff('/a', 'one\ntwo\nthree\n', 'one\n2\nthree\n')).split('\n').slice(2)).toEqual([
    '--- /a\toriginal',
    '+++ /a\tmodified',
    '@@ -1,3 +1,3 @@',
    ' one',
    '-two',
    '+2',
    ' three',
    '',
  ]);
});

test('texts that differ in everything get a diff, too, without looking for the shortest', async () => {
  const lines = (word: string) => Array.from({ length: 50_000 }, (_, index) => `${word} ${index}`).join('\n');
  const diff = await unifiedDiff('/a', `same\n${lines('old')}\nend`, `same\n${lines('new')}\nend`);
  expect(diff).toContain('@@ -2,50000 +2,50000 @@\n-old 0\n');
  expect(diff).toContain('+new 49999');
  expect(diff).not.toContain('same');
});

test.each([
  { what: 'many lines that are alike', line: (n: number) => `line ${n % 7}`, count: 90_000, from: 'line 3' },
  { what: 'very many lines', line: () => 'a', count: 1_900_000, from: 'a' },
])('a diff of $what does not take long', async ({ line, count, from }) => {
  const before = Array.from({ length: count }, (_, n) => line(n)).join('\n');
  const after = before.replaceAll(from, 'b');
  await unifiedDiff('/a', 'x', 'y');
  const used = process.cpuUsage();
  const diff = await unifiedDiff('/a', before, after);
  // A tenth of it usually; it took seconds.
  expect(process.cpuUsage(used).user / 1_000).toBeLessThan(1_500);
  expect(diff).toContain(`\n-${from}\n`);
  expect(diff).toContain('\n+b\n');
});
