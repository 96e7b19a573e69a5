import { expect, test } from 'vitest';
import { Batch } from './batch.ts';

const textOf = (batch: Batch): string => batch.from(0).toString('latin1');

test('lines follow each other, beyond the first buffer too', () => {
  const batch = new Batch();
  let expected = '';
  for (let length = 0; length < 700; length++) {
    const text = String.fromCharCode(97 + (length % 26)).repeat(length);
    batch.addLine(text);
    expected += `${text}\n`;
  }
  expect(expected.length).toBeGreaterThan(200_000);
  expect(textOf(batch)).toBe(expected);
  expect([batch.bytes, batch.lines]).toEqual([expected.length, 700]);
});

test('what was handed over stays as it is while more is added', () => {
  const batch = new Batch();
  batch.addLine('first');
  const first = batch.take();
  batch.addText('other');
  expect(first).toMatchObject({ lines: 1 });
  expect(first.bytes.toString()).toBe('first\n');
  expect([batch.lines, batch.bytes, textOf(batch)]).toEqual([0, 5, 'other']);
});
