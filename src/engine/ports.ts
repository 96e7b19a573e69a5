// Contracts the engine offers to the rooms above it: middleware, observers, stores, sealing. Implementations live in
// stores/, security/ and transports/; in-memory ones beside the engine.

import type { Peer, Principal } from '../protocol/exchange.ts';
import type { Json, Meta, RequestId } from '../protocol/model.ts';
import type { Context } from './context.ts';

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

/**
 * Seals values into tokens only this server, or its replicas with the same key, can open. `purpose` and `context` are
 * bound to the token: opening with another one fails.
 */
export interface Sealer {
  seal(purpose: string, value: Json, context?: string): string | Promise<string>;
  /** Undefined for anything that was not sealed here for this purpose and context. */
  open(purpose: string, token: string, context?: string): Json | undefined | Promise<Json | undefined>;
}

/** A small keyed store with expiry: revocations, single-use marks, journals too large to travel. */
export interface ExpiringStore {
  get(key: string): Json | undefined | Promise<Json | undefined>;
  set(key: string, value: Json, ttlMs: number): void | Promise<void>;
  /** Sets and returns true only if the key was absent; the one atomic operation replicas need. */
  add(key: string, value: Json, ttlMs: number): boolean | Promise<boolean>;
  delete(key: string): void | Promise<void>;
}

/** Something that can be put on a server with `use`. */
export interface Pack<Host> {
  readonly name: string;
  install(server: Host): void | Promise<void>;
  /** Lets go of what the pack holds; packs are closed in reverse order. */
  close?(): void | Promise<void>;
}

/** The key under which one caller's things are kept apart from another's. */
export function principalKey(principal: Principal | undefined): string {
  return principal === undefined ? '' : `${principal.issuer ?? ''}\u0000${principal.id}`;
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
