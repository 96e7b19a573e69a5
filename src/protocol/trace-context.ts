// The W3C trace context in `_meta`: its keys, and which values are used.

export const traceKeys = ['traceparent', 'tracestate', 'baggage'] as const;

/**
 * Characters of each value; W3C Baggage has the largest limit. Longer ones are ignored, as malformed ones are: they would be
 * parsed with every request, stored with every task and sent to every server behind a gateway.
 */
const maxTraceContextLength = 8_192;

/** Whether a value of `_meta` can be one of the trace context. */
export function isTraceValue(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxTraceContextLength;
}
