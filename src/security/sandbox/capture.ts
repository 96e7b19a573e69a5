// Bounded buffers for the output of a program: its start for a command, its end for a worker's errors. Bytes are copied
// into one block, because a list of pieces would cost a hundred times as much for a program that writes single bytes.

const firstBlock = 8 * 1024;

/** Keeps the first bytes and reports when there were more. */
export class HeadBuffer {
  readonly #limit: number;
  #block: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #overflowed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The program printed more than fits. */
  get overflowed(): boolean {
    return this.#overflowed;
  }

  push(chunk: Buffer): void {
    const kept = Math.min(chunk.length, this.#limit - this.#bytes);
    if (kept < chunk.length) this.#overflowed = true;
    if (kept <= 0) return;
    this.#reserve(this.#bytes + kept);
    chunk.copy(this.#block, this.#bytes, 0, kept);
    this.#bytes += kept;
  }

  bytes(): Buffer {
    return this.#block.subarray(0, this.#bytes);
  }

  #reserve(needed: number): void {
    if (needed <= this.#block.length) return;
    const block = Buffer.alloc(Math.min(this.#limit, Math.max(needed, this.#block.length * 2, firstBlock)));
    this.#block.copy(block, 0, 0, this.#bytes);
    this.#block = block;
  }
}

/** Keeps the last bytes. */
export class TailBuffer {
  readonly #limit: number;
  readonly #block: Buffer;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
    this.#block = Buffer.alloc(limit * 2);
  }

  push(chunk: Buffer): void {
    const piece = chunk.length > this.#limit ? chunk.subarray(chunk.length - this.#limit) : chunk;
    // Half of the block is spare, so the bytes move only once per `limit` bytes printed.
    if (this.#bytes + piece.length > this.#block.length) {
      this.#block.copy(this.#block, 0, this.#bytes - this.#limit, this.#bytes);
      this.#bytes = this.#limit;
    }
    piece.copy(this.#block, this.#bytes);
    this.#bytes += piece.length;
  }

  bytes(): Buffer {
    return Buffer.from(this.#block.subarray(Math.max(0, this.#bytes - this.#limit), this.#bytes));
  }
}
