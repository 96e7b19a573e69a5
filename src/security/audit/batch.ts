// Lines that wait to be written, as bytes in one place: a line leaves nothing behind for the garbage collector to carry
// around until the disk has it.

/** What was collected. */
export interface TakenBatch {
  readonly bytes: Buffer;
  readonly lines: number;
}

const firstBytes = 64 * 1024;
/** A buffer that has grown beyond this in a bad moment is not kept for the good ones. */
const keptBytes = 1024 * 1024;

export class Batch {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #bytes = 0;
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(line: string): void {
    // A character has at most three bytes in UTF-8, so this much is always enough.
    const needed = this.#bytes + line.length * 3 + 1;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#bytes += this.#buffer.write(line, this.#bytes, line.length * 3, 'utf8');
    this.#buffer[this.#bytes++] = 0x0a;
    this.#lines++;
  }

  /** Hands everything over and begins anew. */
  take(): TakenBatch {
    const taken = { bytes: this.#buffer.subarray(0, this.#bytes), lines: this.#lines };
    this.#buffer = Buffer.allocUnsafeSlow(Math.min(this.#buffer.length, keptBytes));
    this.#bytes = 0;
    this.#lines = 0;
    return taken;
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#bytes);
    this.#buffer = larger;
  }
}
