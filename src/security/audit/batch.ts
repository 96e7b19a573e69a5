// Lines that wait to be written, as bytes in one buffer. A string per line would live until the next write and cost the
// garbage collector more than the copy.

/** The lines of one write. */
export interface TakenBatch {
  readonly bytes: Buffer;
  readonly lines: number;
}

const initialBytes = 64 * 1024;
/** How much text is collected before it is converted to bytes: one conversion of many lines costs less than one of each. */
const maxTextChars = 16 * 1024;

export class Batch {
  #buffer = Buffer.alloc(0);
  /** How many bytes of the buffer are used. */
  #used = 0;
  /** Text that is not in the buffer yet. */
  #text = '';
  #lines = 0;

  get bytes(): number {
    return this.#used + this.#text.length;
  }

  get lines(): number {
    return this.#lines;
  }

  /** Adds ASCII text, in which every character is one byte. */
  addText(ascii: string): void {
    this.#text += ascii;
    if (this.#text.length >= maxTextChars) this.#convert();
  }

  /** Adds a line without its line break. */
  addLine(ascii: string): void {
    this.addText(`${ascii}\n`);
    this.#lines++;
  }

  /** The bytes from a position on. They are valid until something is added. */
  from(position: number): Buffer {
    this.#convert();
    return this.#buffer.subarray(position, this.#used);
  }

  /** Hands everything over and starts again with an empty buffer. */
  take(): TakenBatch {
    const taken = { bytes: this.from(0), lines: this.#lines };
    this.#buffer = Buffer.alloc(0);
    this.#used = 0;
    this.#lines = 0;
    return taken;
  }

  #convert(): void {
    const needed = this.bytes;
    if (needed > this.#buffer.length) this.#grow(needed);
    this.#used += this.#buffer.write(this.#text, this.#used, 'latin1');
    this.#text = '';
  }

  #grow(needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2, initialBytes));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }
}
