// Contracts the engine offers to the rooms above it: middleware, observers, stores, sealing. Those it shares with
// transports are in protocol/ports.ts. Implementations live in stores/, security/ and transports/; in-memory ones
// beside their users.

import type { WireError } from '../protocol/errors.ts';
import type { Peer, Principal } from '../protocol/exchange.ts';
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
  /** The session it belongs to, where there is one. */
  readonly session: Context['session'];
  readonly ctx: Context;
  /** When it began to run, on the clock of `performance.now()`. */
  readonly startedAtMs: number;
  /** Gives the request less time than it would have; of several limits the shortest holds. */
  limitTime(maxMs: number): void;
  /** Gives its result less room, in bytes on the wire; a larger one is replaced by an error. */
  limitResult(maxBytes: number): void;
  /** Called once when the request is over, also when it is cancelled or suspended and its handler never returns. */
  onEnd(listener: (outcome: RequestEnd['outcome'], code?: number) => void): void;
}

/** Lets a request pass, or throws what it is to be answered. A promise holds it up. */
export type RequestCheck = (request: RequestInfo) => void | Promise<void>;

/** Says whether a caller may be told that a resource has changed. */
export type ChangeFilter = (uri: string, principal: Principal | undefined) => boolean;

/** Wraps a request. */
export interface Middleware {
  /** Returns what `next` returned, something of the same kind, or throws. */
  (request: RequestInfo, next: () => unknown): unknown;
  /**
   * For middleware that guards what callers may read: asked before a caller is told that a resource has changed, which it
   * may have subscribed to by itself or by a folder above.
   */
  readonly maySee?: ChangeFilter;
}

/** How a request ended, as observers see it. */
export interface RequestEnd {
  readonly request: RequestInfo;
  /** `rejected`: a wire error. `failed`: a tool result that reports an error. */
  readonly outcome: 'ok' | 'failed' | 'rejected' | 'cancelled' | 'input-required';
  readonly code?: number;
  readonly durationMs: number;
  /** On the clock of `performance.now()`. */
  readonly endedAtMs: number;
}

/** A request that was turned away before it began: a method that does not exist, params of a wrong shape, a closed gate. */
export interface RejectedMessage {
  /** The message as it came; it may be anything. */
  readonly message: unknown;
  readonly peer: Peer;
  readonly error: WireError;
  readonly code: number;
}

/** Watches without taking part. Every method is optional; what it throws is logged and ignored. */
export interface Observer {
  received?(message: unknown, peer: Peer): void;
  sent?(text: string, peer: Peer): void;
  started?(request: RequestInfo): void;
  /** Told before the answer leaves. */
  ended?(ended: RequestEnd): void;
  rejected?(rejected: RejectedMessage): void;
  connected?(peer: Peer): void;
  disconnected?(peer: Peer): void;
}

/** The lists a server has. */
export type CatalogKind = 'tools' | 'resources' | 'resourceTemplates' | 'prompts';

/**
 * Says who may see and use what, in addition to what a definition says itself. `key` is the name, URI or URI template.
 * What it hides looks as if it did not exist.
 */
export type Visibility = (kind: CatalogKind, key: string, principal: Principal | undefined) => boolean;

/** Something that can be put on a server with `use`. */
export interface Pack<Host> {
  readonly name: string;
  install(server: Host): void | Promise<void>;
  /** Lets go of what the pack holds; packs are closed in reverse order. */
  close?(): void | Promise<void>;
}
