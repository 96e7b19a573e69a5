// The buffer of the feed: the newest messages, limited by number and by bytes. A busy peer cannot push out the
// messages of the others.

import { resolveLimits } from '../../common/known-options.ts';
import type { FeedEntry } from '../api.ts';

export interface RingLimits {
  /** Stops traffic from filling the memory. Default 10,000. */
  readonly maxEntries: number;
  /** The same, for large messages. Default 32 MiB. */
  readonly maxBytes: number;
}

const defaultRingLimits: RingLimits = { maxEntries: 10_000, maxBytes: 32 * 1024 * 1024 };

/** Roughly what an entry takes without its text. */
const entryBytes = 400;

interface EntryShare {
  /** Numbers of its entries, oldest first, from `first` on. */
  numbers: number[];
  first: number;
  bytes: number;
}

export class Ring {
  readonly #limits: RingLimits;
  /** Oldest first, from `#first` on. Removed entries are undefined until many of them are. */
  #entries: (FeedEntry | undefined)[] = [];
  /** The numbers of these entries, also of removed ones. They may be far apart. */
  #numbers: number[] = [];
  #first = 0;
  #size = 0;
  #bytes = 0;
  /** By peer. */
  readonly #shares = new Map<number, EntryShare>();
  /** Those that are more than half of the buffer, by number or by bytes: two at most. */
  readonly #large = new Set<EntryShare>();

  constructor(limits: Partial<RingLimits> = {}) {
    this.#limits = resolveLimits(defaultRingLimits, limits);
  }

  get size(): number {
    return this.#size;
  }

  get(number: number): FeedEntry | undefined {
    const index = this.#indexAfter(number - 1);
    return this.#numbers[index] === number ? this.#entries[index] : undefined;
  }

  /** Those with a larger number, oldest first. */
  *entries(after = 0): Generator<FeedEntry> {
    const entries = this.#entries;
    for (let index = this.#indexAfter(after); index < entries.length; index++) {
      const entry = entries[index];
      if (entry !== undefined) yield entry;
    }
  }

  /** Replaces an entry that is still there: a response adds to its request. */
  update(entry: FeedEntry): void {
    const index = this.#indexAfter(entry.number - 1);
    if (this.#numbers[index] === entry.number && this.#entries[index] !== undefined) this.#entries[index] = entry;
  }

  /** Its number must be larger than all before. */
  add(entry: FeedEntry): void {
    this.#entries.push(entry);
    this.#numbers.push(entry.number);
    this.#size++;
    const share = this.#shareOf(entry.peer);
    const bytes = sizeOf(entry);
    share.numbers.push(entry.number);
    share.bytes += bytes;
    this.#bytes += bytes;
    if (this.#isLarge(share)) this.#large.add(share);
    while (this.#size > this.#limits.maxEntries || this.#bytes > this.#limits.maxBytes) this.#removeOne();
    this.#compact();
  }

  clear(): void {
    this.#entries = [];
    this.#numbers = [];
    this.#first = 0;
    this.#size = 0;
    this.#bytes = 0;
    this.#shares.clear();
    this.#large.clear();
  }

  /** The index of the first entry with a larger number. */
  #indexAfter(number: number): number {
    let [low, high] = [this.#first, this.#numbers.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#numbers[middle] as number) <= number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #shareOf(peer: number): EntryShare {
    let share = this.#shares.get(peer);
    if (share === undefined) {
      share = { numbers: [], first: 0, bytes: 0 };
      this.#shares.set(peer, share);
    }
    return share;
  }

  #isLarge({ numbers, first, bytes }: EntryShare): boolean {
    return numbers.length - first > this.#limits.maxEntries / 2 || bytes > this.#limits.maxBytes / 2;
  }

  /** The oldest entry of a peer that holds more than half, otherwise the oldest of all. */
  #removeOne(): void {
    const [large] = this.#large;
    const index = large === undefined ? this.#oldest() : this.#indexAfter((large.numbers[large.first] as number) - 1);
    const entry = this.#entries[index] as FeedEntry;
    this.#entries[index] = undefined;
    this.#size--;
    this.#bytes -= sizeOf(entry);
    // The oldest of all is the oldest of its peer, too.
    const share = this.#shareOf(entry.peer);
    share.bytes -= sizeOf(entry);
    share.first++;
    if (!this.#isLarge(share)) this.#large.delete(share);
    if (share.first === share.numbers.length) this.#shares.delete(entry.peer);
    else if (share.first > 1_000 && share.first * 2 > share.numbers.length) {
      share.numbers = share.numbers.slice(share.first);
      share.first = 0;
    }
  }

  #oldest(): number {
    while (this.#entries[this.#first] === undefined) this.#first++;
    return this.#first;
  }

  /** Forgets the numbers of removed entries, now and then. */
  #compact(): void {
    if (this.#numbers.length < 2 * this.#size + 1_000) return;
    this.#numbers = this.#numbers.filter((_number, index) => this.#entries[index] !== undefined);
    this.#entries = this.#entries.filter((entry) => entry !== undefined);
    this.#first = 0;
  }
}

/** Two bytes per character at most. */
function sizeOf({ text }: FeedEntry): number {
  return entryBytes + (text?.length ?? 0) * 2;
}
