// The body of a request that arrives in several chunks, joined in a buffer that grows: a body of many tiny chunks takes no
// more memory than one of few, and a body that is announced but never sent takes none.

const firstBytes = 64 * 1024;

export class BodyBuffer {
  #bytes: Buffer;
  #length = 0;
  readonly #maxBytes: number;

  /** `maxBytes`: the announced length of the body, or its limit. `first`: its first chunk, if there was one. */
  constructor(maxBytes: number, first?: Buffer) {
    this.#maxBytes = maxBytes;
    this.#bytes = Buffer.allocUnsafeSlow(Math.min(firstBytes, maxBytes));
    if (first !== undefined) this.add(first);
  }

  /** The memory it takes. */
  get capacity(): number {
    return this.#bytes.length;
  }

  /** The caller must not add more than `maxBytes`. */
  add(chunk: Buffer): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * this.#bytes.length), this.#maxBytes));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    chunk.copy(this.#bytes, this.#length);
    this.#length = length;
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }
}
