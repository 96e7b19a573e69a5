// Collects the responses of a batch in the order of its requests and sends them as one array when all are there.

import type { Outlet } from '../../protocol/exchange.ts';

export class BatchOutlet {
  readonly #outlet: Outlet;
  readonly #texts: (string | undefined)[];
  #open: number;
  readonly #maxLength: number;
  /** Characters of the responses so far. */
  #length = 0;

  constructor(outlet: Outlet, size: number, maxLength: number) {
    this.#outlet = outlet;
    this.#texts = new Array(size);
    this.#open = size;
    this.#maxLength = maxLength;
  }

  /**
   * The outlet of one message of the batch. A message without a response leaves no entry. `tooLarge`: makes the text that is
   * sent in place of a response that exceeds the limit; the first response is sent whatever its length.
   */
  slot(index: number, tooLarge: () => string): Outlet {
    const outlet = this.#outlet;
    return {
      push: (text) => outlet.push(text),
      end: (text) => {
        this.#texts[index] = this.#admit(text, tooLarge);
        if (--this.#open === 0) this.#finish();
      },
      closeEarly: (retryMs) => outlet.closeEarly?.(retryMs) ?? false,
      get duplex() {
        return outlet.duplex;
      },
    };
  }

  #admit(text: string | undefined, tooLarge: () => string): string | undefined {
    if (text === undefined) return undefined;
    if (this.#length > 0 && this.#length + text.length > this.#maxLength) return tooLarge();
    this.#length += text.length;
    return text;
  }

  #finish(): void {
    const responses = this.#texts.filter((text) => text !== undefined);
    this.#outlet.end(responses.length === 0 ? undefined : `[${responses.join(',')}]`);
  }
}
