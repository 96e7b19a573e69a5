// Open requests of a connection that carries many: a WebSocket, or HTTP+SSE. Requests that are answered in the same turn of
// the event loop are never counted.

import type { CallerBudget } from '../../protocol/callers/caller-budget.ts';

export class OpenCalls {
  readonly #budget: CallerBudget;
  readonly #caller: string;
  #open = 0;
  #charged = 0;

  constructor(budget: CallerBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /** A message is about to be passed to the channel. */
  begin(): void {
    this.#open++;
  }

  /** It was passed to the channel, or lost; if it has not been answered by now, it counts. */
  settle(wasReceived: boolean): void {
    if (!wasReceived) this.ended();
    if (this.#open <= this.#charged) return;
    this.#budget.charge(this.#caller, this.#open - this.#charged);
    this.#charged = this.#open;
  }

  /** A message was answered, or needed no response. */
  ended(): void {
    if (this.#open > 0) this.#open--;
    if (this.#open < this.#charged) this.#release(1);
  }

  /** The connection has ended. */
  close(): void {
    this.#release(this.#charged);
    this.#open = 0;
  }

  #release(count: number): void {
    if (count === 0) return;
    this.#charged -= count;
    this.#budget.release(this.#caller, count);
  }
}
