// Exporters of OpenTelemetry that keep everything in memory, for the calling test file.

import { type Attributes, context, metrics, propagation, type SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { beforeAll, beforeEach } from 'vitest';

export interface Exporters {
  readonly spans: InMemorySpanExporter;
  /** The finished span of that name and kind. */
  named(name: string, kind: SpanKind): ReadableSpan;
  /** The metrics so far, by name. */
  metrics(): Promise<ReadonlyMap<string, MetricData>>;
  /** The attributes of all time series of a metric. */
  series(metric: string): Promise<readonly Attributes[]>;
}

export function useExporters(): Exporters {
  const spans = new InMemorySpanExporter();
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 1_000_000 });
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({ propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()] }),
    );
    trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  });
  beforeEach(() => spans.reset());
  const exported = async (): Promise<ReadonlyMap<string, MetricData>> => {
    await reader.forceFlush();
    const all = figures
      .getMetrics()
      .at(-1)
      ?.scopeMetrics.flatMap((scope) => scope.metrics);
    return new Map(all?.map((metric) => [metric.descriptor.name, metric]));
  };
  return {
    spans,
    named(name, kind) {
      const found = spans.getFinishedSpans().find((span) => span.name === name && span.kind === kind);
      if (found === undefined) throw new Error(`no span ${name}: ${spans.getFinishedSpans().map((span) => span.name)}`);
      return found;
    },
    metrics: exported,
    async series(metric) {
      return (await exported()).get(metric)?.dataPoints.map(({ attributes }) => attributes) ?? [];
    },
  };
}
