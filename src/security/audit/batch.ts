// Lines that wait to be written, as bytes in one buffer. A string per line would live until the next write and cost the
// garbage collector more than the copy.

/** The lines of one write. */
export interface TakenBatch {
  readonly bytes: Buffer;
  readonly lines: number;
}

const initialBytes = 64 * 1024;

export class Batch {
  #buffer = Buffer.alloc(0);
  #bytes = 0;
  #lines = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Adds ASCII text, in which every character is one byte. */
  addText(ascii: string): void {
    const needed = this.#bytes + ascii.length;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#bytes += this.#buffer.write(ascii, this.#bytes, 'latin1');
  }

  /** Adds a line without its line break. */
  addLine(ascii: string): void {
    this.addText(`${ascii}\n`);
    this.#lines++;
  }

  /** The bytes from a position on. They are valid until something is added. */
  from(position: number): Buffer {
    return this.#buffer.subarray(position, this.#bytes);
  }

  /** Hands everything over and starts again with an empty buffer. */
  take(): TakenBatch {
    const taken = { bytes: this.from(0), lines: this.#lines };
    this.#buffer = Buffer.alloc(0);
    this.#bytes = 0;
    this.#lines = 0;
    return taken;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2, initialBytes));
    this.#buffer.copy(larger, 0, 0, this.#bytes);
    this.#buffer = larger;
  }
}
