// Bytes as text: base64 for content, base64url for headers, URLs and names. Encrypted tasks and binary content have megabytes.
// `Buffer` encodes them 13 times as fast as loops and decodes them 5 times as fast; where there is none, as in browsers, loops are
// 20 times as fast as `btoa` and `atob`, which need texts of one character per byte.

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const codesOf = (alphabet: string): Uint8Array => new TextEncoder().encode(alphabet);
const base64 = codesOf(`${letters}+/`);
const base64Url = codesOf(`${letters}-_`);
const padding = '='.charCodeAt(0);
const none = 255;
/** The value of each character of base64url. */
const values = new Uint8Array(128).fill(none);
for (const [value, code] of base64Url.entries()) values[code] = value;

const decoder = new TextDecoder();

const { Buffer: platform } = globalThis as { readonly Buffer?: BufferConstructor };
/** Undefined in browsers; bundles for them may have one that does not know base64url. */
const buffers = platform?.isEncoding('base64url') === true ? platform : undefined;
/** Decoding shorter texts is as fast with a loop. */
const longText = 16 * 1024;

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array, buffers: BufferConstructor): Buffer =>
  buffers.from(buffer, byteOffset, length);

export function toBase64(bytes: Uint8Array): string {
  if (buffers !== undefined) return bufferOf(bytes, buffers).toString('base64');
  const text = new Uint8Array(Math.ceil(bytes.length / 3) * 4).fill(padding);
  encode(bytes, base64, text);
  return decoder.decode(text);
}

export function toBase64Url(bytes: Uint8Array): string {
  if (buffers !== undefined) return bufferOf(bytes, buffers).toString('base64url');
  const text = new Uint8Array(Math.ceil((bytes.length * 4) / 3));
  encode(bytes, base64Url, text);
  return decoder.decode(text);
}

function encode(bytes: Uint8Array, alphabet: Uint8Array, text: Uint8Array): void {
  let to = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    // Beyond the end there are zeros.
    const bits = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text[to++] = alphabet[bits >> 18] as number;
    text[to++] = alphabet[(bits >> 12) & 63] as number;
    if (at + 1 < bytes.length) text[to++] = alphabet[(bits >> 6) & 63] as number;
    if (at + 2 < bytes.length) text[to++] = alphabet[bits & 63] as number;
  }
}

/** Strict: other alphabets, padding and stray bits are rejected, so a token has exactly one encoding. */
export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (buffers !== undefined && text.length >= longText) {
    const bytes = buffers.from(text, 'base64url');
    // It skips what does not belong there.
    return bytes.toString('base64url') === text
      ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
      : undefined;
  }
  if (text.length % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [bits, count, to] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const value = values[text.charCodeAt(at)] ?? none;
    if (value === none) return undefined;
    bits = (bits << 6) | value;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes[to++] = bits >> count;
  }
  return (bits & ((1 << count) - 1)) === 0 ? bytes : undefined;
}

/** Base64 with its padding, or without it; undefined if it is something else. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  return fromBase64Url(
    text
      .replace(/={1,2}$/, '')
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  );
}
