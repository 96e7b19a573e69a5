// Cancelling a call without an `AbortController`: one of those for each call took a seventh of the time of a relayed call
// (bench gateway, "stdio to stdio").

/** What tells those who wait for a call that it was cancelled. Every `AbortSignal` is one. */
export interface CancelSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** A cancel signal, and the way to fire it. It fires once. */
export class Cancellation implements CancelSignal {
  aborted = false;
  reason: unknown = undefined;
  /** Most calls have one listener. */
  #first: (() => void) | undefined;
  #others: Set<() => void> | undefined;

  addEventListener(_type: 'abort', listener: () => void): void {
    if (this.aborted) return;
    if (this.#first === undefined) this.#first = listener;
    else if (this.#first !== listener) (this.#others ??= new Set()).add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    if (this.#first === listener) this.#first = undefined;
    else this.#others?.delete(listener);
  }

  /** Calls the listeners. Does nothing the second time. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    const listeners = [this.#first, ...(this.#others ?? [])];
    this.#first = undefined;
    this.#others = undefined;
    for (const listener of listeners) listener?.();
  }
}
