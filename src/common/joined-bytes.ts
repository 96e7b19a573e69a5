// A body that arrives in chunks. Large chunks are kept as they are and joined at the end; small ones are copied together, so
// that a body of many tiny chunks takes little more memory than one of few.

/** Shorter chunks are copied: each takes up to 600 bytes besides its own. */
const minKept = 4 * 1024;
/** A chunk is a part of a larger memory, which it keeps: shorter ones than this share of it are copied, too. */
const minShare = 1 / 4;
/** The memory for small chunks, at first and at most. */
const firstBlock = 1024;
const maxBlock = 64 * 1024;

export class JoinedBytes {
  readonly #parts: Uint8Array[] = [];
  /** What is left of the memory for small chunks, how much of it is used, and the size of the next one. */
  #block = new Uint8Array(0);
  #blockLength = 0;
  #nextBlock = firstBlock;
  /** The memory of which the last large chunk is a part. */
  #memory: ArrayBufferLike | undefined;
  #length = 0;
  #capacity = 0;

  get length(): number {
    return this.#length;
  }

  /** The memory it takes. */
  get capacity(): number {
    return this.#capacity;
  }

  /** The caller must not change the chunk afterwards. */
  add(chunk: Uint8Array): void {
    // The `fetch` of an application may bring anything.
    if (!ArrayBuffer.isView(chunk)) throw new TypeError('a chunk of a body is not a Uint8Array');
    const { length, buffer } = chunk;
    this.#length += length;
    if (length < minKept || length < buffer.byteLength * minShare) this.#copy(chunk);
    else {
      this.#endBlock();
      this.#parts.push(chunk);
      if (buffer !== this.#memory) this.#capacity += buffer.byteLength;
      this.#memory = buffer;
    }
  }

  #copy(chunk: Uint8Array): void {
    const { length } = chunk;
    if (this.#blockLength + length > this.#block.length) {
      this.#endBlock();
      this.#block = new Uint8Array(Math.max(length, this.#nextBlock));
      this.#nextBlock = Math.min(2 * this.#nextBlock, maxBlock);
      this.#capacity += this.#block.length;
    }
    this.#block.set(chunk, this.#blockLength);
    this.#blockLength += length;
  }

  /** All that was added. The result may share its memory with a chunk. */
  join(): Uint8Array {
    this.#endBlock();
    const [first = new Uint8Array(0)] = this.#parts;
    if (this.#parts.length <= 1) return first;
    const joined = new Uint8Array(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  /** Releases the memory. */
  clear(): void {
    this.#parts.length = 0;
    this.#block = new Uint8Array(0);
    this.#nextBlock = firstBlock;
    this.#memory = undefined;
    this.#blockLength = this.#length = this.#capacity = 0;
  }

  #endBlock(): void {
    if (this.#blockLength === 0) return;
    this.#parts.push(this.#block.subarray(0, this.#blockLength));
    this.#block = this.#block.subarray(this.#blockLength);
    this.#blockLength = 0;
  }
}
