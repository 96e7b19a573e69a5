// Bytes that are in memory because of a client: responses it has not read, bodies it has not finished. Counts them for each
// caller and in total, and lets requests wait for space. The owners of the buffers report their sizes.

import { CallerBudget } from '../../protocol/callers/caller-budget.ts';
import type { HttpLimits } from './limits.ts';

/** Stops many waiting requests from becoming a load themselves: all of them are checked whenever bytes are released. */
const maxWaiting = 256;

interface WaitingBody {
  readonly caller: string;
  readonly timer: ReturnType<typeof setTimeout>;
  run(hasRoom: boolean): void;
}

export class BufferedBytes {
  readonly #budget: CallerBudget;
  readonly #waitMs: number;
  readonly #reserve: number;
  readonly #total: number;
  readonly #waiting = new Set<WaitingBody>();

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

  /** The limit for all callers together is reached. */
  get exhausted(): boolean {
    return this.#budget.held >= this.#total;
  }

  /** Whether a new request of this caller has to wait. */
  isFull(caller: string): boolean {
    return this.#budget.isFull(caller);
  }

  /**
   * Whether not even a finished response may be buffered. Responses to calls that were started while there was space may
   * exceed the limit, so that a burst of them is not lost, but only up to a second limit.
   */
  isOverfull(caller: string): boolean {
    return this.#budget.isFull(caller, this.#reserve);
  }

  /** Starts counting for one exchange or connection. */
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
   * Calls `run` with true when there is space for this caller, or with false when there was none for too long. Returns a
   * function that stops waiting.
   */
  whenRoom(caller: string, run: (hasRoom: boolean) => void): () => void {
    if (!this.isFull(caller)) {
      run(true);
      return () => {};
    }
    if (this.#waiting.size >= maxWaiting) {
      run(false);
      return () => {};
    }
    const stop = (): void => {
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
    };
    const timer = setTimeout(() => {
      stop();
      run(false);
    }, this.#waitMs);
    const waiting: WaitingBody = { caller, run, timer };
    this.#waiting.add(waiting);
    return stop;
  }

  #wake(): void {
    if (this.exhausted) return;
    let full: string | undefined;
    for (const waiting of this.#waiting) {
      // Most of them belong to one caller.
      if (waiting.caller === full) continue;
      if (this.isFull(waiting.caller)) {
        full = waiting.caller;
        continue;
      }
      clearTimeout(waiting.timer);
      this.#waiting.delete(waiting);
      waiting.run(true);
    }
  }
}

/** The bytes that one exchange or connection holds. */
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
