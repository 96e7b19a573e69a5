// A text that is sent many times, such as a long list, with its bytes: encoding them is most of the cost of sending.

export class CachedText {
  readonly text: string;
  #bytes: Uint8Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= new TextEncoder().encode(this.text));
  }
}
