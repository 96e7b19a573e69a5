// Metrics by tool, and the histograms of the OpenTelemetry conventions for MCP under the names that Prometheus gives them.

import type { CallEnd, EndedSession, Peer, RequestToClient } from '../../../protocol/exchange.ts';
import { ConventionalHistograms, histogramNames, labelsOf } from './conventional-histograms.ts';

/** Tools are the operator's, but a server may add and remove them without end. */
const maxTools = 200;
/** For a tool that does not exist, and for tools beyond the limit. */
const otherTool = '_other';

/** Lines of histograms by name, from other parts of the server. */
type FurtherLines = readonly (ReadonlyMap<string, readonly string[]> | undefined)[];

export class OperationMetrics {
  /** Tools that have run: a name that a caller made up never does. */
  readonly #tools = new Set<string>();
  readonly #calls = new Map<string, number>();
  readonly #durations = new ConventionalHistograms();
  readonly #sessions = new ConventionalHistograms();
  /** Requests that the server sends to its clients. */
  readonly #sent = new ConventionalHistograms();
  readonly #connectedAt = new WeakMap<Peer, number>();

  ended({ request: { method, name }, outcome, code, durationMs }: CallEnd): void {
    const tool = method === 'tools/call' ? this.#toolOf(name, outcome) : undefined;
    if (tool !== undefined) {
      const labels = labelsOf({ tool, outcome });
      this.#calls.set(labels, (this.#calls.get(labels) ?? 0) + 1);
    }
    const error = outcome === 'failed' ? 'tool_error' : outcome === 'rejected' ? String(code ?? '_OTHER') : undefined;
    const labels = labelsOf({ mcp_method_name: method, gen_ai_tool_name: tool, error_type: error });
    this.#durations.add(labels, durationMs);
  }

  #toolOf(name: string | undefined, outcome: string): string {
    if (name === undefined) return otherTool;
    if (this.#tools.has(name)) return name;
    if (outcome === 'rejected' || this.#tools.size >= maxTools) return otherTool;
    this.#tools.add(name);
    return name;
  }

  requesting(request: RequestToClient): void {
    const startedAt = performance.now();
    request.onEnd((error) => {
      const labels = labelsOf({ mcp_method_name: request.method, error_type: error && errorType(error) });
      this.#sent.add(labels, performance.now() - startedAt);
    });
  }

  connected(peer: Peer): void {
    this.#connectedAt.set(peer, performance.now());
  }

  disconnected(peer: Peer): void {
    const since = this.#connectedAt.get(peer);
    if (since !== undefined) this.#addSession(protocolOf(peer), performance.now() - since);
  }

  sessionEnded({ durationMs }: EndedSession): void {
    this.#addSession('http', durationMs);
  }

  #addSession(protocol: string, ms: number): void {
    this.#sessions.add(labelsOf({ network_protocol_name: protocol }), ms);
  }

  lines(further: FurtherLines): string[] {
    const lines: string[] = [];
    const head = (name: string, type: string, help: string): void => {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    };
    head('mooring_tool_calls_total', 'counter', 'Calls of tools by tool and outcome.');
    for (const [labels, count] of this.#calls) lines.push(`mooring_tool_calls_total{${labels}} ${count}`);
    const histograms = [
      [histogramNames.serverOperation, 'Time a server takes for a request.', this.#durations],
      [histogramNames.serverSession, 'Time a connection to a server is open.', this.#sessions],
      [histogramNames.clientOperation, 'Time from sending a request to its response.', this.#sent],
      [histogramNames.clientSession, 'Time a connection of a client is open.', undefined],
    ] as const;
    for (const [name, help, own] of histograms) {
      head(name, 'histogram', help);
      lines.push(...(own?.lines(name) ?? []), ...further.flatMap((part) => part?.get(name) ?? []));
    }
    return lines;
  }
}

/** The code of a response, or of what happened to the request. */
function errorType({ code, cause }: Error & { readonly code?: unknown }): string {
  const responded = (cause as { readonly code?: unknown } | undefined)?.code;
  return String(responded ?? code ?? 'cancelled');
}

function protocolOf({ transport }: Peer): string {
  if (transport === 'websocket') return 'websocket';
  return transport === 'http' || transport === 'sse' ? 'http' : transport;
}
