// Metrics for Prometheus, in its text format: requests, their outcomes, what is open. Counts only when enabled.

import type { CallEnd, SessionHost } from '../../../protocol/exchange.ts';
import type { Monitor } from '../../../protocol/monitor.ts';
import type { EndpointState } from '../endpoint-state.ts';
import type { HttpExchange } from '../exchange.ts';
import type { ActiveSessions } from '../sessions/active-sessions.ts';
import { escapeLabel, Histogram } from './histogram.ts';
import { OperationMetrics } from './operation-metrics.ts';
import { TaskMetrics } from './task-metrics.ts';

const bucketsMs = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000] as const;

/** Stops invented method names from creating time series without end. */
const maxSeries = 200;

export class HttpMetrics {
  readonly #calls = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  readonly #responses = new Map<number, number>();
  readonly #operations = new OperationMetrics();
  readonly #tasks = new TaskMetrics();
  readonly #state: EndpointState;
  readonly #sessions: ActiveSessions;
  readonly #monitors: readonly Monitor[];
  readonly #startedAt = Date.now();
  readonly #stop: () => void;
  /** Set by the server that owns the sockets. */
  connections: () => number = () => 0;
  webSockets: () => number = () => 0;

  constructor(host: SessionHost, state: EndpointState, sessions: ActiveSessions, monitors: readonly Monitor[] = []) {
    this.#state = state;
    this.#sessions = sessions;
    this.#monitors = monitors;
    this.#stop = host.observe({
      ended: (end) => this.#ended(end),
      taskChanged: (event) => this.#tasks.changed(event),
      requesting: (request) => this.#operations.requesting(request),
      connected: (peer) => this.#operations.connected(peer),
      disconnected: (peer) => this.#operations.disconnected(peer),
      sessionEnded: (session) => this.#operations.sessionEnded(session),
    });
  }

  close(): void {
    this.#stop();
  }

  watch(exchange: HttpExchange): void {
    const earlier = exchange.onResponded;
    exchange.onResponded = (status) => {
      this.#responses.set(status, (this.#responses.get(status) ?? 0) + 1);
      earlier?.(status);
    };
  }

  #ended(end: CallEnd): void {
    const { request, outcome, durationMs } = end;
    this.#operations.ended(end);
    const method = this.#durations.has(request.method) || this.#durations.size < maxSeries ? request.method : 'other';
    const labels = `method="${escapeLabel(method)}",outcome="${outcome}"`;
    this.#calls.set(labels, (this.#calls.get(labels) ?? 0) + 1);
    let histogram = this.#durations.get(method);
    if (histogram === undefined) this.#durations.set(method, (histogram = new Histogram(bucketsMs)));
    histogram.add(durationMs);
  }

  text(): string {
    const lines: string[] = [];
    const parts = this.#monitors.map((monitor) => monitor());
    const head = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    };
    const gauge = (name: string, help: string, value: number): void => {
      head(name, 'gauge', help);
      lines.push(`${name} ${value}`);
    };
    head('mooring_requests_total', 'counter', 'MCP requests by method and outcome.');
    for (const [labels, count] of this.#calls) lines.push(`mooring_requests_total{${labels}} ${count}`);
    head('mooring_request_duration_seconds', 'histogram', 'Time from receiving a request to its end.');
    for (const [method, histogram] of this.#durations) {
      lines.push(...histogram.lines('mooring_request_duration_seconds', `method="${escapeLabel(method)}"`));
    }
    lines.push(...this.#operations.lines(parts.map(({ clientDurations }) => clientDurations)));
    head('mooring_http_responses_total', 'counter', 'HTTP responses by status.');
    for (const [status, count] of this.#responses)
      lines.push(`mooring_http_responses_total{status="${status}"} ${count}`);
    lines.push(...this.#tasks.lines());
    gauge('mooring_http_connections', 'Open connections.', this.connections());
    gauge('mooring_http_in_flight', 'Requests in flight.', this.#state.requests.held);
    gauge('mooring_http_streams', 'Open event streams.', this.#state.heartbeat.size);
    gauge('mooring_websockets', 'Open WebSockets.', this.webSockets());
    gauge('mooring_sessions_in_memory', 'Sessions in use; idle ones need no memory.', this.#sessions.size);
    head('mooring_http_dropped_streams_total', 'counter', 'Streams closed because their reader was too slow.');
    lines.push(`mooring_http_dropped_streams_total ${this.#state.heartbeat.dropped}`);
    for (const { name, type, help, value } of parts.flatMap(({ metrics }) => metrics)) {
      head(name, type, help);
      lines.push(`${name} ${value}`);
    }
    gauge('mooring_uptime_seconds', 'Time since the start.', (Date.now() - this.#startedAt) / 1000);
    return `${lines.join('\n')}\n`;
  }
}
