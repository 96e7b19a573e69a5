// What a server keeps outside of its memory, or seals, as contracts that engine and transports share. In-memory
// implementations stand beside their users; durable ones live in stores/.

import type { Json } from './model.ts';

/** A key for several processes: 32 random bytes, or a secret text of at least 32 characters. */
export type SealKey = Uint8Array | string;

/**
 * Seals values into tokens only this server, or its replicas with the same key, can open. `purpose` and `context` are
 * bound to the token: opening with another one fails.
 */
export interface Sealer {
  seal(purpose: string, value: Json, context?: string): string | Promise<string>;
  /** Undefined for anything that was not sealed here for this purpose and context. */
  open(purpose: string, token: string, context?: string): Json | undefined | Promise<Json | undefined>;
}

/**
 * A small keyed store with expiry. Marks (`add`) say that something is over for good: a revoked session, a used token.
 * Values (`set`) can be lost without harm: what sessions subscribed to, journals too large to travel.
 */
export interface ExpiringStore {
  get(key: string): Json | undefined | Promise<Json | undefined>;
  /** `owner`: the caller it is kept for (see `callerKey`), so that a bounded store can take the room from the right one. */
  set(key: string, value: Json, ttlMs: number, owner?: string): void | Promise<void>;
  /**
   * Sets and returns true only if the key was absent; the one atomic operation replicas need. Once it has returned true
   * the entry must not be dropped before its time, whatever else is stored and however the clock jumps. A store without
   * room throws.
   */
  add(key: string, value: Json, ttlMs: number): boolean | Promise<boolean>;
  delete(key: string): void | Promise<void>;
}

/** One event as a stream delivered it, or would have. */
export interface LoggedEvent {
  readonly sequence: number;
  /** A JSON-RPC message; empty for an event that only carried its id. */
  readonly text: string;
}

/** Remembers what went out on the event streams of a session, for clients that lost the connection. */
export interface EventLog {
  /** `caller`: on whose behalf it is kept (see `callerKey`), so that one caller can not push out the events of others. */
  append(session: string, stream: string, event: LoggedEvent, caller?: string): void;
  /** What followed, in order; undefined when that place in that stream of that session is not known (any more). */
  after(
    session: string,
    stream: string,
    sequence: number,
  ): readonly LoggedEvent[] | undefined | Promise<readonly LoggedEvent[] | undefined>;
  /** Lets go of all streams of a session that has ended. */
  forget(session: string): void;
}
