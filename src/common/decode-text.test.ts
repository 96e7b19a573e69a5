import { expect, test } from 'vitest';
import { decodeText } from './decode-text.ts';

test.each([
  ['plain', Buffer.from('{"a":"ä"}')],
  ['with a byte order mark', Buffer.from('\ufeff{"a":"ä"}')],
])('UTF-8, %s', (_name, bytes) => {
  expect(decodeText(bytes)).toBe('{"a":"ä"}');
});

test('an empty file is an empty text', () => {
  expect(decodeText(Buffer.alloc(0))).toBe('');
});

test.each([
  ['with a byte order mark', Buffer.from('\ufeff{}', 'utf16le')],
  ['without one', Buffer.from('{}', 'utf16le')],
  ['big-endian', Buffer.from('\ufeff{}', 'utf16le').swap16()],
])('UTF-16, %s, is an error that says what to do', (_name, bytes) => {
  expect(() => decodeText(bytes)).toThrow('it is in UTF-16; save it as UTF-8');
});
