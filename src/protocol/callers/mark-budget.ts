// Counts marks per caller: entries that must stay until they expire, such as revoked sessions and used tokens. Marks
// are never dropped early; beyond the limits new ones, or what leads to them, are rejected.

import { monotonicMs } from '../../common/clock.ts';
import { CallerBudget } from './caller-budget.ts';

/** Marks that expire at about the same time are released together: one count for each caller instead of each mark. */
const slotsPerLifetime = 64;

export class MarkBudget {
  readonly #budget: CallerBudget;
  readonly #slotMs: number;
  readonly #now: () => number;
  /** Marks of each caller by the slot in which they expire. */
  readonly #slots = new Map<number, Map<string, number>>();

  constructor(total: number, perCaller: number, lifetimeMs: number, now: () => number = monotonicMs) {
    this.#budget = new CallerBudget(total, perCaller);
    this.#slotMs = lifetimeMs / slotsPerLifetime;
    this.#now = now;
  }

  /** Whether this caller must not cause more marks for now. `reserve` raises both limits. */
  isFull(caller: string, reserve = 0): boolean {
    if (!this.#budget.isFull(caller, reserve)) return false;
    this.#releaseExpired();
    return this.#budget.isFull(caller, reserve);
  }

  charge(caller: string, ttlMs: number): void {
    const slot = Math.ceil((this.#now() + ttlMs) / this.#slotMs);
    let counts = this.#slots.get(slot);
    if (counts === undefined) this.#slots.set(slot, (counts = new Map()));
    counts.set(caller, (counts.get(caller) ?? 0) + 1);
    this.#budget.charge(caller);
  }

  /** How long until some marks of this caller, or of any if it has none, have expired. */
  waitMs(caller: string): number {
    const mine = [...this.#slots].filter(([, counts]) => counts.has(caller));
    const slots = (mine.length === 0 ? [...this.#slots] : mine).map(([slot]) => slot);
    return Math.max(0, Math.min(...slots) * this.#slotMs - this.#now());
  }

  #releaseExpired(): void {
    const now = this.#now();
    for (const [slot, counts] of this.#slots) {
      if (slot * this.#slotMs > now) continue;
      this.#slots.delete(slot);
      for (const [caller, count] of counts) this.#budget.release(caller, count);
    }
  }
}
