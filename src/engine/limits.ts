// What may grow, and how far. Every limit has a name, a default, and the attack it stops.

import { defaultMessageLimits, type MessageLimits } from '../protocol/json-rpc.ts';
import { defaultParamLimits, type ParamLimits } from '../protocol/param-limits.ts';

export interface Limits extends MessageLimits, ParamLimits {
  /** Items per page of a list. A client that pages gets smaller answers; most clients never ask for page two. */
  readonly pageSize: number;
  /** Requests of one connection running at a time; stops a client from queueing work without end. */
  readonly maxInFlight: number;
  /** Open subscriptions of one connection; stops a client from multiplying every change. */
  readonly maxSubscriptions: number;
  /**
   * Memory for the resources that all callers watch: 454 subscriptions to URIs of 9 MiB would fill it. Each resource counts
   * with some bytes besides its URI, so that this bounds their number as well.
   */
  readonly maxKeptBytes: number;
  /** The same for one caller, whatever the number of its sessions and connections. */
  readonly maxKeptBytesPerCaller: number;
  /** Memory for the params of all running requests; stops large requests that take long from filling it. */
  readonly maxPendingBytes: number;
  /** The same for one caller. */
  readonly maxPendingBytesPerCaller: number;
  /** Characters of `clientInfo` and `capabilities` as JSON; stops sessions that are large from their first message on. */
  readonly maxClientLength: number;
  /** Characters of a client's roots as JSON up to which a session keeps them; longer ones are asked for again. */
  readonly maxRootsLength: number;
  /** How long a sealed state may travel before it is useless to a thief. */
  readonly journalTtlMs: number;
  /** A larger journal stays in the store and only a handle travels; stops ever-growing requests. */
  readonly maxJournalBytes: number;
  /** Single-use states that were used and have not expired: each is remembered until then, so beyond it calls wait. */
  readonly maxUsedStates: number;
  /** How many of them one caller may have; stops one caller from taking the room of all. */
  readonly maxUsedStatesPerCaller: number;
  /** How long a client may think about a question; stops handlers from waiting for ever. */
  readonly inputTimeoutMs: number;
}

export const defaultLimits: Limits = {
  ...defaultMessageLimits,
  ...defaultParamLimits,
  pageSize: 1000,
  maxInFlight: 1024,
  maxSubscriptions: 1024,
  maxKeptBytes: 128 * 1024 * 1024,
  maxKeptBytesPerCaller: 16 * 1024 * 1024,
  maxPendingBytes: 256 * 1024 * 1024,
  maxPendingBytesPerCaller: 64 * 1024 * 1024,
  maxClientLength: 16_384,
  maxRootsLength: 16_384,
  journalTtlMs: 10 * 60_000,
  maxJournalBytes: 64 * 1024,
  maxUsedStates: 400_000,
  maxUsedStatesPerCaller: 100_000,
  inputTimeoutMs: 10 * 60_000,
};
