// The in-memory ExpiringStore. Marks (`add`) stay until they expire; values (`set`) are bounded by count and bytes, and the
// oldest are dropped. Nothing outlives the process.

import { CautiousClock } from '../common/clock.ts';
import { resolveLimits } from '../common/known-options.ts';
import { wireErrors } from '../protocol/errors.ts';
import type { Json } from '../protocol/model.ts';
import type { ExpiringStore } from './ports.ts';

export interface MemoryStoreLimits {
  /** Values of all owners; stops clients from filling memory with small ones. */
  readonly maxValues: number;
  /** About how many bytes they take together; stops large ones. */
  readonly maxValueBytes: number;
  /** How many bytes the values of one owner take. Beyond it the oldest values of that owner are dropped. */
  readonly maxValueBytesPerOwner: number;
  /** Marks of all callers. They are never dropped early, so beyond it a new one is rejected; callers have lower limits. */
  readonly maxMarks: number;
}

const defaults: MemoryStoreLimits = {
  maxValues: 100_000,
  maxValueBytes: 64 * 1024 * 1024,
  maxValueBytesPerOwner: 16 * 1024 * 1024,
  maxMarks: 2_000_000,
};

/** How many entries each write checks for expiry: checking all of them at once would block for long. */
const sweptPerWrite = 4;

/** How long a client should wait when a mark cannot be stored. */
const retryAfterMs = 60_000;

export function createMemoryExpiringStore(
  limits: Partial<MemoryStoreLimits> = {},
  now: () => number = Date.now,
  expiredBy: () => number = cautious(now),
): ExpiringStore {
  const resolved = resolveLimits(defaults, limits);
  const marks = new Marks(resolved, expiredBy);
  const values = new ExpiringValues(resolved, now);
  return {
    get(key) {
      const mark = marks.get(key);
      return mark === undefined ? values.get(key) : mark;
    },
    set(key, value, ttlMs, owner = '') {
      values.set(key, { value, until: now() + ttlMs, owner, bytes: key.length + sizeOf(value) });
    },
    add(key, value, ttlMs) {
      if (marks.get(key) !== undefined || values.get(key) !== undefined) return false;
      marks.add(key, value, now() + ttlMs);
      return true;
    },
    replace(key, expected, value, ttlMs, owner = '') {
      if (!isSame(values.get(key), expected)) return false;
      values.set(key, { value, until: now() + ttlMs, owner, bytes: key.length + sizeOf(value) });
      return true;
    },
    delete(key) {
      marks.delete(key);
      values.delete(key);
    },
  };
}

function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

function cautious(now: () => number): () => number {
  const clock = new CautiousClock(now);
  return () => clock.now();
}

/** A mark without a value is stored as its expiry time only: there may be a million of them. */
type Mark = number | { readonly value: Json; readonly until: number };

class Marks {
  readonly #limits: MemoryStoreLimits;
  readonly #now: () => number;
  readonly #marks = new Map<string, Mark>();
  #sweep = this.#marks.entries();

  constructor(limits: MemoryStoreLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get(key: string): Json | undefined {
    const mark = this.#marks.get(key);
    if (mark === undefined || untilOf(mark) <= this.#now()) return undefined;
    return typeof mark === 'number' ? true : mark.value;
  }

  add(key: string, value: Json, until: number): void {
    this.#sweepSome();
    if (this.#marks.size >= this.#limits.maxMarks) throw wireErrors.overloaded(retryAfterMs);
    this.#marks.set(key, value === true ? until : { value, until });
  }

  delete(key: string): void {
    this.#marks.delete(key);
  }

  #sweepSome(): void {
    const now = this.#now();
    for (let n = 0; n < sweptPerWrite; n++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#marks.entries();
        return;
      }
      const [key, mark] = next.value;
      if (untilOf(mark) <= now) this.#marks.delete(key);
    }
  }
}

const untilOf = (mark: Mark): number => (typeof mark === 'number' ? mark : mark.until);

interface Value {
  readonly value: Json;
  readonly until: number;
  readonly owner: string;
  readonly bytes: number;
}

/** Keys of one owner, oldest first. */
interface OwnerShare {
  bytes: number;
  readonly keys: Set<string>;
}

class ExpiringValues {
  readonly #limits: MemoryStoreLimits;
  readonly #now: () => number;
  readonly #values = new Map<string, Value>();
  readonly #shares = new Map<string, OwnerShare>();
  #bytes = 0;
  #sweep = this.#values.entries();

  constructor(limits: MemoryStoreLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get(key: string): Json | undefined {
    const found = this.#values.get(key);
    return found === undefined || found.until <= this.#now() ? undefined : found.value;
  }

  set(key: string, value: Value): void {
    const { maxValues, maxValueBytes, maxValueBytesPerOwner } = this.#limits;
    if (value.bytes > maxValueBytesPerOwner) throw wireErrors.tooLarge(maxValueBytesPerOwner);
    this.delete(key);
    this.#sweepSome();
    const share = this.#shares.get(value.owner);
    while (share !== undefined && share.bytes > 0 && share.bytes + value.bytes > maxValueBytesPerOwner) {
      this.#dropOldest(share);
    }
    while (this.#values.size >= maxValues || this.#bytes + value.bytes > maxValueBytes) {
      this.#dropOldest(this.#largestShare());
    }
    this.#insert(key, value);
  }

  #insert(key: string, value: Value): void {
    let share = this.#shares.get(value.owner);
    if (share === undefined) this.#shares.set(value.owner, (share = { bytes: 0, keys: new Set() }));
    share.keys.add(key);
    share.bytes += value.bytes;
    this.#bytes += value.bytes;
    this.#values.set(key, value);
  }

  delete(key: string): void {
    const found = this.#values.get(key);
    if (found === undefined) return;
    this.#values.delete(key);
    this.#bytes -= found.bytes;
    const share = this.#shares.get(found.owner) as OwnerShare;
    share.bytes -= found.bytes;
    share.keys.delete(key);
    if (share.keys.size === 0) this.#shares.delete(found.owner);
  }

  #dropOldest({ keys }: OwnerShare): void {
    const [oldest] = keys;
    if (oldest !== undefined) this.delete(oldest);
  }

  #largestShare(): OwnerShare {
    let largest: OwnerShare | undefined;
    for (const share of this.#shares.values()) {
      if (largest === undefined || share.bytes > largest.bytes) largest = share;
    }
    return largest as OwnerShare;
  }

  #sweepSome(): void {
    const now = this.#now();
    for (let n = 0; n < sweptPerWrite; n++) {
      const next = this.#sweep.next();
      if (next.done === true) {
        this.#sweep = this.#values.entries();
        return;
      }
      if (next.value[1].until <= now) this.delete(next.value[0]);
    }
  }
}

/** About how many bytes a value takes in memory. */
function sizeOf(value: Json): number {
  if (typeof value === 'string') return 16 + value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let bytes = 16;
  if (Array.isArray(value)) for (const each of value) bytes += sizeOf(each as Json);
  else for (const [name, each] of Object.entries(value)) bytes += 16 + name.length + sizeOf(each as Json);
  return bytes;
}
