// Text of servers on its way to a terminal: whatever hides in it or would steer the terminal is shown instead.

import { cleanText } from '../security/hygiene.ts';

/** Text of any length; lines stay lines. */
export function forTerminal(text: string): string {
  return cleanText(text.replace(/\r\n?/g, '\n'), 'mark');
}

/** A name or title: one line. */
export function lineForTerminal(text: string, maxChars = 256): string {
  return cleanText(cleanText(text, 'mark'), 'line', maxChars);
}
