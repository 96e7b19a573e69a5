// Text of the server inside our messages: made harmless for a terminal and kept short.

import { lastLines } from '../common/last-lines.ts';

const dangerous = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** One line without control, bidi or zero-width characters, never long. */
export function clean(text: string, max = 300): string {
  const head = text.length > max ? `${text.slice(0, max)}…` : text;
  return head.replace(dangerous, ' ');
}

/** The same between quotation marks. */
export function quote(text: string): string {
  return `"${clean(text)}"`;
}

const maxLines = 10;
const maxLineLength = 300;

/** The last lines of a log, each indented. */
export function tail(text: string): string {
  return lastLines(text.slice(-maxLines * maxLineLength * 2), maxLines)
    .map((line) => `  ${clean(line, maxLineLength)}`)
    .join('\n');
}
