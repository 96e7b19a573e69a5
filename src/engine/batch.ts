// Collects the responses of a batch in the order of its requests and sends them as one array when all are there.

import type { Outlet } from '../protocol/exchange.ts';

export class BatchOutlet {
  readonly #outlet: Outlet;
  readonly #texts: (string | undefined)[];
  #open: number;

  constructor(outlet: Outlet, size: number) {
    this.#outlet = outlet;
    this.#texts = new Array(size);
    this.#open = size;
  }

  /** The outlet of one message of the batch. A message without a response leaves no entry. */
  slot(index: number): Outlet {
    const outlet = this.#outlet;
    return {
      push: (text) => outlet.push(text),
      end: (text) => {
        this.#texts[index] = text;
        if (--this.#open === 0) this.#finish();
      },
      closeEarly: (retryMs) => outlet.closeEarly?.(retryMs) ?? false,
      get duplex() {
        return outlet.duplex;
      },
    };
  }

  #finish(): void {
    const responses = this.#texts.filter((text) => text !== undefined);
    this.#outlet.end(responses.length === 0 ? undefined : `[${responses.join(',')}]`);
  }
}
