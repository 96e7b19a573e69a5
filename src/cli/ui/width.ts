// How many columns a text takes on a terminal, and how to cut and wrap it by columns.

const escapes = /\u001b\[[0-9;]*m/g;
/** Combining and invisible characters: they take no column. */
const nothing = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** East Asian wide and fullwidth, and emoji, as terminals draw them. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

/** Columns a text takes; colours take none. */
export function widthOf(text: string): number {
  const bare = text.includes('\u001b') ? text.replace(escapes, '') : text;
  if (/^[\x20-\x7e]*$/.test(bare)) return bare.length;
  let width = 0;
  for (const character of bare) width += nothing.test(character) ? 0 : wide.test(character) ? 2 : 1;
  return width;
}

/** Pads with spaces to a number of columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/** Cuts plain text to a number of columns, the ellipsis included. */
export function cutTo(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let cut = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns - 1) break;
    cut += character;
  }
  return `${cut}…`;
}

/** Breaks plain text into lines of at most this many columns, at spaces if possible. */
export function wrapTo(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(8, columns)));
}

function wrapLine(line: string, columns: number): string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (widthOf(joined) <= columns) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    current = word;
    while (widthOf(current) > columns) {
      const head = cutTo(current, columns + 1).slice(0, -1);
      lines.push(head);
      current = current.slice(head.length);
    }
  }
  lines.push(current);
  return lines;
}
