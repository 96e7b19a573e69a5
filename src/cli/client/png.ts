// PNG to pixels, as far as tools send them: eight bits per channel, not interlaced. Everything else is left to a file.

import { inflateSync } from 'node:zlib';

/** Pixels in rows, four bytes each: red, green, blue, alpha. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** A picture of more pixels is no ornament of a terminal; it also stops files that unpack to gigabytes. */
const maxPixels = 4_000_000;

const channelsOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Undefined for what this does not read. */
export function decodePng(data: Buffer): Picture | undefined {
  if (data.length < 33 || data.toString('latin1', 1, 4) !== 'PNG' || data.toString('latin1', 12, 16) !== 'IHDR') {
    return undefined;
  }
  const [width, height] = [data.readUInt32BE(16), data.readUInt32BE(20)];
  const [depth, kind, interlaced] = [data[24], data[25] as number, data[28]];
  const channels = channelsOf[kind];
  if (channels === undefined || depth !== 8 || interlaced !== 0) return undefined;
  if (width === 0 || height === 0 || width * height > maxPixels) return undefined;
  const { palette, alphas, packed } = chunksOf(data);
  if (kind === 3 && palette === undefined) return undefined;
  const rowBytes = width * channels;
  let raw: Buffer;
  try {
    raw = inflateSync(Buffer.concat(packed), { maxOutputLength: (rowBytes + 1) * height });
  } catch {
    return undefined; // Damaged, or larger than it said.
  }
  if (raw.length < (rowBytes + 1) * height) return undefined;
  const rows = unfilter(raw, rowBytes, height, channels);
  const pixels = new Uint8Array(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    const at = i * channels;
    const first = rows[at] as number;
    const [r, g, b, a] =
      kind === 3
        ? [...rgb(palette as Buffer, first), alphas?.[first] ?? 255]
        : kind === 0 || kind === 4
          ? [first, first, first, kind === 4 ? rows[at + 1] : 255]
          : [first, rows[at + 1], rows[at + 2], kind === 6 ? rows[at + 3] : 255];
    pixels.set([r as number, g as number, b as number, a as number], i * 4);
  }
  return { width, height, pixels };
}

function rgb(palette: Buffer, index: number): [number, number, number] {
  return [palette[index * 3] ?? 0, palette[index * 3 + 1] ?? 0, palette[index * 3 + 2] ?? 0];
}

function chunksOf(data: Buffer): { palette: Buffer | undefined; alphas: Buffer | undefined; packed: Buffer[] } {
  let [palette, alphas]: (Buffer | undefined)[] = [];
  const packed: Buffer[] = [];
  for (let at = 8; at + 12 <= data.length; ) {
    const length = data.readUInt32BE(at);
    const body = data.subarray(at + 8, at + 8 + length);
    const name = data.toString('latin1', at + 4, at + 8);
    if (name === 'PLTE') palette = body;
    else if (name === 'tRNS') alphas = body;
    else if (name === 'IDAT') packed.push(body);
    else if (name === 'IEND') break;
    at += 12 + length;
  }
  return { palette, alphas, packed };
}

/** Each row says how it was made smaller: by what is left of it, above it, or both. */
function unfilter(raw: Buffer, rowBytes: number, height: number, step: number): Uint8Array {
  const out = new Uint8Array(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (rowBytes + 1)];
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      const left = x >= step ? (out[at - step] as number) : 0;
      const up = y > 0 ? (out[at - rowBytes] as number) : 0;
      const corner = x >= step && y > 0 ? (out[at - rowBytes - step] as number) : 0;
      const guess =
        filter === 1
          ? left
          : filter === 2
            ? up
            : filter === 3
              ? (left + up) >> 1
              : filter === 4
                ? paeth(left, up, corner)
                : 0;
      out[at] = (raw[y * (rowBytes + 1) + 1 + x] as number) + guess;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
