// The limits of the engine, each with a name, a default, and the attack it stops.

import { resolveLimits } from '../common/known-options.ts';
import { defaultMessageLimits, type MessageLimits } from '../protocol/json-rpc.ts';
import { defaultParamLimits, type ParamLimits } from '../protocol/param-limits.ts';

/** Limits of a server. Set some of them with `limits` of `createServer`. */
export interface Limits extends MessageLimits, ParamLimits {
  /** Items per page of a list. Most clients never request a second page, so it is large. */
  readonly pageSize: number;
  /** Requests of one connection running at a time; stops a client from queueing work without limit. */
  readonly maxInFlight: number;
  /**
   * Characters of the responses to one batch, which are in memory until the last of them is there; the rest are replaced
   * by errors. Stops a small batch from filling the memory.
   */
  readonly maxBatchResponse: number;
  /** Open subscriptions of one connection; stops a client from multiplying every change. */
  readonly maxSubscriptions: number;
  /**
   * Memory for the resource subscriptions of all callers; stops a few hundred subscriptions to URIs of several megabytes
   * from filling it. Each counts some bytes besides its URI, so this bounds their number as well.
   */
  readonly maxKeptBytes: number;
  /** The same for one caller, whatever the number of its sessions and connections. */
  readonly maxKeptBytesPerCaller: number;
  /** Memory for the params of all running requests; stops large requests that take long from filling it. */
  readonly maxPendingBytes: number;
  /** The same for one caller. */
  readonly maxPendingBytesPerCaller: number;
  /** Characters of `clientInfo` and `capabilities` as JSON; stops sessions that are large from the start. */
  readonly maxClientLength: number;
  /** Characters of a client's roots as JSON up to which a session caches them; longer ones are requested each time. */
  readonly maxRootsLength: number;
  /** How long a sealed state is valid; stops the use of stolen ones later. */
  readonly journalTtlMs: number;
  /** A larger journal is stored and the client gets a handle; stops requests that grow with every retry. */
  readonly maxJournalBytes: number;
  /** Single-use states that were used and have not expired; each is stored until then. Beyond it calls are rejected. */
  readonly maxUsedStates: number;
  /** How many of them one caller may have; stops one caller from using up the limit of all. */
  readonly maxUsedStatesPerCaller: number;
  /** How long a client may take to respond to an input request; stops handlers from waiting forever. */
  readonly inputTimeoutMs: number;
  /** How long what a handler has attached with `ctx.attach` can be read. */
  readonly attachmentTtlMs: number;
  /** Bytes of one attachment. A client reads it in one message, in base64 if it is not text. */
  readonly maxAttachmentBytes: number;
  /** Memory for the attachments of all callers that have not expired, encrypted; beyond it nothing can be attached. */
  readonly maxAttachedBytes: number;
  /** The same for one caller. */
  readonly maxAttachedBytesPerCaller: number;
}

/** The limits that apply if `createServer` gets no others. */
export const defaultLimits: Limits = {
  ...defaultMessageLimits,
  ...defaultParamLimits,
  pageSize: 1000,
  maxInFlight: 1024,
  maxBatchResponse: 16 * 1024 * 1024,
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
  attachmentTtlMs: 15 * 60_000,
  maxAttachmentBytes: 4 * 1024 * 1024,
  maxAttachedBytes: 48 * 1024 * 1024,
  maxAttachedBytesPerCaller: 12 * 1024 * 1024,
};

export const resolveServerLimits = (given: Partial<Limits> = {}): Limits => resolveLimits(defaultLimits, given);
