// Lists of objects as a table.

import type { JSX } from 'preact';
import { Text } from '../components/basics.tsx';

export interface TableData {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly total: number;
}

const maxRows = 200;
const maxColumns = 20;

/** The list in a value, or in its only property that is one. */
export function tableOf(value: unknown): TableData | undefined {
  const list = Array.isArray(value) ? value : onlyList(value);
  if (list === undefined || list.length === 0) return undefined;
  const shown = list.slice(0, maxRows);
  if (!shown.every((row) => typeof row === 'object' && row !== null && !Array.isArray(row))) return undefined;
  const columns = [...new Set(shown.flatMap((row) => Object.keys(row as object)))].slice(0, maxColumns);
  const rows = shown.map((row) => columns.map((column) => cell((row as Record<string, unknown>)[column])));
  return { columns, rows, total: list.length };
}

function onlyList(value: unknown): unknown[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const lists = Object.values(value).filter(Array.isArray);
  return lists.length === 1 ? lists[0] : undefined;
}

function cell(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function DataTable({ table }: { table: TableData }): JSX.Element {
  return (
    <section class="table-scroller" aria-label="Table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {table.columns.map((column) => (
              <th key={column} scope="col">
                <Text text={column} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, index) => (
            <tr key={index}>
              {row.map((value, column) => (
                <td key={table.columns[column]}>
                  <Text text={value} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {table.total > table.rows.length && (
        <p class="muted">
          The first {table.rows.length} of {table.total} rows.
        </p>
      )}
    </section>
  );
}
