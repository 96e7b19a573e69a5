import { expect, test } from 'vitest';
import { createRedaction, toAscii } from './redaction.ts';

const redaction = createRedaction({});
const textOf = (value: unknown, by = redaction): string => toAscii(by.value(value));
const written = (value: unknown): unknown => JSON.parse(textOf(value));

test('plain values are written as they are', () => {
  const value = { a: 1, b: [true, null, 2.5], c: { d: 'text' } };
  expect(written(value)).toEqual(value);
});

test.each([
  ['', '""'],
  ['"', '"\\""'],
  ['back\\slash', '"back\\\\slash"'],
  ['line\nbreak\u0007', '"line\\nbreak\\u0007"'],
  ['gr\u00fc\u00df \u{1f600}', '"gr\\u00fc\\u00df \\ud83d\\ude00"'],
  ['\u202eevil', '"\\u202eevil"'],
  [0, '0'],
  [-0, '0'],
  [-12, '-12'],
  [999_999_999, '999999999'],
  [1_000_000_000, '1000000000'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  [1e21, '1e+21'],
  [0.1, '0.1'],
  [Number.NaN, 'null'],
  [{}, '{}'],
  [[], '[]'],
  [{ a: {}, b: [[], {}] }, '{"a":{},"b":[[],{}]}'],
  [{ gr\u00f6\u00dfe: 1 }, '{"gr\\u00f6\\u00dfe":1}'],
])('%j is encoded in ASCII', (value, text) => {
  expect(textOf(value)).toBe(text);
});

test('what was shown of one value says nothing about the next', () => {
  const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`key${n}`, n]));
  const values = [
    { a: 1, b: { c: 2 } },
    { '': 1, b: 2 },
    { b: { a: 1 }, c: 2 },
    many,
    { key0: { [`k${'x'.repeat(80)}`]: 1 } },
  ];
  for (const value of [...values, ...values.toReversed()]) {
    expect(written(value)).toEqual(value);
    expect(textOf({ password: 'hunter2', a: { token: 'hunter2' } })).not.toContain('hunter2');
  }
});

test('what its keys do not tell is copied with care', () => {
  expect(written({ at: new Date(0), of: new Map([['token', 'x']]) })).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    of: { token: '[redacted]' },
  });
  expect(written(JSON.parse('{"constructor": 1, "__proto__": {"password": "x"}}'))).toEqual(
    JSON.parse('{"constructor": 1, "__proto__": {"password": "[redacted]"}}'),
  );
});

test('of long texts the beginning is kept, and how long they were', () => {
  expect(written({ text: 'word '.repeat(50_000) })).toEqual({
    text: expect.stringMatching(/^(word ){51}\.\.\. \[250000 characters\]$/),
  });
});

test('a secret at the place of the cut is not shown in part', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  for (let at = 215; at < 275; at++) {
    const text = `${'.'.repeat(at - 1)} ${token} ${'tail '.repeat(500)}`;
    expect(JSON.stringify(written({ text })), `at ${at}`).not.toContain('ghp_');
  }
});

test('many values are cut, deep ones too, and nothing is written twice as long as it may be', () => {
  const wide = textOf(Array.from({ length: 5_000 }, (_, n) => ({ n, text: 'x'.repeat(100) })));
  expect(wide.length).toBeLessThan(40_000);
  let deep: unknown = 'end';
  for (let level = 0; level < 100; level++) deep = { deep };
  expect(textOf(deep).length).toBeLessThan(500);
});

test('names are short and without secrets', () => {
  expect(redaction.text('x'.repeat(10_000)).length).toBeLessThan(600);
  expect(redaction.text(`tool ghp_${'a1B2'.repeat(9)}`)).not.toContain('ghp_');
});

test.each(['name', 'Name', 'key', 'Key', 'header', 'Header'])(
  'a value is hidden by the %s that stands beside it, here as everywhere',
  (key) => {
    const text = textOf({ [key]: 'Authorization', value: 'hunter2' });
    expect(text).toContain('Authorization');
    expect(text).not.toContain('hunter2');
  },
);

test('shapes of secrets that were added are found in short texts as well', () => {
  const own = createRedaction({ secretPatterns: [/\b\d{4}\b/] });
  expect(textOf({ door: '4711', room: 'x' }, own)).toBe('{"door":"[redacted]","room":"x"}');
});
