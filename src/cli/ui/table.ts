// Tables: columns are aligned, the last one is wrapped to the terminal. Piped output is never cut.

import type { Style } from './style.ts';
import { padTo, widthOf, wrapTo } from './width.ts';

export interface Column<Row> {
  readonly title: string;
  readonly text: (row: Row) => string;
  readonly paint?: (text: string, row: Row) => string;
}

export interface TableOptions {
  readonly style: Style;
  /** Columns of the terminal; undefined: no limit. */
  readonly width?: number | undefined;
  /** Spaces before each line. */
  readonly indent?: number;
  /** Omits the line of titles. */
  readonly bare?: boolean;
}

const gap = 2;
/** If the last column would be narrower than this, it is put on the line below. */
const narrow = 24;

/** Formats rows; each line ends with a line feed. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], options: TableOptions): string {
  const { style, indent = 0, bare = false } = options;
  const cells = rows.map((row) => columns.map((column) => column.text(row)));
  const widths = columns.map((column, i) =>
    Math.max(bare ? 0 : widthOf(column.title), ...cells.map((line) => widthOf(line[i] as string))),
  );
  const head = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, indent);
  const available = options.width === undefined ? Number.POSITIVE_INFINITY : options.width - head;
  const below = available < narrow;
  const left = below ? indent + 4 : head;
  const last = below ? Math.max(narrow, (options.width ?? 80) - left) : available;

  const lines: string[] = [];
  if (!bare) {
    const titles = columns.map((column, i) =>
      i === columns.length - 1 ? column.title : padTo(column.title, (widths[i] as number) + gap),
    );
    lines.push(`${' '.repeat(indent)}${style.faint((below ? titles.slice(0, -1) : titles).join('').trimEnd())}`);
  }
  rows.forEach((row, r) => {
    const texts = cells[r] as string[];
    const paint = (i: number, text: string): string => columns[i]?.paint?.(text, row) ?? text;
    const start = texts
      .slice(0, -1)
      .map((text, i) => paint(i, text) + ' '.repeat((widths[i] as number) + gap - widthOf(text)))
      .join('');
    const final = texts.at(-1) ?? '';
    const wrapped = last === Number.POSITIVE_INFINITY ? [final.replaceAll('\n', ' ')] : wrapTo(final, last);
    const painted = wrapped.map((text) => paint(columns.length - 1, text));
    if (below) {
      lines.push(`${' '.repeat(indent)}${start}`.trimEnd());
      for (const text of painted) if (text !== '') lines.push(' '.repeat(left) + text);
      return;
    }
    painted.forEach((text, i) => {
      lines.push(`${i === 0 ? ' '.repeat(indent) + start : ' '.repeat(left)}${text}`.trimEnd());
    });
  });
  return lines.map((line) => `${line}\n`).join('');
}
