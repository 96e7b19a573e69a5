// Encodes values to bytes in the D-Bus format: each value aligned to its size, little-endian.

import { alignmentOf, parseSignature, type Type } from './types.ts';

/** A value with its own type, for the signature `v`. */
export interface Variant {
  readonly signature: string;
  readonly value: unknown;
}

export class DbusWriter {
  #bytes = Buffer.alloc(256);
  #length = 0;

  /** The bytes written so far. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Encodes values by a signature. 64-bit integers are bigints; dictionaries are Maps or plain objects. */
  write(signature: string, values: readonly unknown[]): this {
    const types = parseSignature(signature);
    if (types.length !== values.length) throw new RangeError(`Signature ${signature} needs ${types.length} values`);
    for (const [at, type] of types.entries()) this.#value(type, values[at]);
    return this;
  }

  align(to: number): void {
    this.#reserve(to);
    while (this.#length % to !== 0) this.#bytes[this.#length++] = 0;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  #value(type: Type, value: unknown): void {
    this.align(alignmentOf(type));
    this.#reserve(8);
    const { code } = type;
    if (code === 's' || code === 'o' || code === 'g') return this.#text(code, value as string);
    if (code === 'a') return this.#array(type.inside[0] as Type, value);
    if (code === 'v') return this.#variant(value as Variant);
    if (code === '(' || code === '{') {
      for (const [at, inner] of type.inside.entries()) this.#value(inner, (value as readonly unknown[])[at]);
      return;
    }
    this.#length = numberWriters[code]!(this.#bytes, value, this.#length);
  }

  #text(code: string, value: string): void {
    const text = Buffer.from(value);
    this.#reserve(text.length + 5);
    this.#length =
      code === 'g'
        ? this.#bytes.writeUInt8(text.length, this.#length)
        : this.#bytes.writeUInt32LE(text.length, this.#length);
    text.copy(this.#bytes, this.#length);
    this.#length += text.length;
    this.#bytes[this.#length++] = 0;
  }

  #variant({ signature, value }: Variant): void {
    this.#text('g', signature);
    this.write(signature, [value]);
  }

  #array(inner: Type, value: unknown): void {
    const lengthAt = this.#length;
    this.#length = this.#bytes.writeUInt32LE(0, this.#length);
    this.align(alignmentOf(inner));
    const start = this.#length;
    for (const item of itemsOf(inner, value)) this.#value(inner, item);
    this.#bytes.writeUInt32LE(this.#length - start, lengthAt);
  }
}

function itemsOf(inner: Type, value: unknown): Iterable<unknown> {
  if (inner.code === '{' && !(value instanceof Map)) return Object.entries(value as object);
  return value as Iterable<unknown>;
}

const numberWriters: Readonly<Record<string, (bytes: Buffer, value: unknown, at: number) => number>> = {
  y: (bytes, value, at) => bytes.writeUInt8(value as number, at),
  b: (bytes, value, at) => bytes.writeUInt32LE(value === true ? 1 : 0, at),
  n: (bytes, value, at) => bytes.writeInt16LE(value as number, at),
  q: (bytes, value, at) => bytes.writeUInt16LE(value as number, at),
  i: (bytes, value, at) => bytes.writeInt32LE(value as number, at),
  u: (bytes, value, at) => bytes.writeUInt32LE(value as number, at),
  h: (bytes, value, at) => bytes.writeUInt32LE(value as number, at),
  x: (bytes, value, at) => bytes.writeBigInt64LE(BigInt(value as bigint), at),
  t: (bytes, value, at) => bytes.writeBigUInt64LE(BigInt(value as bigint), at),
  d: (bytes, value, at) => bytes.writeDoubleLE(value as number, at),
};
