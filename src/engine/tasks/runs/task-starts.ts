// When the handlers of tasks start: if the tool has a free slot, one per turn of the event loop, and none of a caller while much
// of its outcomes is being stored. Stops a caller whose tasks have long results from filling the memory with them, and from
// blocking all others.

import { nextSlice } from '../../../common/slices.ts';
import { CallerBudget, callerKey } from '../../../protocol/callers/caller-budget.ts';
import { WaitingCallers } from '../../../protocol/callers/waiting-callers.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import type { ToolEntry } from '../../catalog/catalog-entry.ts';
import { runInSlot, ToolSlots } from './tool-slots.ts';

/** Characters of outcomes that are being stored, beyond which no further handler starts: of all callers, and of one. */
const maxStoring = 32 * 1024 * 1024;
const maxStoringPerCaller = 8 * 1024 * 1024;

export class TaskStarts {
  readonly #slots = new ToolSlots();
  readonly #storing = new CallerBudget(maxStoring, maxStoringPerCaller);
  readonly #waiting = new WaitingCallers();
  #isScheduled = false;

  /** Runs a handler when it may start. Rejects with the reason of the signal if it aborts first. */
  async run<T>(entry: ToolEntry, peer: Peer, signal: AbortSignal, handler: () => T | Promise<T>): Promise<T> {
    const runInTurn = async (): Promise<T> => {
      await this.#turnOf(callerKey(peer), signal);
      return handler();
    };
    const max = entry.task?.concurrency ?? Number.POSITIVE_INFINITY;
    if (max === Number.POSITIVE_INFINITY) return runInTurn();
    return runInSlot(await this.#slots.take(entry.key, max), signal, runInTurn);
  }

  /** Undefined: now. */
  #turnOf(caller: string, signal: AbortSignal): Promise<void> | undefined {
    if (!this.#isScheduled && !this.#storing.isFull(caller)) {
      this.#schedule();
      return undefined;
    }
    return this.#waiting.wait(caller, signal);
  }

  /** Stores an outcome of that length, in characters. */
  async store<T>(peer: Peer, length: number, write: () => Promise<T>): Promise<T> {
    const caller = callerKey(peer);
    this.#storing.charge(caller, length);
    try {
      return await write();
    } finally {
      this.#storing.release(caller, length);
      if (this.#waiting.size > 0) this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    void nextSlice().then(() => {
      this.#isScheduled = false;
      this.#startNext();
    });
  }

  #startNext(): void {
    const caller = this.#waiting.startNext((each) => !this.#storing.isFull(each));
    if (caller !== undefined) this.#schedule();
  }
}
