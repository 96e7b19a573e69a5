// How much memory the params of running requests take. Small requests are bounded by their number (`maxInFlight`); large
// ones are counted here, since a thousand of ten megabytes each would fill the memory.

import { CallerBudget, callerKey } from '../../protocol/callers/caller-budget.ts';
import type { Peer } from '../../protocol/exchange.ts';
import type { Params } from '../../protocol/json-rpc.ts';
import type { Limits } from '../limits.ts';

/** Requests whose text is shorter are not counted. */
export const smallRequest = 2_048;

/** A request that is running, or a task. */
export interface RunningRequest {
  readonly peer: Peer;
  readonly params: unknown;
}

export class PendingRequests {
  readonly #budget: CallerBudget;
  readonly #held = new Map<RunningRequest, { readonly caller: string; readonly bytes: number }>();

  constructor({ maxPendingBytes, maxPendingBytesPerCaller }: Limits) {
    this.#budget = new CallerBudget(maxPendingBytes, maxPendingBytesPerCaller);
  }

  /** Whether this caller may not start another large request now. */
  isFull(peer: Peer): boolean {
    return this.#held.size > 0 && this.#budget.isFull(callerKey(peer));
  }

  /** Counts a large request that continues after the turn in which it arrived. */
  add(call: RunningRequest): void {
    if (this.#held.has(call)) return;
    const held = { caller: callerKey(call.peer), bytes: memoryOf(call.params) };
    this.#held.set(call, held);
    this.#budget.charge(held.caller, held.bytes);
  }

  delete(call: RunningRequest): void {
    const held = this.#held.size === 0 ? undefined : this.#held.get(call);
    if (held === undefined) return;
    this.#held.delete(call);
    this.#budget.release(held.caller, held.bytes);
  }
}

/** Roughly how many bytes a parsed value takes: three characters, such as `{},`, may become an object of 64 bytes. */
function memoryOf(value: unknown): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 64;
  if (Array.isArray(value)) {
    for (const item of value) bytes += memoryOf(item);
    return bytes;
  }
  for (const key of Object.keys(value)) bytes += key.length + memoryOf((value as Params)[key]);
  return bytes;
}
