// Requests sent and not answered yet, with their time limits on one timer that exists only while something waits.

import type { Call } from './call.ts';

/** Node's longest timer. */
const maxTimerMs = 2 ** 31 - 1;

export class PendingCalls {
  readonly #calls = new Map<number, Call>();
  readonly #expired: (call: Call, afterMs: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  /** Questions of the server a person is answering: meanwhile nobody's time runs. */
  #held = 0;
  #heldSince = 0;

  constructor(expired: (call: Call, afterMs: number) => void) {
    this.#expired = expired;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(call: Call): void {
    this.#calls.set(call.id, call);
    if (call.timeoutMs === Number.POSITIVE_INFINITY && call.maxTimeoutMs === Number.POSITIVE_INFINITY) {
      call.deadline = call.hardDeadline = Number.POSITIVE_INFINITY;
      return;
    }
    const now = performance.now();
    call.hardDeadline = now + call.maxTimeoutMs;
    call.deadline = Math.min(now + call.timeoutMs, call.hardDeadline);
    if (call.deadline < this.#timerAt) this.#arm(call.deadline, now);
  }

  get(id: number): Call | undefined {
    return this.#calls.get(id);
  }

  take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    if (call !== undefined) this.#calls.delete(id);
    return call;
  }

  /** A sign of life: the time limit begins anew, up to the hard one. */
  extend(call: Call): void {
    call.deadline = Math.min(performance.now() + call.timeoutMs, call.hardDeadline);
  }

  /** No time limit from here on. */
  exempt(call: Call): void {
    call.deadline = call.hardDeadline = Number.POSITIVE_INFINITY;
  }

  /** Stops the clocks while the server waits for us. */
  hold(): void {
    if (this.#held++ === 0) this.#heldSince = performance.now();
  }

  release(): void {
    if (--this.#held > 0) return;
    const passed = performance.now() - this.#heldSince;
    for (const call of this.#calls.values()) {
      call.deadline += passed;
      call.hardDeadline += passed;
    }
    this.#sweep();
  }

  /** Takes everything out. */
  drain(): Call[] {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    return calls;
  }

  #arm(at: number, now: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#sweep(), Math.min(Math.max(Math.ceil(at - now), 1), maxTimerMs));
    // What keeps a process alive is the connection; a time limit alone is no reason to stay.
    this.#timer.unref?.();
  }

  /** Ends what is over time and sets the timer for what is next. */
  #sweep(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    if (this.#held > 0) return;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const call of this.#calls.values()) {
      if (call.deadline > now) next = Math.min(next, call.deadline);
      else {
        this.#calls.delete(call.id);
        this.#expired(call, call.deadline === call.hardDeadline ? call.maxTimeoutMs : call.timeoutMs);
      }
    }
    if (next !== Number.POSITIVE_INFINITY) this.#arm(next, now);
  }
}
