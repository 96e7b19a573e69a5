import { expect, test } from 'vitest';
import { createSpelling } from './arguments.ts';

const spelling = createSpelling({});
const spell = (value: unknown): unknown => JSON.parse(spelling.value(value));

test('plain values are written as they are', () => {
  const value = { a: 1, b: [true, null, 2.5], c: { d: 'text' } };
  expect(spell(value)).toEqual(value);
});

test('of long texts the beginning is kept, and how long they were', () => {
  expect(spell({ text: 'word '.repeat(50_000) })).toEqual({
    text: expect.stringMatching(/^(word ){51}… \[250000 characters\]$/),
  });
});

test('a secret at the place of the cut is not shown in part', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  for (let at = 215; at < 275; at++) {
    const text = `${'.'.repeat(at - 1)} ${token} ${'tail '.repeat(500)}`;
    expect(JSON.stringify(spell({ text })), `at ${at}`).not.toContain('ghp_');
  }
});

test('many values are cut, deep ones too, and nothing is written twice as long as it may be', () => {
  const wide = spelling.value(Array.from({ length: 5_000 }, (_, n) => ({ n, text: 'x'.repeat(100) })));
  expect(wide.length).toBeLessThan(40_000);
  let deep: unknown = 'end';
  for (let level = 0; level < 100; level++) deep = { deep };
  expect(spelling.value(deep).length).toBeLessThan(500);
});

test('names are short and without secrets', () => {
  expect(spelling.text('x'.repeat(10_000)).length).toBeLessThan(600);
  expect(spelling.text(`tool ghp_${'a1B2'.repeat(9)}`)).not.toContain('ghp_');
});

test.each(['name', 'Name', 'key', 'Key', 'header', 'Header'])(
  'a value is hidden by the %s that stands beside it, here as everywhere',
  (key) => {
    const written = spelling.value({ [key]: 'Authorization', value: 'hunter2' });
    expect(written).toContain('Authorization');
    expect(written).not.toContain('hunter2');
  },
);

test('shapes of secrets that somebody added are found in short texts as well', () => {
  const own = createSpelling({ secretPatterns: [/\b\d{4}\b/] });
  expect(own.value({ door: '4711', room: 'x' })).toBe('{"door":"[redacted]","room":"x"}');
});
