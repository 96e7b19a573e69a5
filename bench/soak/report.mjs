// From figures to a result: the limits, and the table that shows how each was met.
import { readFileSync, writeFileSync } from 'node:fs';

export const bars = { p99Ms: 250, lost: 0, rssMb: 600, blockedMs: 200 };

/** Above this the honest callers' own process was short of CPU time, and their latencies say little of the server. */
const busyLoopMs = 50;

const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

function latencies(pairs) {
  const sorted = pairs.map(([, ms]) => ms).sort((a, b) => a - b);
  return {
    count: sorted.length,
    p50Ms: percentile(sorted, 0.5),
    p95Ms: percentile(sorted, 0.95),
    p99Ms: percentile(sorted, 0.99),
    maxMs: sorted.at(-1) ?? 0,
    /** With the time in which the host withheld a core. */
    p99WithheldMs: percentile(
      pairs.map(([ms]) => ms).sort((a, b) => a - b),
      0.99,
    ),
  };
}

export function summarize({ seconds, cores, honestCount, ended, honest, hostile, server, withheldShare }) {
  const kinds = Object.fromEntries(Object.entries(honest?.kinds ?? {}).map(([kind, each]) => [kind, latencies(each)]));
  const all = latencies(Object.values(honest?.kinds ?? {}).flat());
  const most = (name) => Math.max(0, ...server.map((line) => line[name]));
  const cpu = server.flatMap(({ cpuMs }) => (cpuMs === undefined ? [] : [cpuMs]));
  const cpuMs = cpu.length < 2 ? 0 : cpu.at(-1) - cpu[0];
  const results = [
    { bar: 'honest requests, p99', limit: bars.p99Ms, measured: all.p99Ms, unit: 'ms', ok: all.p99Ms < bars.p99Ms },
    {
      bar: 'honest requests lost',
      limit: bars.lost,
      measured: honest?.lostCount ?? -1,
      unit: '',
      ok: honest?.lostCount === 0,
    },
    {
      bar: 'server memory, peak',
      limit: bars.rssMb,
      measured: most('peakRssMb'),
      unit: 'MB',
      ok: most('peakRssMb') < bars.rssMb,
    },
    {
      bar: 'event loop blocked, longest',
      limit: bars.blockedMs,
      measured: most('blockedMs'),
      unit: 'ms',
      ok: most('blockedMs') < bars.blockedMs,
    },
  ];
  return {
    ok: ended === undefined && all.count > 0 && results.every(({ ok }) => ok),
    seconds,
    cores,
    node: process.version,
    honestCount,
    withheldShare,
    ...(ended === undefined ? {} : { ended }),
    results,
    honest: { total: honest?.total ?? 0, all, kinds, lost: honest?.lost ?? [], loop: honest?.loop },
    server: { delayMs: most('delayMs'), cpuShare: cpuMs / (seconds * 1000), rssMb: server.at(-1)?.rssMb ?? 0 },
    hostile,
  };
}

const number = (value) => value.toLocaleString('en-US', { maximumFractionDigits: value < 10 ? 1 : 0 });

function title({ honestCount, seconds, node, cores, withheldShare, honest }) {
  const run = `${honestCount} honest callers and a hostile one for ${seconds} s; Node ${node}, ${cores} cores.`;
  if (withheldShare < 0.005) return run;
  const share = `The machine is a virtual one, whose host withheld ${number(withheldShare * 100)} % of the cores' time`;
  return `${run} ${share}; that time is not counted. With it, p99 is ${number(honest.all.p99WithheldMs)} ms.`;
}

const barTable = ({ results }) =>
  table([
    ['bar', 'limit', 'measured', ''],
    ...results.map(({ bar, limit, measured, unit, ok }) => [
      bar,
      limit === 0 ? 'none' : `< ${limit} ${unit}`,
      `${number(measured)} ${unit}`.trim(),
      ok ? 'ok' : 'MISSED',
    ]),
  ]);

const honestTable = ({ honest }) =>
  table([
    ['honest requests', 'count', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms'],
    ...[...Object.entries(honest.kinds).sort(), ['all', honest.all]].map(([kind, each]) => [
      kind,
      ...[each.count, each.p50Ms, each.p95Ms, each.p99Ms, each.maxMs].map(number),
    ]),
  ]);

const attackTable = ({ hostile }) =>
  table([
    ['attack', 'rounds', 'outcomes'],
    ...Object.entries(hostile).map(([name, { rounds, ...outcomes }]) => [
      name,
      number(rounds),
      Object.entries(outcomes)
        .map(([outcome, count]) => `${outcome}: ${number(count)}`)
        .join(', '),
    ]),
  ]);

function notes({ server, honest }) {
  const lines = [
    `Server: ${number(server.cpuShare * 100)} % of a core, ${number(server.rssMb)} MB at the end. Its event loop was late by ${number(server.delayMs)} ms at most, waiting for a core included.`,
    `The honest callers' own event loop: p99 ${number(honest.loop?.p99Ms ?? 0)} ms, max ${number(honest.loop?.maxMs ?? 0)} ms.`,
  ];
  if ((honest.loop?.p99Ms ?? 0) > busyLoopMs) {
    lines.push('The machine was too busy for these figures: the honest callers themselves had to wait for a core.');
  }
  return lines;
}

export function toText(summary) {
  const parts = [barTable, honestTable, attackTable, notes].map((part) => part(summary).join('\n'));
  if (summary.ended !== undefined) parts.push(`The server ${summary.ended}.`);
  const { lost } = summary.honest;
  if (lost.length > 0) parts.push(['Lost:', ...lost.slice(0, 20).map((each) => `  ${each}`)].join('\n'));
  return [title(summary), ...parts].join('\n\n');
}

const begin = '<!-- soak -->';
const end = '<!-- /soak -->';

/** Puts the figures where docs/security.md has a place for them. */
export function writeDocs(summary) {
  const file = new URL('../../docs/security.md', import.meta.url);
  const text = readFileSync(file, 'utf8');
  const [before, rest] = text.split(begin);
  const after = rest.slice(rest.indexOf(end));
  const figures = [title(summary), ...[barTable, honestTable].map((part) => part(summary).join('\n'))].join('\n\n');
  writeFileSync(file, `${before}${begin}\n${figures}\n${after}`);
}

/** Markdown, aligned so that it can be read in a terminal too. */
function table(rows) {
  const widths = rows[0].map((_, n) => Math.max(3, ...rows.map((cells) => cells[n].length)));
  const line = (cells) => `| ${cells.map((cell, n) => cell.padEnd(widths[n])).join(' | ')} |`;
  return [line(rows[0]), line(widths.map((width) => '-'.repeat(width))), ...rows.slice(1).map(line)];
}
