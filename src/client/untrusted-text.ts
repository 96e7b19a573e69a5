// Text of the server inside our messages: made harmless for a terminal and kept short.

const dangerous = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
const ansi = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

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

/** A frame of a stack. Frames would take the place of the message above them. */
const stackFrame = /^\s+at\s/;

/** The last lines of a log, without escape sequences and stack frames, each indented. */
export function tail(text: string): string {
  return text
    .slice(-maxLines * maxLineLength * 2)
    .replace(ansi, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '' && !stackFrame.test(line))
    .slice(-maxLines)
    .map((line) => `  ${clean(line, maxLineLength)}`)
    .join('\n');
}
