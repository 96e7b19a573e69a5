// Pixels as sixels: six rows at a time, colour by colour, out of a palette of 216.

import type { Picture } from './png.ts';

/** Wider pictures are made smaller, since a terminal would cut them off. */
const maxWidth = 640;
const levels = 6;

/** The sequence that draws a picture. What is more than half transparent is left as the background is. */
export function encodeSixel(picture: Picture): string {
  const { width, height, pixels } = shrink(picture);
  const used = new Set<number>();
  const colours = new Int16Array(width * height);
  for (let i = 0; i < width * height; i++) {
    const at = i * 4;
    const colour = (pixels[at + 3] as number) < 128 ? -1 : cube(pixels[at], pixels[at + 1], pixels[at + 2]);
    colours[i] = colour;
    if (colour >= 0) used.add(colour);
  }
  const palette = [...used].map((colour) => `#${colour};2;${percent(colour)}`).join('');
  const bands: string[] = [];
  for (let top = 0; top < height; top += 6) bands.push(band(colours, width, height, top));
  return `\u001bP0;1;0q"1;1;${width};${height}${palette}${bands.join('-')}\u001b\\\n`;
}

function cube(r = 0, g = 0, b = 0): number {
  const level = (value: number): number => Math.round((value / 255) * (levels - 1));
  return level(r) * levels * levels + level(g) * levels + level(b);
}

function percent(colour: number): string {
  const share = (level: number): number => Math.round((level * 100) / (levels - 1));
  return `${share(Math.floor(colour / 36))};${share(Math.floor(colour / 6) % 6)};${share(colour % 6)}`;
}

function band(colours: Int16Array, width: number, height: number, top: number): string {
  const present = new Set<number>();
  const rows = Math.min(6, height - top);
  for (let i = top * width; i < (top + rows) * width; i++)
    if ((colours[i] as number) >= 0) present.add(colours[i] as number);
  return [...present]
    .map((colour) => {
      let line = '';
      let [last, count] = ['', 0];
      const flush = (): void => {
        line += count > 3 ? `!${count}${last}` : last.repeat(count);
      };
      for (let x = 0; x < width; x++) {
        let bits = 0;
        for (let y = 0; y < rows; y++) if (colours[(top + y) * width + x] === colour) bits |= 1 << y;
        const sixel = String.fromCharCode(63 + bits);
        if (sixel === last) count++;
        else {
          flush();
          [last, count] = [sixel, 1];
        }
      }
      flush();
      return `#${colour}${line}`;
    })
    .join('$');
}

function shrink(picture: Picture): Picture {
  if (picture.width <= maxWidth) return picture;
  const width = maxWidth;
  const height = Math.max(1, Math.round((picture.height * maxWidth) / picture.width));
  const pixels = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from =
        (Math.floor((y * picture.height) / height) * picture.width + Math.floor((x * picture.width) / width)) * 4;
      pixels.set(picture.pixels.subarray(from, from + 4), (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}
