// Requests that have no response yet, by their ids.

import type { RequestId } from './model.ts';

interface Identified {
  readonly id: RequestId;
}

/** The table, for those who only look. */
export type ReadonlyIdTable<T extends Identified> = Pick<IdTable<T>, 'size' | 'get' | 'has' | 'values'>;

const initialSlots = 8;

/**
 * Slots by id, because most clients count their ids up: finding a slot is one index. Other ids are in a `Map`. Not all of
 * them: under constant insertion and deletion a `Map` keeps its discarded tables, and the requests in them, reachable from
 * each other until the next full garbage collection.
 */
export class IdTable<T extends Identified> {
  #slots: (T | undefined)[] = new Array(initialSlots).fill(undefined);
  #others: Map<RequestId, T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: RequestId): T | undefined {
    const request = typeof id === 'number' ? this.#slots[this.#slotOf(id)] : undefined;
    return request !== undefined && request.id === id ? request : this.#others?.get(id);
  }

  has(id: RequestId): boolean {
    return this.get(id) !== undefined;
  }

  /** Adds a request whose id is not in use. */
  add(request: T): void {
    const { id } = request;
    this.#size++;
    if (typeof id === 'number') {
      if (this.#size * 2 > this.#slots.length) this.#grow();
      const slot = this.#slotOf(id);
      if (this.#slots[slot] === undefined) {
        this.#slots[slot] = request;
        return;
      }
    }
    this.#others ??= new Map();
    this.#others.set(id, request);
  }

  delete(request: T): void {
    const { id } = request;
    if (typeof id === 'number') {
      const slot = this.#slotOf(id);
      if (this.#slots[slot] === request) {
        this.#slots[slot] = undefined;
        this.#size--;
        return;
      }
    }
    if (this.#others?.get(id) !== request) return;
    this.#others.delete(id);
    this.#size--;
  }

  /** A copy of its requests: numbers first, in their order. */
  values(): T[] {
    const numbered = this.#slots.filter((request) => request !== undefined);
    numbered.sort((a, b) => (a.id as number) - (b.id as number));
    return this.#others === undefined ? numbered : [...numbered, ...this.#others.values()];
  }

  /** The number of slots is a power of two. */
  #slotOf(id: number): number {
    return id & (this.#slots.length - 1);
  }

  #grow(): void {
    const requests = this.#slots;
    this.#slots = new Array(requests.length * 2).fill(undefined);
    // Two ids that shared no slot before share none in a table twice as large.
    for (const request of requests)
      if (request !== undefined) this.#slots[this.#slotOf(request.id as number)] = request;
  }
}
