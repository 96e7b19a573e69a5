// Interfaces of stores, sealers and the bus that engine and transports share. In-memory implementations are beside their users;
// durable ones are in stores/.

import type { Json, RequestId } from './model.ts';

/** A key shared by several processes: 32 random bytes, or a secret text of at least 32 characters. */
export type SealKey = Uint8Array | string;

/**
 * Seals values into tokens that only this server, or its replicas with the same key, can open. `purpose` and `context`
 * are bound to the token: opening it with different ones fails.
 */
export interface Sealer {
  /** Returns a token for the value. */
  seal(purpose: string, value: Json, context?: string): string | Promise<string>;
  /** Undefined for anything that was not sealed by this sealer for this purpose and context. */
  open(purpose: string, token: string, context?: string): Json | undefined | Promise<Json | undefined>;
}

/**
 * A small key-value store with expiry. Marks (`add`) record that something has ended for good: a revoked session, a used
 * token. Values (`set`) can be lost without harm: subscriptions of sessions, journals too large to travel.
 */
export interface ExpiringStore {
  /** Undefined for a key that is missing or expired. */
  get(key: string): Json | undefined | Promise<Json | undefined>;
  /** `owner`: the caller it is stored for (see `callerKey`), so that a bounded store can evict from the right one. */
  set(key: string, value: Json, ttlMs: number, owner?: string): void | Promise<void>;
  /**
   * Sets the key and returns true only if it was absent; the one atomic operation that replicas need. Once it has
   * returned true, the entry must not be dropped before it expires, whatever else is stored and however the clock jumps.
   * A full store throws.
   */
  add(key: string, value: Json, ttlMs: number): boolean | Promise<boolean>;
  /**
   * Sets the key only if its value is still `expected` (undefined: absent), and returns whether it did. Stores that
   * several processes share need it, so that two of them can change one value at the same time.
   */
  replace?(
    key: string,
    expected: Json | undefined,
    value: Json,
    ttlMs: number,
    owner?: string,
  ): boolean | Promise<boolean>;
  /** Removes a key; one that is missing is no error. */
  delete(key: string): void | Promise<void>;
}

/** One event as a stream delivered it, or would have delivered it. */
export interface LoggedEvent {
  readonly sequence: number;
  /** A JSON-RPC message; empty for an event that only carried its id. */
  readonly text: string;
}

/** Stores what was sent on the event streams of a session, for clients that lost the connection. */
export interface EventLog {
  /** `caller`: the caller it is stored for (see `callerKey`), so that one caller cannot evict the events of others. */
  append(session: string, stream: string, event: LoggedEvent, caller?: string): void;
  /** The events that followed, in order; undefined when that position in that stream of that session is not known. */
  after(
    session: string,
    stream: string,
    sequence: number,
  ): readonly LoggedEvent[] | undefined | Promise<readonly LoggedEvent[] | undefined>;
  /** Drops all streams of a session that has ended. */
  forget(session: string): void;
  /**
   * The stream will answer these requests. Called before its first event. If a promise is returned, events are sent when it has
   * resolved: the position of a client must be known elsewhere, whatever happens to this process.
   */
  begin?(session: string, stream: string, requests: readonly RequestId[]): void | Promise<void>;
  /**
   * The last event was appended. If a promise is returned, the event is sent when it has resolved: a client that does not
   * receive it must find it in the log, whatever happens to this process.
   */
  finish?(session: string, stream: string): Promise<void> | undefined;
  /** The requests of a stream that will never be answered, because the process that worked on them has ended. */
  unanswered?(session: string, stream: string): Promise<readonly RequestId[]>;
}

/** What is known of a stream in a log that several processes share. */
export interface SharedStream {
  /** In order; the oldest may have been removed. */
  readonly events: readonly LoggedEvent[];
  readonly requests: readonly RequestId[];
  /** All its requests were answered. */
  readonly finished: boolean;
}

/**
 * Copies of the events of all processes on a bus, so that a stream can be resumed after its process has ended. Each process
 * copies its own events; none of the methods may throw.
 */
export interface SharedEventLog {
  /** Stores that there is this stream. Resolves when it is stored, or after a short time if it cannot be. */
  begin(session: string, stream: string, requests: readonly RequestId[]): Promise<void>;
  /** Stores an event of a stream. */
  append(session: string, stream: string, event: LoggedEvent): void;
  /** Resolves when everything so far is stored, or after a short time if it cannot be. */
  finish(session: string, stream: string): Promise<void>;
  /** Removes the events of a stream up to this one; `Infinity`: all. */
  remove(session: string, stream: string, sequence: number): void;
  /** Undefined: not known, or not any more. Rejects if that cannot be found out. */
  read(session: string, stream: string): Promise<SharedStream | undefined>;
}

/** Receives the messages of one topic. For a request, what it returns is the response. */
export type BusListener = (
  data: Json,
  from: string,
  position: number,
) => Json | undefined | void | Promise<Json | undefined | void>;

/** Messages that were published before there was a listener. */
export interface PastMessages {
  /** All messages of the topic after this position are here. */
  readonly from: number;
  /** In the order in which they were published. */
  readonly messages: readonly { readonly data: Json; readonly from: string; readonly position: number }[];
}

/**
 * Connects the processes that serve the same endpoint: workers of one machine, or replicas. Without one, a server assumes
 * that no other process has its sessions. Topics that a process does not know are ignored, so that two versions can run
 * side by side.
 */
export interface Bus {
  /** The name of this process on the bus: eight hexadecimal digits. Ids that must lead back to the process contain it. */
  readonly process: string;
  /** All processes on the bus, this one included. */
  readonly processes: ReadonlySet<string>;
  /**
   * Sends a message to all processes, this one included. All receive all messages in the same order. Resolves with the
   * position of the message in that order once this process has received it; never rejects.
   */
  publish(topic: string, data: Json): Promise<number>;
  /**
   * Sends a message to one process, which receives it after everything that this process has received before. It is lost if
   * that process has ended.
   */
  send(process: string, topic: string, data: Json): void;
  /** Sends a message to one process and resolves with the response. Rejects if the process has ended, or after `timeoutMs`. */
  request(process: string, topic: string, data: Json, timeoutMs: number): Promise<Json>;
  /** Sets the listener of a topic. Returns a function that removes it. */
  listen(topic: string, listener: BusListener): () => void;
  /** The position of the last published message that this process has received. Positions grow, also across restarts. */
  readonly position: number;
  /** Everything that was published before this time, on the monotonic clock, has been received here. */
  readonly freshAtMs: number;
  /** Calls the listener when messages may have been missed. */
  onGap(listener: () => void): void;
  /** Calls the listener when another process has ended. */
  onLeave(listener: (process: string) => void): void;
  /**
   * Changes when everything that the processes shared was lost, as when Redis was emptied: what was issued before is not valid
   * any more. The listeners of `onGap` are called then.
   */
  readonly epoch?: string;
  /** What was published on a topic before this process had a listener for it, as far as it is known. */
  past?(topic: string): PastMessages;
}
