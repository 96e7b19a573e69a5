// Contracts the engine offers to the rooms above it: middleware, observers, stores, sealing. Those it shares with
// transports are in protocol/ports.ts. Implementations live in stores/, security/ and transports/; in-memory ones
// beside their users.

import type { Peer } from '../protocol/exchange.ts';
import type { Json, Meta, RequestId } from '../protocol/model.ts';
import type { Context } from './context.ts';

export type { EventLog, ExpiringStore, Sealer, SealKey } from '../protocol/ports.ts';
export { principalKey } from '../protocol/principal.ts';

/** A request on its way to its feature, as middleware sees it. */
export interface RequestInfo {
  readonly method: string;
  /** The tool or prompt name, or resource URI, where the method addresses one. */
  readonly name: string | undefined;
  /** Params as they came, before validation. */
  readonly params: { readonly [key: string]: unknown };
  readonly peer: Peer;
  readonly ctx: Context;
}

/** Wraps a request. Returns what `next` returned, something of the same kind, or throws. */
export type Middleware = (request: RequestInfo, next: () => unknown) => unknown;

/** How a request ended, as observers see it. */
export interface Ended {
  readonly request: RequestInfo;
  /** `refused`: a wire error. `failed`: a tool result that reports an error. */
  readonly outcome: 'ok' | 'failed' | 'refused' | 'cancelled' | 'asked';
  readonly code?: number;
  readonly durationMs: number;
}

/** Watches without taking part. Every method is optional; what it throws is logged and ignored. */
export interface Observer {
  received?(message: unknown, peer: Peer): void;
  sent?(text: string, peer: Peer): void;
  started?(request: RequestInfo): void;
  ended?(ended: Ended): void;
  connected?(peer: Peer): void;
  disconnected?(peer: Peer): void;
}

/** Something that can be put on a server with `use`. */
export interface Pack<Host> {
  readonly name: string;
  install(server: Host): void | Promise<void>;
  /** Lets go of what the pack holds; packs are closed in reverse order. */
  close?(): void | Promise<void>;
}

/**
 * Where a call whose outcome is detached from its request will be kept (tasks). Nothing implements it yet; the shape
 * is settled so that stores and features can meet here.
 */
export interface TaskRecord {
  readonly id: string;
  readonly principal: string;
  readonly status: 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';
  readonly statusMessage?: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly ttlMs: number | null;
  readonly outcome?: { readonly result?: Json; readonly error?: Json };
  readonly requestId?: RequestId;
  readonly _meta?: Meta;
}
