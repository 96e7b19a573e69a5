// Metrics by tool, and the histograms of the OpenTelemetry conventions for MCP under the names that Prometheus gives them.

import type { CallEnd, Peer } from '../../protocol/exchange.ts';
import { escapeLabel, Histogram } from './histogram.ts';

/** The boundaries of the conventions. The first says little about us: mooring_request_duration_seconds has finer ones. */
const bucketsMs = [10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000] as const;

/** Tools are the operator's, but a server may add and remove them without end. */
const maxTools = 200;
/** Stops invented method names, and errors of all kinds, from creating time series without end. */
const maxSeries = 1_000;
/** For a tool that does not exist, and for tools beyond the limit. */
const otherTool = '_other';

export class OperationMetrics {
  /** Tools that have run: a name that a caller made up never does. */
  readonly #tools = new Set<string>();
  readonly #calls = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  readonly #sessions = new Map<string, Histogram>();
  readonly #connectedAt = new WeakMap<Peer, number>();

  ended({ request: { method, name }, outcome, code, durationMs }: CallEnd): void {
    const tool = method === 'tools/call' ? this.#toolOf(name, outcome) : undefined;
    if (tool !== undefined) {
      const labels = `tool="${escapeLabel(tool)}",outcome="${outcome}"`;
      this.#calls.set(labels, (this.#calls.get(labels) ?? 0) + 1);
    }
    const error = outcome === 'failed' ? 'tool_error' : outcome === 'rejected' ? String(code ?? '_OTHER') : undefined;
    this.#add(this.#durations, operationLabels(method, tool, error), durationMs);
  }

  #toolOf(name: string | undefined, outcome: string): string {
    if (name === undefined) return otherTool;
    if (this.#tools.has(name)) return name;
    if (outcome === 'rejected' || this.#tools.size >= maxTools) return otherTool;
    this.#tools.add(name);
    return name;
  }

  connected(peer: Peer): void {
    this.#connectedAt.set(peer, performance.now());
  }

  disconnected(peer: Peer): void {
    const since = this.#connectedAt.get(peer);
    if (since === undefined) return;
    this.#add(this.#sessions, `network_protocol_name="${protocolOf(peer)}"`, performance.now() - since);
  }

  #add(histograms: Map<string, Histogram>, labels: string, ms: number): void {
    const key = histograms.has(labels) || histograms.size < maxSeries ? labels : 'mcp_method_name="_other"';
    let histogram = histograms.get(key);
    if (histogram === undefined) histograms.set(key, (histogram = new Histogram(bucketsMs)));
    histogram.add(ms);
  }

  lines(): string[] {
    const lines: string[] = [];
    const head = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    };
    head('mooring_tool_calls_total', 'counter', 'Calls of tools by tool and outcome.');
    for (const [labels, count] of this.#calls) lines.push(`mooring_tool_calls_total{${labels}} ${count}`);
    const histograms = [
      ['mcp_server_operation_duration_seconds', 'Time a server takes for a request.', this.#durations],
      ['mcp_server_session_duration_seconds', 'Time a connection to a server is open.', this.#sessions],
    ] as const;
    for (const [name, help, series] of histograms) {
      head(name, 'histogram', help);
      for (const [labels, histogram] of series) lines.push(...histogram.lines(name, labels));
    }
    return lines;
  }
}

function operationLabels(method: string, tool: string | undefined, error: string | undefined): string {
  const labels = [`mcp_method_name="${escapeLabel(method)}"`];
  if (tool !== undefined) labels.push(`gen_ai_tool_name="${escapeLabel(tool)}"`);
  if (error !== undefined) labels.push(`error_type="${error}"`);
  return labels.join(',');
}

function protocolOf({ transport }: Peer): string {
  if (transport === 'websocket') return 'websocket';
  return transport === 'http' || transport === 'sse' ? 'http' : transport;
}
