// Bytes that are in memory because of a client: answers it has not read, bodies it has not finished. Counts them for each
// caller and in total, and lets requests wait for room. Who holds how much is told by those who hold it.

import { CallerBudget } from '../../protocol/caller-budget.ts';
import type { HttpLimits } from './limits.ts';

/** Stops a crowd that waits for room from being a burden itself: each of them is looked at whenever room is made. */
const maxWaiting = 256;

interface Waiting {
  readonly caller: string;
  readonly timer: ReturnType<typeof setTimeout>;
  go(hasRoom: boolean): void;
}

export class BufferedBytes {
  readonly #budget: CallerBudget;
  readonly #waitMs: number;
  readonly #reserve: number;
  readonly #total: number;
  readonly #waiting = new Set<Waiting>();

  constructor(limits: HttpLimits) {
    const { maxBufferedBytes, maxBufferedBytesPerCaller, bufferWaitMs } = limits;
    this.#budget = new CallerBudget(maxBufferedBytes, maxBufferedBytesPerCaller);
    this.#total = maxBufferedBytes;
    this.#reserve = maxBufferedBytesPerCaller;
    this.#waitMs = bufferWaitMs;
  }

  /** Held by all callers together. */
  get held(): number {
    return this.#budget.held;
  }

  /** All callers together hold as much as they may. */
  get exhausted(): boolean {
    return this.#budget.held >= this.#total;
  }

  /** Whether what this caller asks for now has to wait. */
  isFull(caller: string): boolean {
    return this.#budget.isFull(caller);
  }

  /**
   * Whether not even an answer that is ready may be kept. Calls that ran while there was room may answer beyond the
   * limit, so that a burst of them is not lost, but not without end.
   */
  isOverfull(caller: string): boolean {
    return this.#budget.isFull(caller, this.#reserve);
  }

  /** Starts to count what one exchange or connection holds. */
  open(caller: string): HeldBytes {
    return new HeldBytes(this, caller);
  }

  change(caller: string, bytes: number): void {
    if (bytes > 0) this.#budget.charge(caller, bytes);
    else {
      this.#budget.release(caller, -bytes);
      if (this.#waiting.size > 0) this.#wake();
    }
  }

  /**
   * Calls back when there is room for this caller, or with false when there was none for too long. Returns how to stop
   * waiting.
   */
  whenRoom(caller: string, go: (hasRoom: boolean) => void): () => void {
    if (!this.isFull(caller)) {
      go(true);
      return () => {};
    }
    if (this.#waiting.size >= maxWaiting) {
      go(false);
      return () => {};
    }
    const stop = (): void => {
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
    };
    const timer = setTimeout(() => {
      stop();
      go(false);
    }, this.#waitMs);
    const waiting: Waiting = { caller, go, timer };
    this.#waiting.add(waiting);
    return stop;
  }

  #wake(): void {
    for (const waiting of this.#waiting) {
      if (this.isFull(waiting.caller)) continue;
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
      waiting.go(true);
    }
  }
}

/** What one exchange or connection holds. */
export class HeldBytes {
  readonly #pool: BufferedBytes;
  readonly caller: string;
  #bytes = 0;

  constructor(pool: BufferedBytes, caller: string) {
    this.#pool = pool;
    this.caller = caller;
  }

  get bytes(): number {
    return this.#bytes;
  }

  set(bytes: number): void {
    if (bytes === this.#bytes) return;
    const change = bytes - this.#bytes;
    this.#bytes = bytes;
    this.#pool.change(this.caller, change);
  }

  release(): void {
    this.set(0);
  }
}
