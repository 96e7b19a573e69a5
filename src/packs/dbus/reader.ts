// Decodes bytes to JSON values. Variants become their value, dictionaries objects, structures lists; byte strings
// become text if they are text. Untrusted input is validated.

import type { Json } from '../../protocol/model.ts';
import { alignmentOf, parseSignature, type Type } from './types.ts';

/** The bytes violate the protocol. */
export class BusFormatError extends Error {
  override readonly name = 'BusFormatError';
}

/** Nested values; a variant may contain a variant, so the signature does not bound the depth. */
const maxDepth = 64;

export class DbusReader {
  readonly #bytes: Buffer;
  readonly #littleEndian: boolean;
  #at: number;

  constructor(bytes: Buffer, littleEndian: boolean, at = 0) {
    this.#bytes = bytes;
    this.#littleEndian = littleEndian;
    this.#at = at;
  }

  get at(): number {
    return this.#at;
  }

  /** Decodes the values of a signature, from the current position. */
  read(signature: string): Json[] {
    return parseTypes(signature).map((type) => this.#value(type, 0));
  }

  align(to: number): void {
    this.#at = Math.ceil(this.#at / to) * to;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) throw new BusFormatError('The message ends in the middle of a value');
    this.#at += length;
    return at;
  }

  #value(type: Type, depth: number): Json {
    if (depth > maxDepth) throw new BusFormatError('A value is nested too deeply');
    this.align(alignmentOf(type));
    const { code, inside } = type;
    switch (code) {
      case 's':
      case 'o':
        return this.#text(this.#uint32());
      case 'g':
        return this.#text(this.#bytes.readUInt8(this.#take(1)));
      case 'v': {
        const types = parseTypes(this.#text(this.#bytes.readUInt8(this.#take(1))));
        if (types.length !== 1) throw new BusFormatError('A variant must contain exactly one value');
        return this.#value(types[0] as Type, depth + 1);
      }
      case 'a':
        return this.#array(inside[0] as Type, depth);
      case '(':
      case '{':
        return inside.map((inner) => this.#value(inner, depth + 1));
      default:
        return this.#number(code);
    }
  }

  #uint32(): number {
    const at = this.#take(4);
    return this.#littleEndian ? this.#bytes.readUInt32LE(at) : this.#bytes.readUInt32BE(at);
  }

  #text(length: number): string {
    const at = this.#take(length + 1);
    return this.#bytes.toString('utf8', at, at + length);
  }

  #array(inner: Type, depth: number): Json {
    const length = this.#uint32();
    this.align(alignmentOf(inner));
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new BusFormatError('An array is longer than its message');
    if (inner.code === 'y') return bytesToJson(this.#bytes.subarray(this.#take(length), end));
    const items: Json[] = [];
    while (this.#at < end) items.push(this.#value(inner, depth + 1));
    if (this.#at !== end) throw new BusFormatError('An array ends in the middle of a value');
    if (inner.code !== '{') return items;
    // fromEntries creates own properties, so a key named __proto__ stays a key.
    return Object.fromEntries((items as [Json, Json][]).map(([key, value]) => [String(key), value]));
  }

  #number(code: string): Json {
    const little = this.#littleEndian;
    const bytes = this.#bytes;
    switch (code) {
      case 'y':
        return bytes.readUInt8(this.#take(1));
      case 'b':
        return this.#uint32() !== 0;
      case 'n':
        return little ? bytes.readInt16LE(this.#take(2)) : bytes.readInt16BE(this.#take(2));
      case 'q':
        return little ? bytes.readUInt16LE(this.#take(2)) : bytes.readUInt16BE(this.#take(2));
      case 'i':
        return little ? bytes.readInt32LE(this.#take(4)) : bytes.readInt32BE(this.#take(4));
      case 'u':
        return this.#uint32();
      case 'x':
        return toJson(little ? bytes.readBigInt64LE(this.#take(8)) : bytes.readBigInt64BE(this.#take(8)));
      case 't':
        return toJson(little ? bytes.readBigUInt64LE(this.#take(8)) : bytes.readBigUInt64BE(this.#take(8)));
      case 'd': {
        const value = little ? bytes.readDoubleLE(this.#take(8)) : bytes.readDoubleBE(this.#take(8));
        return Number.isFinite(value) ? value : String(value);
      }
      default:
        // A file descriptor: its number has no meaning outside the connection.
        this.#uint32();
        return null;
    }
  }
}

function parseTypes(signature: string): readonly Type[] {
  try {
    return parseSignature(signature);
  } catch (cause) {
    throw new BusFormatError((cause as Error).message, { cause });
  }
}

/** A string, if a JSON number cannot represent it exactly. */
function toJson(value: bigint): Json {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Paths and network names are sent as bytes, often with a trailing zero. */
function bytesToJson(bytes: Buffer): Json {
  const body = bytes.at(-1) === 0 ? bytes.subarray(0, -1) : bytes;
  try {
    const text = utf8.decode(body);
    if (!/\p{Cc}/u.test(text.replace(/[\n\t]/g, ''))) return text;
  } catch {
    // Not text: returned as a list of numbers.
  }
  return `base64:${bytes.toString('base64')}`;
}
