// How long requests to the servers behind a gateway take, and how long connections to them are open: for the metrics page,
// and for OpenTelemetry if it is on.

import type { ClientTelemetry } from '../../client/index.ts';
import { loadTelemetry } from '../serving/load-telemetry.ts';
import type { Settings } from '../settings/settings.ts';

export interface UpstreamTelemetry {
  /** The option `telemetry` for connections to this server; undefined if nothing is recorded. */
  of(slug: string): ClientTelemetry | undefined;
  /** For the metrics page. */
  readonly durations: () => ReadonlyMap<string, readonly string[]>;
}

export async function upstreamTelemetry({ telemetry, http }: Settings): Promise<UpstreamTelemetry> {
  const otel = telemetry === undefined ? undefined : await loadTelemetry();
  // On stdio there is no metrics page, whatever its path would be.
  const hasPage = http?.enabled === true && http.metricsPath !== undefined;
  const metrics = hasPage ? new (await import('./upstream-metrics.ts')).UpstreamMetrics() : undefined;
  return {
    of(slug) {
      const spans = otel?.clientTelemetry({ ...telemetry, attributes: { 'mooring.upstream': slug } });
      return metrics === undefined ? spans : metrics.of(slug, spans);
    },
    durations: () => metrics?.lines() ?? new Map(),
  };
}
