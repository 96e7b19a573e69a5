// Colours: on a terminal, unless NO_COLOR is set or the terminal is dumb.

type TerminalEnv = Readonly<Record<string, string | undefined>>;

/** One function per meaning, so that commands do not name colours. */
export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly name: (text: string) => string;
  readonly good: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly bad: (text: string) => string;
}

const plain = (text: string): string => text;
const sgr =
  (open: number, close: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${open}m${text}\u001b[${close}m`;

const colours: Style = {
  strong: sgr(1, 22),
  faint: sgr(2, 22),
  name: sgr(36, 39),
  good: sgr(32, 39),
  warn: sgr(33, 39),
  bad: sgr(31, 39),
};
const colourless: Style = { strong: plain, faint: plain, name: plain, good: plain, warn: plain, bad: plain };

/** FORCE_COLOR wins over everything, NO_COLOR over the terminal (https://no-color.org). */
export function styleFor(stream: { readonly isTTY?: boolean }, env: TerminalEnv = process.env): Style {
  if (env['FORCE_COLOR'] !== undefined && env['FORCE_COLOR'] !== '0') return colours;
  if (env['NO_COLOR'] || env['TERM'] === 'dumb') return colourless;
  return stream.isTTY === true ? colours : colourless;
}
