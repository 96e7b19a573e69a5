// Collects the answers of a batch in the order of its requests and sends them as one array when all are in.

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

  /** The way back of one element. An element without an answer leaves no entry. */
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
    const answers = this.#texts.filter((text) => text !== undefined);
    this.#outlet.end(answers.length === 0 ? undefined : `[${answers.join(',')}]`);
  }
}
