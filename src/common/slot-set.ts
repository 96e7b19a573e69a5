// A set for what comes and goes with every call. A `Set` or `Map` under constant insertion and deletion keeps its discarded
// tables, and everything in them, reachable from each other until the next full garbage collection.

/** Members have slots, which their owners remember. They are in no order. */
export class SlotSet<T extends object> {
  readonly #members: (T | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#members.length - this.#free.length;
  }

  /** Adds a member and returns its slot. */
  add(member: T): number {
    const slot = this.#free.pop() ?? this.#members.length;
    this.#members[slot] = member;
    return slot;
  }

  /** Removes a member. False if it is not in this slot. */
  delete(slot: number, member: T): boolean {
    if (this.#members[slot] !== member) return false;
    this.#members[slot] = undefined;
    this.#free.push(slot);
    return true;
  }

  /** A copy of the members. */
  values(): T[] {
    return this.#members.filter((member) => member !== undefined);
  }
}
