// Histograms of the requests to the servers behind a gateway, and of the connections to them, for the metrics page.

import type { ClientTelemetry } from '../../client/index.ts';
import {
  ConventionalHistograms,
  histogramNames,
  labelsOf,
} from '../../transports/http/metrics/conventional-histograms.ts';

export class UpstreamMetrics {
  readonly #operations = new ConventionalHistograms();
  readonly #sessions = new ConventionalHistograms();

  /** `inner` records the same elsewhere. */
  of(slug: string, inner: ClientTelemetry | undefined): ClientTelemetry {
    return {
      sending: (request) => {
        const startedAt = performance.now();
        const trace = inner?.sending(request);
        const { method, name } = request;
        return {
          ...trace,
          end: (how) => {
            trace?.end(how);
            const error = how.error === undefined ? undefined : String(how.error.code);
            const labels = labelsOf({
              mooring_upstream: slug,
              mcp_method_name: method,
              gen_ai_tool_name: method === 'tools/call' ? name : undefined,
              error_type: error ?? (how.result?.['isError'] === true ? 'tool_error' : undefined),
            });
            this.#operations.add(labels, performance.now() - startedAt);
          },
        };
      },
      serving: (request, serve) => (inner === undefined ? serve() : inner.serving(request, serve)),
      connected: (transport, revision) => {
        const startedAt = performance.now();
        const ended = inner?.connected(transport, revision);
        return (reason) => {
          ended?.(reason);
          const labels = labelsOf({
            mooring_upstream: slug,
            mcp_protocol_version: revision,
            error_type: reason === undefined || reason.code === 'closed' ? undefined : reason.code,
          });
          this.#sessions.add(labels, performance.now() - startedAt);
        };
      },
    };
  }

  lines(): ReadonlyMap<string, readonly string[]> {
    const { clientOperation, clientSession } = histogramNames;
    return new Map([
      [clientOperation, this.#operations.lines(clientOperation)],
      [clientSession, this.#sessions.lines(clientSession)],
    ]);
  }
}
