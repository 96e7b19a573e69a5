// The buffer of the feed: the newest messages, limited by number and by bytes. A busy peer cannot push out the
// messages of the others.

import type { FeedEntry } from './api.ts';

export interface RingLimits {
  /** Stops traffic from filling the memory. Default 10,000. */
  readonly maxEntries: number;
  /** The same, for large messages. Default 32 MiB. */
  readonly maxBytes: number;
}

const defaultRingLimits: RingLimits = { maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };

/** Roughly what an entry takes without its text. */
const entryBytes = 400;

interface Share {
  /** Numbers of its entries, oldest first, from `first` on. */
  numbers: number[];
  first: number;
  bytes: number;
}

export class Ring {
  readonly #limits: RingLimits;
  readonly #entries = new Map<number, FeedEntry>();
  readonly #shares = new Map<number, Share>();
  /**
   * The numbers of the entries, oldest first, from `#first` on. Includes numbers of removed entries: removing those in the
   * middle, or finding the first key of a map with many deleted ones, would take much longer.
   */
  #numbers: number[] = [];
  #first = 0;
  #bytes = 0;

  constructor(limits: Partial<RingLimits> = {}) {
    this.#limits = { ...defaultRingLimits, ...limits };
  }

  get size(): number {
    return this.#entries.size;
  }

  get(number: number): FeedEntry | undefined {
    return this.#entries.get(number);
  }

  /** Those with a larger number, oldest first. Numbers may be far apart, so they are never counted through. */
  *entries(after = 0): Generator<FeedEntry> {
    let [low, high] = [this.#first, this.#numbers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) <= after) low = middle + 1;
      else high = middle;
    }
    const numbers = this.#numbers;
    for (let index = low; index < numbers.length; index++) {
      const entry = this.#entries.get(numbers[index] as number);
      if (entry !== undefined) yield entry;
    }
  }

  /** Replaces an entry that is still there: a response adds to its request. */
  update(entry: FeedEntry): void {
    if (this.#entries.has(entry.number)) this.#entries.set(entry.number, entry);
  }

  /** Its number must be larger than all before. */
  add(entry: FeedEntry): void {
    this.#entries.set(entry.number, entry);
    this.#numbers.push(entry.number);
    const share = this.#shareOf(entry.peer);
    share.numbers.push(entry.number);
    share.bytes += sizeOf(entry);
    this.#bytes += sizeOf(entry);
    while (this.#entries.size > this.#limits.maxEntries || this.#bytes > this.#limits.maxBytes) this.#removeOne();
    this.#compact();
  }

  clear(): void {
    this.#entries.clear();
    this.#numbers = [];
    this.#first = 0;
    this.#shares.clear();
    this.#bytes = 0;
  }

  #shareOf(peer: number): Share {
    let share = this.#shares.get(peer);
    if (share === undefined) {
      share = { numbers: [], first: 0, bytes: 0 };
      this.#shares.set(peer, share);
    }
    return share;
  }

  /** The oldest entry of the peer that holds more than half, otherwise the oldest of all. */
  #removeOne(): void {
    const number = this.#oldestOfLargest() ?? this.#oldestOfAll();
    const entry = this.#entries.get(number) as FeedEntry;
    this.#entries.delete(number);
    this.#bytes -= sizeOf(entry);
    // The oldest of all is the oldest of its peer, too.
    const share = this.#shareOf(entry.peer);
    share.bytes -= sizeOf(entry);
    share.first++;
    if (share.first === share.numbers.length) this.#shares.delete(entry.peer);
    else if (share.first > 1_000 && share.first * 2 > share.numbers.length) {
      share.numbers = share.numbers.slice(share.first);
      share.first = 0;
    }
  }

  #oldestOfAll(): number {
    while (!this.#entries.has(this.#numbers[this.#first] as number)) this.#first++;
    return this.#numbers[this.#first] as number;
  }

  /** Forgets the numbers of entries that left, now and then. */
  #compact(): void {
    if (this.#numbers.length < 2 * this.#entries.size + 1_000) return;
    this.#numbers = this.#numbers.filter((number) => this.#entries.has(number));
    this.#first = 0;
  }

  #oldestOfLargest(): number | undefined {
    const { maxEntries, maxBytes } = this.#limits;
    for (const { numbers, first, bytes } of this.#shares.values()) {
      if (numbers.length - first > maxEntries / 2 || bytes > maxBytes / 2) return numbers[first];
    }
    return undefined;
  }
}

/** Two bytes per character at most. */
function sizeOf({ text }: FeedEntry): number {
  return entryBytes + (text?.length ?? 0) * 2;
}
