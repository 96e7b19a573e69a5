import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { pictureSequence, pictureWay, sizeWords } from './images.ts';
import { decodePng } from './png.ts';
import { encodeSixel } from './sixel.ts';

test.each([
  [{ TERM: 'xterm-kitty' }, 'kitty'],
  [{ TERM_PROGRAM: 'ghostty' }, 'kitty'],
  [{ TERM_PROGRAM: 'iTerm.app' }, 'iterm2'],
  [{ TERM_PROGRAM: 'WezTerm' }, 'iterm2'],
  [{ TERM: 'foot' }, 'sixel'],
  [{ TERM: 'xterm-kitty', TMUX: '/tmp/x' }, undefined],
  [{ TERM: 'xterm-256color' }, undefined],
  [{ TERM: 'xterm-256color', MOORING_PICTURES: 'sixel' }, 'sixel'],
  [{ TERM: 'xterm-kitty', MOORING_PICTURES: 'none' }, undefined],
])('%j shows pictures by %s', (env, way) => {
  expect(pictureWay(env as Record<string, string>)).toBe(way);
});

test('kitty takes PNG in pieces of 4096, and nothing else', async () => {
  const sequence = (await pictureSequence(Buffer.alloc(4000, 1), 'image/png', 'kitty')) as string;
  const pieces = sequence.split('\u001b\\').slice(0, -1);
  expect(pieces[0]).toMatch(/^\u001b_Gf=100,a=T,m=1;/);
  expect(pieces[1]).toMatch(/^\u001b_Gm=0;/);
  expect(await pictureSequence(Buffer.alloc(4), 'image/jpeg', 'kitty')).toBeUndefined();
});

/** A PNG of these rows, each with its filter before it. */
function png(
  width: number,
  height: number,
  kind: number,
  rows: readonly number[],
  more: [string, number[]][] = [],
): Buffer {
  const chunk = (name: string, body: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    return Buffer.concat([length, Buffer.from(name, 'latin1'), body, Buffer.alloc(4)]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, kind, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    ...more.map(([name, body]) => chunk(name, Buffer.from(body))),
    chunk('IDAT', deflateSync(Buffer.from(rows))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

test.each([
  ['grey', png(2, 1, 0, [0, 10, 200]), [10, 10, 10, 255, 200, 200, 200, 255]],
  ['grey and alpha', png(1, 1, 4, [0, 10, 7]), [10, 10, 10, 7]],
  ['colour', png(1, 1, 2, [0, 1, 2, 3]), [1, 2, 3, 255]],
  ['colour and alpha', png(1, 1, 6, [0, 1, 2, 3, 4]), [1, 2, 3, 4]],
  [
    'a palette',
    png(
      2,
      1,
      3,
      [0, 1, 0],
      [
        ['PLTE', [9, 8, 7, 6, 5, 4]],
        ['tRNS', [0]],
      ],
    ),
    [6, 5, 4, 255, 9, 8, 7, 0],
  ],
  ['the filter "left"', png(2, 1, 0, [1, 10, 5]), [10, 10, 10, 255, 15, 15, 15, 255]],
  ['the filter "up"', png(1, 2, 0, [0, 10, 2, 5]), [10, 10, 10, 255, 15, 15, 15, 255]],
  ['the filter "average"', png(2, 1, 0, [3, 10, 5]), [10, 10, 10, 255, 10, 10, 10, 255]],
  ['the filter "paeth"', png(1, 2, 0, [0, 250, 4, 10]), [250, 250, 250, 255, 4, 4, 4, 255]],
])('a PNG with %s is read', (_what, data, pixels) => {
  expect([...(decodePng(data)?.pixels ?? [])]).toEqual(pixels);
});

test('what is no PNG, damaged, or too large is left to a file', () => {
  const good = png(2, 2, 0, [0, 1, 2, 0, 3, 4]);
  expect(decodePng(Buffer.from('GIF89a'))).toBeUndefined();
  expect(decodePng(png(2, 3, 0, [0, 1, 2]))).toBeUndefined();
  expect(decodePng(png(60_000, 60_000, 6, [0]))).toBeUndefined();
  expect(decodePng(good.subarray(0, good.length - 30))).toBeUndefined();
});

test('sixels carry size, colours and runs, and leave out what is transparent', () => {
  const pixels = new Uint8Array(8 * 6 * 4);
  for (let i = 0; i < 8 * 6; i++) pixels.set(i % 8 < 6 ? [255, 0, 0, 255] : [0, 0, 255, 0], i * 4);
  expect(encodeSixel({ width: 8, height: 6, pixels })).toBe('\u001bP0;1;0q"1;1;8;6#180;2;100;0;0#180!6~??\u001b\\\n');
});

test('sizes are said in words', () => {
  expect([sizeWords(7), sizeWords(12_345), sizeWords(3_200_000)]).toEqual(['7 bytes', '12.3 kB', '3.2 MB']);
});
