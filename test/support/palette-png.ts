// Makes pictures of pages small: a PNG of 8 bits per channel becomes one with a palette of 256 colours.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

interface Picture {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel as one number. */
  readonly pixels: Uint32Array;
}

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The same picture with the 256 colours that occur most. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png);
  const counts = new Map<number, number>();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([colour]) => colour);
  const indexes = new Map(palette.map((colour, index) => [colour, index]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = pixels[y * width + x] as number;
      let index = indexes.get(colour);
      if (index === undefined) {
        index = nearest(palette, colour);
        indexes.set(colour, index);
      }
      rows[y * (width + 1) + 1 + x] = index;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per pixel, with a palette.
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of palette.entries()) {
    const red = (colour >> 16) - (other >> 16);
    const green = ((colour >> 8) & 255) - ((other >> 8) & 255);
    const blue = (colour & 255) - (other & 255);
    const distance = red * red + green * green + blue * blue;
    if (distance < least) [best, least] = [index, distance];
  }
  return best;
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/** Pictures as Chromium makes them: 8 bits, with or without transparency, not interlaced. */
function decode(png: Buffer): Picture {
  const parts: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3];
  const data = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above: Uint8Array = new Uint8Array(stride);
  for (let y = 0; y < height; y++) {
    const start = y * (stride + 1);
    const row = unfilter(data[start] as number, data.subarray(start + 1, start + 1 + stride), above, channels);
    for (let x = 0; x < width; x++) {
      const at = x * channels;
      pixels[y * width + x] = ((row[at] as number) << 16) | ((row[at + 1] as number) << 8) | (row[at + 2] as number);
    }
    above = row;
  }
  return { width, height, pixels };
}

/** The filters of PNG: none, sub, up, average, Paeth. */
function unfilter(filter: number, row: Uint8Array, above: Uint8Array, channels: number): Uint8Array {
  for (let at = 0; at < row.length; at++) {
    const left = at < channels ? 0 : (row[at - channels] as number);
    const up = above[at] as number;
    const corner = at < channels ? 0 : (above[at - channels] as number);
    const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] as number;
    row[at] = (row[at] as number) + predicted;
  }
  return row;
}

function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}
