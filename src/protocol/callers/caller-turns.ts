// Work that takes memory or time while it runs: limits how much of it each caller, and all callers together, may have
// running. The rest waits in order, and a caller with much waiting work does not block others.

import { monotonicMs } from '../../common/clock.ts';
import { nextSlice, sliceMs } from '../../common/slices.ts';
import { CallerBudget } from './caller-budget.ts';
import { WaitingCallers } from './waiting-callers.ts';

const isLong = (startMs: number): boolean => monotonicMs() - startMs >= sliceMs / 2;

export class CallerTurns {
  readonly #running: CallerBudget;
  readonly #waiting = new WaitingCallers();

  constructor(maxRunning: number, maxRunningPerCaller: number) {
    this.#running = new CallerBudget(maxRunning, maxRunningPerCaller);
  }

  /** Runs the work when it is this caller's turn. Rejects with the reason of the signal if it aborts first. */
  async run<T>(caller: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running.isFull(caller)) await this.#turnOf(caller, signal);
    else this.#running.charge(caller);
    const startMs = monotonicMs();
    try {
      return await work();
    } finally {
      if (isLong(startMs)) this.#endLater(caller);
      else this.#end(caller);
    }
  }

  /** The same for work that is mostly short and synchronous: then there is no promise, unless it has to wait. */
  runInline<T>(caller: string, call: { readonly signal: AbortSignal }, work: () => T | Promise<T>): T | Promise<T> {
    if (this.#running.isFull(caller)) return this.run(caller, call.signal, async () => work());
    const startMs = monotonicMs();
    const result = work();
    if (result instanceof Promise) return this.run(caller, call.signal, () => result);
    if (isLong(startMs)) {
      this.#running.charge(caller);
      this.#endLater(caller);
    }
    return result;
  }

  /**
   * After long work the next of this caller waits for a later turn of the event loop, also if it is requested now: requests on
   * many connections may arrive in one turn.
   */
  #endLater(caller: string): void {
    void nextSlice().then(() => this.#end(caller));
  }

  #end(caller: string): void {
    this.#running.release(caller);
    this.#startNext();
  }

  /** Resolves once the work is charged to the caller's share. */
  async #turnOf(caller: string, signal: AbortSignal): Promise<void> {
    await this.#waiting.wait(caller, signal);
    // In a turn of the event loop of its own: work that awaits nothing would otherwise run as one block.
    await nextSlice();
  }

  #startNext(): void {
    const caller = this.#waiting.startNext((each) => !this.#running.isFull(each));
    if (caller !== undefined) this.#running.charge(caller);
  }
}
