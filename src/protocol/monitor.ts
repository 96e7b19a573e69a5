// What a part of a server, such as its audit log, reports to health probes and metrics. Only types.

/** One figure for Prometheus. */
export interface Metric {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly value: number;
}

/** How a part of a server is doing. */
export interface PartStatus {
  /** `degraded`: requests are served with a fault. `unavailable`: they are rejected, so send them elsewhere. */
  readonly status: 'healthy' | 'degraded' | 'unavailable';
  readonly metrics: readonly Metric[];
  /** Durations of what this part does as a client: additional lines of the metrics page, by the name of the histogram. */
  readonly clientDurations?: ReadonlyMap<string, readonly string[]>;
}

/** Called whenever a probe or a metrics page is requested. */
export type Monitor = () => PartStatus;
