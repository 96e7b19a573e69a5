// Lines that wait to be written, as bytes in one place: they are spelled where they will be taken from, and leave nothing
// behind for the garbage collector. Two buffers take turns, so that writing needs no memory of its own.

import { backslash, quote, zero } from './codes.ts';

/** What was collected. */
export interface TakenBatch {
  readonly bytes: Buffer;
  readonly lines: number;
}

const firstBytes = 64 * 1024;
/** A buffer that has grown beyond this in a bad moment is not kept for the good ones. */
const keptBytes = 1024 * 1024;
/** Up to here a loop is quicker than a call that copies. */
const shortPiece = 8;
const shortText = 32;

/** What JSON does not spell as itself, and all that is not ASCII. */
const spelledOtherwise = /[^ !#-[\]-~]/;

/** Text of ASCII alone, as bytes. */
export const bytesOf = (ascii: string): Uint8Array => Uint8Array.from(Buffer.from(ascii, 'latin1'));

export class Batch {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  /** Handed over at the moment, or free. */
  #other = Buffer.allocUnsafeSlow(0);
  #end = 0;
  #lines = 0;

  get lines(): number {
    return this.#lines;
  }

  /** How many bytes there are: where the next one goes. */
  get end(): number {
    return this.#end;
  }

  byte(code: number): void {
    if (this.#end >= this.#buffer.length) this.#grow(1);
    this.#buffer[this.#end++] = code;
  }

  /** Writes over a byte that is there. */
  replace(at: number, code: number): void {
    this.#buffer[at] = code;
  }

  bytes(piece: Uint8Array): void {
    const { length } = piece;
    if (this.#end + length > this.#buffer.length) this.#grow(length);
    const end = this.#end;
    const buffer = this.#buffer;
    if (length > shortPiece) buffer.set(piece, end);
    else for (let index = 0; index < length; index++) buffer[end + index] = piece[index] as number;
    this.#end = end + length;
  }

  /** Text that has nothing beyond ASCII, of which every character is one byte. */
  ascii(text: string): void {
    const { length } = text;
    if (this.#end + length > this.#buffer.length) this.#grow(length);
    const end = this.#end;
    const buffer = this.#buffer;
    if (length > shortText) buffer.write(text, end, 'latin1');
    else for (let index = 0; index < length; index++) buffer[end + index] = text.charCodeAt(index);
    this.#end = end + length;
  }

  /** Text as JSON has it, where that is the text itself in quotes; otherwise nothing, and false. */
  quoted(text: string): boolean {
    const { length } = text;
    if (length > shortText) return this.#longQuoted(text);
    if (this.#end + length + 2 > this.#buffer.length) this.#grow(length + 2);
    const buffer = this.#buffer;
    let at = this.#end;
    buffer[at++] = quote;
    for (let index = 0; index < length; index++) {
      const code = text.charCodeAt(index);
      if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return false;
      buffer[at++] = code;
    }
    buffer[at++] = quote;
    this.#end = at;
    return true;
  }

  #longQuoted(text: string): boolean {
    if (spelledOtherwise.test(text)) return false;
    this.byte(quote);
    this.ascii(text);
    this.byte(quote);
    return true;
  }

  /** A whole number from 0 on. */
  digits(number: number): void {
    if (number > maxShortNumber) return this.ascii(`${number}`);
    let rest = number | 0;
    const count = countDigits(rest);
    if (this.#end + count > this.#buffer.length) this.#grow(count);
    const buffer = this.#buffer;
    for (let at = this.#end + count - 1; at >= this.#end; at--) {
      const tenth = (rest / 10) | 0;
      buffer[at] = zero + rest - tenth * 10;
      rest = tenth;
    }
    this.#end += count;
  }

  /** A line is complete. */
  endLine(): void {
    this.#lines++;
  }

  /** Takes back what was written from a place on. */
  cut(end: number): void {
    this.#end = end;
  }

  /** What was written from a place on; it stays there until the next call of anything. */
  from(begin: number): Buffer {
    return this.#buffer.subarray(begin, this.#end);
  }

  /** Hands everything over and begins anew. It is good until the next time: take no more before it is done with. */
  take(): TakenBatch {
    const full = this.#buffer;
    const taken = { bytes: full.subarray(0, this.#end), lines: this.#lines };
    this.#buffer = this.#other.length === 0 ? Buffer.allocUnsafeSlow(firstBytes) : this.#other;
    this.#other = full.length > keptBytes ? Buffer.allocUnsafeSlow(0) : full;
    this.#end = 0;
    this.#lines = 0;
    return taken;
  }

  #grow(more: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#end + more, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#end);
    this.#buffer = larger;
  }
}

const maxShortNumber = 999_999_999;

function countDigits(number: number): number {
  if (number < 1000) return number < 10 ? 1 : number < 100 ? 2 : 3;
  if (number < 1_000_000) return number < 10_000 ? 4 : number < 100_000 ? 5 : 6;
  return number < 10_000_000 ? 7 : number < 100_000_000 ? 8 : 9;
}
