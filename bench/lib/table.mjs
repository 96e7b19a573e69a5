// Aligned markdown tables, readable in a terminal as they are.
import { figure, find } from './stats.mjs';

/** @typedef {import('./stats.mjs').Row} Row */

/**
 * A column is a figure of the row itself, or with `to` its relation to another row of the same era, by its id or found by the id of the row:
 * `share` says how much of that server's speed is reached, `times` how many times faster, `above` by how much it exceeds.
 * @typedef {object} Column
 * @property {string} label
 * @property {string} metric
 * @property {import('./stats.mjs').Pick} pick
 * @property {number} [digits]
 * @property {string | ((id: string) => string)} [to]
 * @property {'share' | 'times' | 'above'} [as]
 */

/**
 * How `row` stands to `other`. Metrics where more is better are those picked by `max`.
 * @param {Row | undefined} row @param {Row | undefined} other
 * @param {{ metric: string, pick: import('./stats.mjs').Pick, as?: 'share' | 'times' | 'above' }} column
 */
export function relation(row, other, { metric, pick, as }) {
  const own = figure(row, metric, pick);
  const theirs = figure(other, metric, pick);
  if (own === undefined || theirs === undefined) return undefined;
  if (as === 'above') return own - theirs;
  return pick === 'max' ? own / theirs : theirs / own;
}

/** @param {number} value @param {number} digits */
const plain = (value, digits) =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** @param {number | undefined} value @param {Column['as']} as @param {number} [digits] */
export function format(value, as, digits = 0) {
  if (value === undefined) return '–';
  if (as === 'share') return `${plain(value * 100, digits)} %`;
  if (as === 'times') return `${plain(value, value < 10 ? 1 : 0)}×`;
  if (as === 'above') return `${value < 0 ? '−' : '+'}${plain(Math.abs(value), digits)}`;
  return plain(value, digits);
}

/** @param {Row[]} rows @param {Column[]} columns @param {string} [who]  what the rows are */
export function markdown(rows, columns, who = 'server') {
  const head = [who, 'revision', ...columns.map(({ label }) => label)];
  const body = rows.map((row) => [
    row.name,
    row.revision,
    ...columns.map((column) => {
      const to = typeof column.to === 'function' ? column.to(row.id) : column.to;
      const value = to ? relation(row, find(rows, to, row.era), column) : figure(row, column.metric, column.pick);
      return format(value, column.as, column.digits);
    }),
  ]);
  const widths = head.map((_, n) => Math.max(3, ...[head, ...body].map((cells) => cells[n].length)));
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell, n) => (n < 2 ? cell.padEnd(widths[n]) : cell.padStart(widths[n]))).join(' | ')} |`;
  const rule = widths.map((width, n) => (n < 2 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...body.map(line)].join('\n');
}
