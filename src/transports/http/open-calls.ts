// Requests that wait for an answer on a connection that carries many: a WebSocket, or HTTP+SSE. Those that are answered at
// once are never counted.

import type { CallerBudget } from '../../protocol/caller-budget.ts';

export class OpenCalls {
  readonly #budget: CallerBudget;
  readonly #caller: string;
  #open = 0;
  #charged = 0;

  constructor(budget: CallerBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  /** A message is about to be handed over. */
  begin(): void {
    this.#open++;
  }

  /** It was handed over, or lost; if it has not been answered by now, it counts. */
  settle(wasReceived: boolean): void {
    if (!wasReceived) this.ended();
    if (this.#open <= this.#charged) return;
    this.#budget.charge(this.#caller, this.#open - this.#charged);
    this.#charged = this.#open;
  }

  /** A message was answered, or needed no answer. */
  ended(): void {
    if (this.#open > 0) this.#open--;
    if (this.#open < this.#charged) this.#release(1);
  }

  /** The connection is over. */
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
