// Lines that wait to be written, as bytes in one place: a line leaves nothing behind for the garbage collector to carry
// around until the disk has it. Two buffers take turns, so that writing needs no memory of its own.

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
  /** Handed over at the moment, or free. */
  #other = Buffer.allocUnsafeSlow(0);
  #bytes = 0;
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Adds lines that have their line breaks and nothing beyond ASCII, of which every character is one byte. Answers the
   * bytes, which stay there until the next call of anything.
   */
  add(text: string, lines: number): Buffer {
    const from = this.#bytes;
    const end = from + text.length;
    if (end > this.#buffer.length) this.#grow(end);
    this.#bytes = from + this.#buffer.write(text, from, 'latin1');
    this.#lines += lines;
    return this.#buffer.subarray(from, this.#bytes);
  }

  /** Hands everything over and begins anew. It is good until the next time: take no more before it is done with. */
  take(): TakenBatch {
    const full = this.#buffer;
    const taken = { bytes: full.subarray(0, this.#bytes), lines: this.#lines };
    this.#buffer = this.#other.length === 0 ? Buffer.allocUnsafeSlow(firstBytes) : this.#other;
    this.#other = full.length > keptBytes ? Buffer.allocUnsafeSlow(0) : full;
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
