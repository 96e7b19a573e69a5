// Metrics: charts of the last minutes or hours, with the same numbers as a table. Loaded with the plot library when opened.

import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Series } from '../../api.ts';
import { Empty, Heading, Problem, Tabs, useLoaded } from '../components/basics.tsx';
import { get } from '../server.ts';
import { theme } from '../theme.ts';

const ranges = [
  { resolution: 1, name: '15 minutes', refreshMs: 2_000 },
  { resolution: 10, name: '6 hours', refreshMs: 10_000 },
] as const;

type MetricColumn = Series['columns'][number];

const tableRows = 30;
const chartHeight = 180;

export function Metrics(): JSX.Element {
  const index = useSignal(0);
  const range = ranges[index.value] ?? ranges[0];
  const load = (): Promise<Series> => get<Series>(`series?resolution=${range.resolution}`);
  const { value, problem } = useLoaded(`series ${range.resolution}`, load, range.refreshMs);
  const groups = new Map<string, MetricColumn[]>();
  for (const column of value?.columns ?? []) groups.set(column.unit, [...(groups.get(column.unit) ?? []), column]);
  return (
    <>
      <Heading title="Metrics">
        <label class="inline">
          <span>Range</span>
          <select value={String(index.value)} onChange={(event) => (index.value = Number(event.currentTarget.value))}>
            {ranges.map((each, at) => (
              <option key={each.name} value={String(at)}>
                {each.name}
              </option>
            ))}
          </select>
        </label>
      </Heading>
      {problem !== undefined && <Problem message={problem} />}
      {value !== undefined && value.at.length === 0 && (
        <Empty title="No numbers yet.">
          <p>They are collected while the console is open.</p>
        </Empty>
      )}
      <div class="charts">
        {value !== undefined &&
          value.at.length > 0 &&
          [...groups].map(([unit, columns]) => (
            <section key={unit} class="card chart-card" aria-label={titleOf(unit, columns)}>
              <h2>{titleOf(unit, columns)}</h2>
              <Tabs
                label={`Views of ${titleOf(unit, columns)}`}
                tabs={[
                  { name: 'Chart', content: () => <Chart at={value.at} columns={columns} unit={unit} /> },
                  { name: 'Table', content: () => <Numbers at={value.at} columns={columns} /> },
                ]}
              />
            </section>
          ))}
      </div>
    </>
  );
}

const unitTitles: Readonly<Record<string, string>> = {
  '1/s': 'Rates per second',
  '/s': 'Rates per second',
  ms: 'Durations in milliseconds',
  bytes: 'Memory in bytes',
  B: 'Memory in bytes',
  MB: 'Memory in MB',
};

function titleOf(unit: string, columns: readonly MetricColumn[]): string {
  if (columns.length === 1) return `${columns[0]?.name ?? ''}${unit === '' ? '' : ` (${unit})`}`;
  return unitTitles[unit] ?? (unit === '' ? 'Counts' : `In ${unit}`);
}

/** Large numbers short enough for an axis. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${(value / 1e9).toFixed(1)} G`;
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)} M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(0)} k`;
  return String(Math.round(value * 100) / 100);
}

/** Times of an axis: with seconds where its lines are less than a minute apart. */
function clocks(values: readonly number[]): string[] {
  const isFine = values.length > 1 && (values[1] as number) - (values[0] as number) < 60;
  return values.map((seconds) => new Date(seconds * 1000).toLocaleTimeString('en-GB').slice(0, isFine ? 8 : 5));
}

interface ChartProps {
  readonly at: readonly number[];
  readonly columns: readonly MetricColumn[];
  readonly unit: string;
}

/** As many as there are colours without the first, which is that of nothing in particular. */
const maxLines = 7;

function Chart({ at, columns }: ChartProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const shown = columns.slice(0, maxLines);
  const names = shown.map((column) => column.name).join('\n');
  const look = theme.value;
  // Drawn again when the lines or the colours change; new numbers only replace the data.
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const axis = {
      stroke: () => resolved(element, '--muted'),
      grid: { stroke: () => resolved(element, '--line'), width: 1 },
      ticks: { show: false },
      font: '11px system-ui',
    };
    const made = new uPlot(
      {
        width: Math.max(200, element.clientWidth),
        height: chartHeight,
        legend: { show: false },
        cursor: { sync: { key: 'metrics' }, drag: { x: false, y: false } },
        series: [
          {},
          ...shown.map((column, index) => ({
            label: column.name,
            stroke: resolved(element, column.name.toLowerCase() === 'errors' ? '--bad' : `--plot-${index + 1}`),
            width: 1.5,
            points: { show: false },
          })),
        ],
        axes: [
          { ...axis, values: (_, values) => clocks(values), space: 64 },
          { ...axis, size: 56, values: (_, values) => values.map(short) },
        ],
      },
      dataOf(at, shown),
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: Math.max(200, element.clientWidth), height: chartHeight });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [names, look]);
  useEffect(() => plot.current?.setData(dataOf(at, shown)), [at]);
  return (
    <>
      <div ref={place} class="chart" aria-hidden="true" />
      <ul class="legend">
        {shown.map((column, index) => (
          <li key={column.name}>
            <span
              class={column.name.toLowerCase() === 'errors' ? 'line-errors' : `line-${index + 1}`}
              aria-hidden="true"
            />
            {column.name} <strong>{short(lastOf(column) ?? 0)}</strong>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A colour as the canvas understands it; `light-dark()` is resolved by the browser. */
function resolved(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

const dataOf = (at: readonly number[], columns: readonly MetricColumn[]): uPlot.AlignedData =>
  [at, ...columns.map((column) => column.values)] as unknown as uPlot.AlignedData;

function lastOf(column: MetricColumn): number | undefined {
  for (let index = column.values.length - 1; index >= 0; index--) {
    const value = column.values[index];
    if (value !== null && value !== undefined) return value;
  }
  return undefined;
}

function Numbers({ at, columns }: { at: readonly number[]; columns: readonly MetricColumn[] }): JSX.Element {
  const step = Math.max(1, Math.floor(at.length / tableRows));
  const indexes = at.map((_, index) => index).filter((index) => (at.length - 1 - index) % step === 0);
  return (
    <section class="table-scroller short" aria-label="Numbers" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {columns.map((column) => (
              <th key={column.name} scope="col">
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {indexes.reverse().map((index) => (
            <tr key={at[index]}>
              <td>{new Date((at[index] ?? 0) * 1000).toLocaleTimeString('en-GB')}</td>
              {columns.map((column) => (
                <td key={column.name}>{short(column.values[index] ?? 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
