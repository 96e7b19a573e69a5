// Puts a run into docs/performance.md: each table and the claims between their markers, the bars as a picture.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { barChart } from './chart.mjs';
import { figure } from './stats.mjs';

const page = new URL('../../docs/performance.md', import.meta.url);
const picture = new URL('../../docs/assets/cpu-per-call.svg', import.meta.url);

/** @param {Record<string, string>} sections  by marker name: `<!-- bench:NAME -->` … `<!-- /bench:NAME -->` */
export function updatePage(sections) {
  let text = readFileSync(page, 'utf8');
  for (const [name, content] of Object.entries(sections)) {
    const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`];
    const from = text.indexOf(open);
    const to = text.indexOf(close);
    if (from < 0 || to < from) throw new Error(`docs/performance.md has no place for "${name}": ${open} … ${close}`);
    text = `${text.slice(0, from + open.length)}\n${content.trim()}\n${text.slice(to)}`;
  }
  writeFileSync(page, text);
}

/** The claims the page has, for suites that are not measured this time. */
export function claimsOnPage() {
  const text = readFileSync(page, 'utf8');
  const block = text.slice(text.indexOf('<!-- bench:claims -->'), text.indexOf('<!-- /bench:claims -->'));
  return [...block.matchAll(/^(?:pass|FAIL|n\/a) +(\S+) .*$/gm)].map(([line, suite = '']) => ({ suite, line }));
}

/** The stdio calls of the handshake era. @param {import('./stats.mjs').Row[]} rows */
export function drawCalls(rows) {
  const bars = rows
    .filter(({ era }) => era === 'handshake')
    .map((row) => ({ name: row.name, value: figure(row, 'cpuUs', 'min') ?? 0, ours: row.id === 'mooring' }));
  mkdirSync(new URL('.', picture), { recursive: true });
  writeFileSync(
    picture,
    barChart({ title: 'Server CPU per tools/call over stdio (less is better)', unit: 'µs', bars }),
  );
}
