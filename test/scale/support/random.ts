// Random choices that a seed determines, so that a schedule can be repeated.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Neighbouring seeds begin with similar numbers.
    for (let n = 0; n < 8; n++) this.next();
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From 0 to `count - 1`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('There is nothing to pick from');
    return items[this.below(items.length)] as T;
  }

  /** A name, each as often as its weight says. */
  weighted<T extends string>(weights: Readonly<Partial<Record<T, number>>>): T {
    const rows = Object.entries(weights) as [T, number][];
    let left = this.next() * rows.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of rows) {
      left -= weight;
      if (left < 0) return name;
    }
    return (rows.at(-1) as [T, number])[0];
  }
}
