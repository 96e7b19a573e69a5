// Requests sent and not answered yet, with their time limits on one timer that exists only while something waits.

import type { OutgoingCall } from './outgoing-call.ts';

/** Node's longest timer. */
const maxTimerMs = 2 ** 31 - 1;

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
  /** Input requests that are being answered: meanwhile no time limit runs. */
  #held = 0;
  #heldSince = 0;

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

  /** Stops the clocks while the server waits for us. */
  hold(): void {
    if (this.#held++ === 0) this.#heldSince = performance.now();
  }

  release(): void {
    if (--this.#held > 0) return;
    const passed = Math.ceil(performance.now() - this.#heldSince);
    for (const call of this.#all()) {
      call.deadline += passed;
      call.hardDeadline += passed;
    }
    this.#sweep();
  }

  /** Removes and returns all calls. */
  drain(): OutgoingCall[] {
    const calls = this.#all();
    this.#slots.fill(undefined);
    this.#size = 0;
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
    if (this.#held > 0) return;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.#all()) {
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
