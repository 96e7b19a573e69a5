// What may grow, and how far. Every limit has a name, a default, and the attack it stops.

import { defaultMessageLimits, type MessageLimits } from '../protocol/json-rpc.ts';

export interface Limits extends MessageLimits {
  /** Items per page of a list. A client that pages gets smaller answers; most clients never ask for page two. */
  readonly pageSize: number;
  /** Requests of one connection running at a time; stops a client from queueing work without end. */
  readonly maxInFlight: number;
  /** Open subscriptions of one connection; stops a client from multiplying every change. */
  readonly maxSubscriptions: number;
  /** Resources one session or subscription may watch. */
  readonly maxWatched: number;
  /** How long a sealed state may travel before it is useless to a thief. */
  readonly journalTtlMs: number;
  /** A larger journal stays in the store and only a handle travels; stops ever-growing requests. */
  readonly maxJournalBytes: number;
  /** Single-use states that were used and have not expired: each is remembered until then, so beyond it calls wait. */
  readonly maxUsedStates: number;
  /** How many of them one caller may have; stops one caller from taking the room of all. */
  readonly maxUsedStatesPerCaller: number;
  /** How long a client may think about a question; stops handlers from waiting for ever. */
  readonly askTimeoutMs: number;
}

export const defaultLimits: Limits = {
  ...defaultMessageLimits,
  pageSize: 1000,
  maxInFlight: 1024,
  maxSubscriptions: 1024,
  maxWatched: 10_000,
  journalTtlMs: 10 * 60_000,
  maxJournalBytes: 64 * 1024,
  maxUsedStates: 400_000,
  maxUsedStatesPerCaller: 100_000,
  askTimeoutMs: 10 * 60_000,
};
