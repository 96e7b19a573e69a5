// Makes text from servers safe for a terminal: control sequences and hidden characters become visible.

import { cleanText } from '../common/hygiene.ts';

/** Text of any length; line breaks are kept. */
export function forTerminal(text: string): string {
  return cleanText(text.replace(/\r\n?/g, '\n'), 'mark');
}

/** A name or title: one line. */
export function lineForTerminal(text: string, maxChars = 256): string {
  return cleanText(cleanText(text, 'mark'), 'line', maxChars);
}
