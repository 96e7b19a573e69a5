import { expect, test } from 'vitest';
import { visibleParts } from './hidden-characters.ts';

test.each([
  ['plain text with\ttabs\nand lines', 'plain text with\ttabs\nand lines'],
  ['Windows\r\nlines', 'Windows\nlines'],
  ['می‌خواهم', 'می‌خواهم'],
  ['👨‍👩‍👧 ❤️', '👨‍👩‍👧 ❤️'],
  ['right\u202eleft', 'right⟨U+202E⟩left'],
  ['zero\u200bwidth', 'zero⟨U+200B⟩width'],
  ['a\u200db', 'a⟨U+200D⟩b'],
  ['\u001b[31mred', '⟨U+001B⟩[31mred'],
  ['tags\u{e0069}\u{e0067}\u{e006e}', 'tags⟨hidden ×3⟩'],
  ['half \ud800', 'half ⟨U+D800⟩'],
])('%j is shown as %j', (text, shown) => {
  const parts = visibleParts(text).map((part) => part.text);
  expect(parts.join('')).toBe(shown);
});

test('marks are apart from the text, so that text cannot pretend to be one', () => {
  expect(visibleParts('⟨U+202E⟩\u202e').map((part) => part.isMark)).toEqual([false, true]);
});
