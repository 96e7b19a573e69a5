// The one file that imports @opentelemetry/api. Without an SDK that the program registers, everything here does nothing.

import {
  type Context as ActiveContext,
  context,
  type Histogram,
  metrics as metricsApi,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { boundaries } from './names.ts';
import type { Attributes } from './request-attributes.ts';

type Carrier = { readonly [key: string]: unknown };

const scope = 'mooring';

/** Starts a span. `remote`: the `_meta` of a request that was received, whose trace it continues. */
export function startSpan(name: string, kind: 'server' | 'client', attributes: Attributes, remote?: Carrier): Span {
  const active = context.active();
  const parent = remote === undefined ? active : remoteContext(remote);
  const ambient = trace.getSpanContext(active);
  return trace.getTracer(scope).startSpan(
    name,
    {
      kind: kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT,
      attributes,
      // The span of the HTTP request that carried the message is no parent of it.
      ...(parent !== undefined && parent !== active && ambient !== undefined ? { links: [{ context: ambient }] } : {}),
    },
    parent ?? active,
  );
}

/** The context that a request carries; undefined if it carries none. */
function remoteContext(meta: Carrier): ActiveContext | undefined {
  if (typeof meta['traceparent'] !== 'string') return undefined;
  return propagation.extract(ROOT_CONTEXT, meta, {
    keys: (carrier) => Object.keys(carrier),
    get: (carrier, key) => (typeof carrier[key] === 'string' ? (carrier[key] as string) : undefined),
  });
}

/** Runs a function so that spans it starts are children of this one. */
export function within<T>(span: Span, run: () => T): T {
  return context.with(trace.setSpan(context.active(), span), run);
}

/** The trace context of a span, as members of `_meta`. */
export function contextOf(span: Span): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(trace.setSpan(context.active(), span), carrier);
  return carrier;
}

export function endSpan(span: Span, attributes: Attributes, error?: string): void {
  span.setAttributes(attributes);
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
  span.end();
}

/** A histogram of seconds with the boundaries of the conventions. */
export function createHistogram(name: string, description: string): Histogram {
  return metricsApi.getMeter(scope).createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries: [...boundaries] },
  });
}

export type { Histogram, Span } from '@opentelemetry/api';
