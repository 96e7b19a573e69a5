// Requests sent and not answered yet, with their time limits on one timer that exists only while something waits.

import { maxTimerMs } from '../../common/wait.ts';
import type { OutgoingCall } from './outgoing-call.ts';

/** A pause of the time limits of one call. */
interface LimitPause {
  /** How many wait for its end. */
  count: number;
  readonly sinceMs: number;
}

/**
 * The table. Slots by id instead of a `Map`: ids come in order, so that finding a slot is one index; and a `Map` under
 * constant insertion and deletion keeps its discarded tables reachable from each other until the next full collection,
 * which cost a quarter of the time of a call (bench client, "mooring", stdio).
 */
export class PendingCalls {
  readonly #expired: (call: OutgoingCall, afterMs: number) => void;
  #slots: (OutgoingCall | undefined)[] = new Array(64).fill(undefined);
  #mask = 63;
  #size = 0;
  #nextId = 1;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** How often all time limits are paused now, and those of single calls. */
  #heldAll = 0;
  readonly #held = new Map<OutgoingCall, LimitPause>();

  constructor(expired: (call: OutgoingCall, afterMs: number) => void) {
    this.#expired = expired;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether an id was ever given out. */
  wasUsed(id: number): boolean {
    return id >= 1 && id < this.#nextId;
  }

  /** Gives the call an id and begins to wait for its response. */
  add(call: OutgoingCall): void {
    if (this.#size * 2 > this.#mask) this.#grow();
    let id = this.#nextId;
    // Skips slots of long-lived calls.
    while (this.#slots[id & this.#mask] !== undefined) id++;
    this.#nextId = id + 1;
    call.id = id;
    this.#slots[id & this.#mask] = call;
    this.#size++;
    if (call.timeoutMs === Number.POSITIVE_INFINITY && call.maxTimeoutMs === Number.POSITIVE_INFINITY) {
      this.exempt(call);
      return;
    }
    // Whole milliseconds: a fraction would be allocated on the heap.
    const now = Math.ceil(performance.now());
    call.hardDeadline = now + (call.leftMs ?? call.maxTimeoutMs);
    call.deadline = Math.min(now + call.timeoutMs, call.hardDeadline);
    if (this.#heldAll > 0) this.#hold(call, now);
    if (call.deadline < this.#timerAt) this.#arm(call.deadline, now);
  }

  get(id: number): OutgoingCall | undefined {
    const call = this.#slots[id & this.#mask];
    return call !== undefined && call.id === id ? call : undefined;
  }

  take(id: number): OutgoingCall | undefined {
    const call = this.get(id);
    if (call === undefined) return undefined;
    this.#slots[id & this.#mask] = undefined;
    this.#size--;
    if (this.#held.size > 0) this.#held.delete(call);
    return call;
  }

  /** Progress was reported: the time limit starts again, up to the hard limit. */
  extend(call: OutgoingCall): void {
    call.deadline = Math.min(Math.ceil(performance.now()) + call.timeoutMs, call.hardDeadline);
  }

  /** No time limit from here on. */
  exempt(call: OutgoingCall): void {
    call.deadline = call.hardDeadline = Number.POSITIVE_INFINITY;
  }

  /** Stops the clocks of calls with these options, or of all, also of later ones, until the returned function is called. */
  hold(only?: ReadonlySet<object>): () => void {
    const now = performance.now();
    if (only !== undefined) {
      const calls = this.#all().filter(({ options }) => only.has(options));
      const holds = calls.map((call) => [call, this.#hold(call, now)] as const);
      return () => this.#release(holds);
    }
    if (this.#heldAll++ === 0) for (const call of this.#all()) this.#hold(call, now);
    return () => {
      if (--this.#heldAll === 0) this.#release(this.#held);
    };
  }

  #hold(call: OutgoingCall, sinceMs: number): LimitPause {
    let hold = this.#held.get(call);
    if (hold === undefined) this.#held.set(call, (hold = { count: 0, sinceMs }));
    hold.count++;
    return hold;
  }

  /** Gives the calls the time that has passed since they were held. */
  #release(holds: Iterable<readonly [OutgoingCall, LimitPause]>): void {
    for (const [call, hold] of holds) {
      // The request that was held may have ended, and the call may have sent another one.
      if (this.#held.get(call) !== hold || --hold.count > 0) continue;
      this.#held.delete(call);
      const passedMs = Math.ceil(performance.now() - hold.sinceMs);
      call.deadline += passedMs;
      call.hardDeadline += passedMs;
    }
    this.#sweep();
  }

  /** Removes and returns all calls. */
  drain(): OutgoingCall[] {
    const calls = this.#all();
    this.#slots.fill(undefined);
    this.#size = 0;
    this.#held.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    return calls;
  }

  #arm(at: number, now: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#sweep(), Math.min(Math.max(Math.ceil(at - now), 1), maxTimerMs));
    // The connection keeps the process running; a time limit must not.
    this.#timer.unref?.();
  }

  /** Fails the calls whose time limit has passed, and sets the timer for the next one. */
  #sweep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.#all()) {
      if (this.#held.has(call)) continue;
      if (call.deadline > now) next = Math.min(next, call.deadline);
      else {
        this.take(call.id);
        this.#expired(call, call.deadline === call.hardDeadline ? call.maxTimeoutMs : call.timeoutMs);
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next, now);
  }

  #all(): OutgoingCall[] {
    return this.#slots.filter((call) => call !== undefined);
  }

  #grow(): void {
    const calls = this.#all();
    this.#mask = this.#mask * 2 + 1;
    this.#slots = new Array(this.#mask + 1).fill(undefined);
    // Two ids that shared no slot before share none in a table twice as large.
    for (const call of calls) this.#slots[call.id & this.#mask] = call;
  }
}
