// A text that is sent again and again, such as a long list. What a text costs is mostly the way to its bytes, which this
// one has gone once.

export class KeptText {
  readonly text: string;
  #bytes: Uint8Array | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get bytes(): Uint8Array {
    return (this.#bytes ??= new TextEncoder().encode(this.text));
  }
}
