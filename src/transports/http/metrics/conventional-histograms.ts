// Histograms with the boundaries of the OpenTelemetry conventions for MCP, one per set of labels.

import { escapeLabel, Histogram } from './histogram.ts';

/** The boundaries of the conventions. The first says little about us: mooring_request_duration_seconds has finer ones. */
const bucketsMs = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000] as const;

/** Stops invented method names, and errors of all kinds, from creating time series without end. */
const maxSeries = 1_000;
const otherLabels = labelsOf({ mcp_method_name: '_other' });

/** The names of the histograms, as Prometheus writes them. */
export const histogramNames = {
  serverOperation: 'mcp_server_operation_duration_seconds',
  serverSession: 'mcp_server_session_duration_seconds',
  clientOperation: 'mcp_client_operation_duration_seconds',
  clientSession: 'mcp_client_session_duration_seconds',
} as const;

export class ConventionalHistograms {
  readonly #histograms = new Map<string, Histogram>();

  add(labels: string, ms: number): void {
    const histograms = this.#histograms;
    const key = histograms.has(labels) || histograms.size < maxSeries ? labels : otherLabels;
    let histogram = histograms.get(key);
    if (histogram === undefined) histograms.set(key, (histogram = new Histogram(bucketsMs)));
    histogram.add(ms);
  }

  lines(name: string): string[] {
    return [...this.#histograms].flatMap(([labels, histogram]) => histogram.lines(name, labels));
  }
}

/** Labels in the text format of Prometheus; those without a value are left out. */
export function labelsOf(labels: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(labels)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${name}="${escapeLabel(value)}"`]))
    .join(',');
}
