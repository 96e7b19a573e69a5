// The calls of one channel that did not end in the turn in which they started, by the ids of their requests.

import type { RequestId } from '../protocol/model.ts';
import type { EngineCall } from './call.ts';

/** The table, for those who only look. */
export type ReadonlyCallsInFlight = Pick<CallsInFlight, 'size' | 'get' | 'has' | 'values'>;

const initialSlots = 8;

/**
 * Slots by id, because most clients count their ids up: finding a slot is one index. Other ids are in a `Map`. Not all of
 * them: under constant insertion and deletion a `Map` keeps its discarded tables, and the calls in them, reachable from each
 * other until the next full garbage collection.
 */
export class CallsInFlight {
  #slots: (EngineCall | undefined)[] = new Array(initialSlots).fill(undefined);
  #others: Map<RequestId, EngineCall> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: RequestId): EngineCall | undefined {
    const call = typeof id === 'number' ? this.#slots[this.#slotOf(id)] : undefined;
    return call !== undefined && call.id === id ? call : this.#others?.get(id);
  }

  has(id: RequestId): boolean {
    return this.get(id) !== undefined;
  }

  /** Adds a call whose id is not in use. */
  add(call: EngineCall): void {
    const { id } = call;
    this.#size++;
    if (typeof id === 'number') {
      if (this.#size * 2 > this.#slots.length) this.#grow();
      const slot = this.#slotOf(id);
      if (this.#slots[slot] === undefined) {
        this.#slots[slot] = call;
        return;
      }
    }
    this.#others ??= new Map();
    this.#others.set(id, call);
  }

  delete(call: EngineCall): void {
    const { id } = call;
    if (typeof id === 'number') {
      const slot = this.#slotOf(id);
      if (this.#slots[slot] === call) {
        this.#slots[slot] = undefined;
        this.#size--;
        return;
      }
    }
    if (this.#others?.get(id) !== call) return;
    this.#others.delete(id);
    this.#size--;
  }

  /** A copy of its calls: numbers first, in their order. */
  values(): EngineCall[] {
    const numbered = this.#slots.filter((call) => call !== undefined);
    numbered.sort((a, b) => (a.id as number) - (b.id as number));
    return this.#others === undefined ? numbered : [...numbered, ...this.#others.values()];
  }

  /** The number of slots is a power of two. */
  #slotOf(id: number): number {
    return id & (this.#slots.length - 1);
  }

  #grow(): void {
    const calls = this.#slots;
    this.#slots = new Array(calls.length * 2).fill(undefined);
    // Two ids that shared no slot before share none in a table twice as large.
    for (const call of calls) if (call !== undefined) this.#slots[this.#slotOf(call.id as number)] = call;
  }
}
