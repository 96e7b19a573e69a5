// The interface through which telemetry sees the requests of a connection. mooring/telemetry implements it.

import type { JsonObject, Meta } from '../protocol/model.ts';
import type { ClientError } from './errors.ts';
import type { Transport } from './transports/transport.ts';

/** A request of either side. */
export interface TracedRequest {
  /** Such as `tools/call`. */
  readonly method: string;
  /** The tool, prompt or resource that it addresses. */
  readonly name: string | undefined;
  /** The JSON-RPC id. */
  readonly id: string | number;
  /** Arguments of a tool call. */
  readonly args?: unknown;
  /** The `_meta` of the request. */
  readonly meta: Meta;
  /** Undefined while the revision is negotiated. */
  readonly revision: string | undefined;
  /** How it is sent. */
  readonly transport: TracedTransport;
}

/** The transport of a connection, as telemetry sees it. */
export type TracedTransport = Pick<Transport, 'kind' | 'address' | 'protocolVersion' | 'sessionId'>;

/** How a request ended: with a result, with a result that requires input, or with an error. */
export interface TracedEnd {
  /** The result as it arrived. */
  readonly result?: JsonObject;
  /** What failed; `code` is that of JSON-RPC, or of a `ClientError`. */
  readonly error?: { readonly message: string; readonly code: string | number };
}

/** One request under observation. */
export interface RequestTrace {
  /** Added to the `_meta` of the request: the trace context. */
  readonly meta?: Meta;
  /** Whether it replaces what the caller passed: its trace context is an earlier one of the same trace. */
  readonly replaces?: boolean;
  /** Called once. */
  end(how: TracedEnd): void;
}

/** Observes what a client sends and serves. */
export interface ClientTelemetry {
  /** A request is about to be sent. */
  sending(request: TracedRequest): RequestTrace;
  /** A request of the server is about to be served by `serve`. */
  serving<T>(request: TracedRequest, serve: () => Promise<T>): Promise<T>;
  /** A connection was opened. Returns what to call at its end, with the reason. */
  connected(transport: TracedTransport, revision: string): (reason: ClientError | undefined) => void;
}
