// Ended calls whose lines are not encoded yet. They are encoded together, when the list is full or lines are written.

import type { EndedCall } from './line-encoder.ts';

/** Calls that wait at a time. */
const maxPendingCalls = 64;
/** Only small calls wait: stops callers from making the log hold large arguments in memory. */
const maxPendingValues = 16;
const maxPendingChars = 256;

export class EndedCalls {
  #calls: EndedCall[] = [];

  /** Adds a call. Returns false if it is too large to wait; its line must be encoded now. */
  add(call: EndedCall): boolean {
    if (!isSmall(call)) return false;
    this.#calls.push(call);
    return true;
  }

  get isFull(): boolean {
    return this.#calls.length >= maxPendingCalls;
  }

  /** Removes and returns all calls, oldest first. */
  take(): readonly EndedCall[] {
    if (this.#calls.length === 0) return none;
    const calls = this.#calls;
    this.#calls = [];
    return calls;
  }
}

const none: readonly EndedCall[] = [];

function isSmall({ name = '', arguments: args }: EndedCall): boolean {
  if (name.length > maxPendingChars) return false;
  if (typeof args !== 'object' || args === null) return args === undefined;
  let count = 0;
  for (const key in args) {
    if (++count > maxPendingValues || key.length > maxPendingChars) return false;
    const value = (args as Record<string, unknown>)[key];
    if (typeof value === 'string' ? value.length > maxPendingChars : typeof value === 'object' && value !== null) {
      return false;
    }
  }
  return true;
}
