// The metrics of all processes on a bus, added up: whichever process is asked, the numbers are those of the server.

import type { Bus } from '../../../protocol/ports.ts';

/** A process that takes longer is left out. */
const timeoutMs = 1_000;

/** Metrics whose values are not added: the largest one counts. */
const largest: ReadonlySet<string> = new Set(['mooring_uptime_seconds']);

/** Returns a function that collects the text of all processes. `own`: the text of this one. */
export function shareMetrics(bus: Bus, serverName: string, own: () => string): () => Promise<string> {
  const topic = `metrics ${serverName}`;
  bus.listen(topic, own);
  return async () => {
    const others = [...bus.processes].filter((process) => process !== bus.process);
    const requested = others.map((process) => bus.request(process, topic, null, timeoutMs).catch(() => ''));
    const texts = [own(), ...(await Promise.all(requested))].filter((text) => typeof text === 'string' && text !== '');
    return mergeMetrics(texts as string[]);
  };
}

interface Family {
  /** The lines HELP and TYPE. */
  readonly head: string[];
  readonly values: Map<string, number>;
}

/** Adds up metrics in the text format of Prometheus. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, Family>();
  for (const text of texts) {
    let family: Family | undefined;
    let name = '';
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('#')) {
        name = line.split(' ')[2] ?? '';
        family = families.get(name);
        if (family === undefined) families.set(name, (family = { head: [], values: new Map() }));
        if (!family.head.includes(line)) family.head.push(line);
        continue;
      }
      const space = line.lastIndexOf(' ');
      const series = line.slice(0, space);
      const value = Number(line.slice(space + 1));
      const before = family?.values.get(series);
      const merged = largest.has(name) ? Math.max(before ?? value, value) : (before ?? 0) + value;
      family?.values.set(series, merged);
    }
  }
  const lines = [...families.values()].flatMap(({ head, values }) => [
    ...head,
    ...[...values].map(([series, value]) => `${series} ${value}`),
  ]);
  lines.push('# HELP mooring_processes Processes that serve.', '# TYPE mooring_processes gauge');
  lines.push(`mooring_processes ${texts.length}`);
  return `${lines.join('\n')}\n`;
}
