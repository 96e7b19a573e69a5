// A cache of recently used values, by text, in two maps. When the young one is full, the old one is dropped; what is found there
// becomes young again. Faster than removing single keys.

export class RecentMap<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max / 2;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    if (this.#young.size >= this.#max) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }
}
