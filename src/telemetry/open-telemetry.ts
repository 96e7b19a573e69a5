// The one file that imports @opentelemetry/api. Unless the program registers an SDK, everything here does nothing.

import {
  type Context as ActiveContext,
  type Baggage,
  context,
  type Histogram,
  metrics as metricsApi,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { JsonObject } from '../protocol/model.ts';
import { isTraceValue } from '../protocol/trace-context.ts';
import { boundaries, names } from './names.ts';
import type { Attributes } from './request-attributes.ts';

type Carrier = JsonObject;

const scope = 'mooring';

/**
 * Starts a span. `remote`: the `_meta` of a request that was received, whose trace it continues. `within`: the span that it
 * is a part of, where that is not the active one.
 */
export function startSpan(
  name: string,
  kind: 'server' | 'client',
  attributes: Attributes,
  remote?: Carrier,
  within?: Span,
): Span {
  const active = context.active();
  const parent = remote === undefined ? active : remoteContext(remote);
  const ambient = trace.getSpanContext(active);
  return trace.getTracer(scope).startSpan(
    name,
    {
      kind: kind === 'server' ? SpanKind.SERVER : SpanKind.CLIENT,
      attributes,
      // The span of the HTTP request that carried the message is not its parent.
      ...(parent !== undefined && parent !== active && ambient !== undefined ? { links: [{ context: ambient }] } : {}),
    },
    within === undefined ? (parent ?? active) : trace.setSpan(active, within),
  );
}

/** Starts the root span of a new trace, linked to the span that caused it. */
export function startLinkedSpan(name: string, attributes: Attributes, cause: SpanContext | undefined): Span {
  const links = cause === undefined ? [] : [{ context: cause }];
  return trace.getTracer(scope).startSpan(name, { kind: SpanKind.INTERNAL, attributes, root: true, links });
}

/** The span that a `traceparent` names. */
export function spanContextOf(traceparent: string): SpanContext | undefined {
  return trace.getSpanContext(remoteContext({ traceparent }) ?? ROOT_CONTEXT);
}

/**
 * The active span, if it is that of a framework which executes a tool: the conventions want the attributes of MCP on it
 * instead of a second span. Only an SDK's spans can be read.
 */
export function activeToolSpan(): Span | undefined {
  const span = trace.getSpan(context.active()) as (Span & { readonly attributes?: Attributes }) | undefined;
  const isTool = span?.attributes?.[names.operation] === 'execute_tool' && span.attributes[names.method] === undefined;
  return isTool && span.isRecording() ? span : undefined;
}

/** The context that a request carries; undefined if it carries none. */
function remoteContext(meta: Carrier): ActiveContext | undefined {
  return isTraceValue(meta['traceparent']) ? propagation.extract(ROOT_CONTEXT, meta, getter) : undefined;
}

const getter = {
  keys: (carrier: Carrier) => Object.keys(carrier),
  get: (carrier: Carrier, key: string) => {
    const value = carrier[key];
    return isTraceValue(value) ? value : undefined;
  },
};

/**
 * Runs a function so that spans it starts are children of this one, and requests it sends carry on the baggage of the one
 * that was received, whose `_meta` is `remote`.
 */
export function within<T>(span: Span, remote: Carrier, run: () => T): T {
  let active = context.active();
  const baggage = isTraceValue(remote['baggage']) ? extractBaggage(remote) : undefined;
  if (baggage !== undefined) active = propagation.setBaggage(active, baggage);
  return context.with(trace.setSpan(active, span), run);
}

function extractBaggage(meta: Carrier): Baggage | undefined {
  return propagation.getBaggage(propagation.extract(ROOT_CONTEXT, meta, getter));
}

/** The trace context of a span, as members of `_meta`. */
export function contextOf(span: Span): Record<string, string> {
  const carrier: Record<string, string> = {};
  propagation.inject(trace.setSpan(context.active(), span), carrier);
  return carrier;
}

/** Whether a span belongs to the trace that a `_meta` names. If so, the span replaces it in forwarded requests. */
export function continues(span: Span, { traceparent }: Carrier): boolean {
  return isTraceValue(traceparent) && traceparent.split('-')[1] === span.spanContext().traceId;
}

export function endSpan(span: Span, attributes: Attributes, error?: string): void {
  describeEnd(span, attributes, error);
  span.end();
}

/** Sets the attributes and status that are known at the end of a span. */
export function describeEnd(span: Span, attributes: Attributes, error?: string): void {
  span.setAttributes(attributes);
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
}

/** A histogram of seconds with the boundaries of the conventions. */
export function createHistogram(name: string, description: string): Histogram {
  return metricsApi.getMeter(scope).createHistogram(name, {
    description,
    unit: 's',
    advice: { explicitBucketBoundaries: [...boundaries] },
  });
}

export type { Histogram, Span, SpanContext } from '@opentelemetry/api';
