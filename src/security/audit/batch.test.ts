import { expect, test } from 'vitest';
import { Batch, bytesOf } from './batch.ts';

const textOf = (batch: Batch): string => batch.from(0).toString('latin1');

test('pieces follow each other, whatever their length, beyond the first buffer too', () => {
  const batch = new Batch();
  let expected = '';
  for (let length = 0; length < 700; length++) {
    const text = String.fromCharCode(97 + (length % 26)).repeat(length);
    batch.ascii(text);
    batch.bytes(bytesOf(text));
    batch.byte(0x2c);
    batch.digits(length);
    expect(batch.quoted(text)).toBe(true);
    expected += `${text}${text},${length}"${text}"`;
  }
  expect(expected.length).toBeGreaterThan(700_000);
  expect(textOf(batch)).toBe(expected);
});

test.each([0, 9, 10, 99, 100, 999, 1000, 123_456, 9_999_999, 99_999_999, 999_999_999, 1e9, 2 ** 31, 2 ** 53 - 1])(
  '%d has its digits',
  (number) => {
    const batch = new Batch();
    batch.digits(number);
    expect(textOf(batch)).toBe(`${number}`);
  },
);

test('a text that JSON spells otherwise leaves nothing behind', () => {
  const batch = new Batch();
  batch.ascii('before');
  for (const text of ['a"b', 'a\\b', 'a\nb', 'a\u007fb', 'a\u00e9b', 'a\u{1f600}b'])
    expect(batch.quoted(text)).toBe(false);
  expect(textOf(batch)).toBe('before');
});

test('what was handed over stays as it is while more is written, until the next time', () => {
  const batch = new Batch();
  batch.ascii('first');
  batch.endLine();
  const first = batch.take();
  batch.ascii('other');
  batch.endLine();
  expect(first).toMatchObject({ lines: 1 });
  expect(first.bytes.toString()).toBe('first');
  expect([batch.lines, textOf(batch)]).toEqual([1, 'other']);
  batch.cut(2);
  expect(textOf(batch)).toBe('ot');
});
