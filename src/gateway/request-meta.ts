// `_meta` between clients and servers behind the gateway. What a client sends is for the gateway: only the trace context
// goes on, and the gateway writes its own progress token and protocol keys.

import type { Meta } from '../protocol/model.ts';

/** Keys that go from a client to a server (W3C Trace Context and Baggage). */
const passedOn = ['traceparent', 'tracestate', 'baggage'] as const;

/** The `_meta` of a client's request as a server gets it. Everything else stays here: it may be meant for another server. */
export function metaForUpstream(meta: Meta | undefined): Meta {
  if (meta === undefined) return {};
  return Object.fromEntries(passedOn.flatMap((key) => (typeof meta[key] === 'string' ? [[key, meta[key]]] : [])));
}
