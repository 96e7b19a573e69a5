// Pictures on a terminal, where it can show them, and files for everything that can not be printed.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

export type PictureWay = 'kitty' | 'iterm2' | 'sixel';

/** How this terminal shows pictures; undefined when it does not, or does not say. MOORING_PICTURES settles it. */
export function pictureWay(env: Env = process.env): PictureWay | undefined {
  const settled = env['MOORING_PICTURES'];
  if (settled !== undefined && settled !== '') return ways.find((way) => way === settled);
  const [term, program] = [env['TERM'] ?? '', env['TERM_PROGRAM'] ?? ''];
  // Inside a multiplexer the sequences reach the multiplexer and not the terminal.
  if (env['TMUX'] || /^(screen|tmux)/.test(term)) return undefined;
  if (env['KITTY_WINDOW_ID'] || /kitty|ghostty/i.test(`${term} ${program}`)) return 'kitty';
  if (/^(iTerm\.app|WezTerm|mintty)$/.test(program) || env['LC_TERMINAL'] === 'iTerm2') return 'iterm2';
  return /^(foot|mlterm|contour)/.test(term) ? 'sixel' : undefined;
}

const ways: readonly PictureWay[] = ['kitty', 'iterm2', 'sixel'];

/** The sequence that shows a picture; undefined when this way can not show this kind of picture. */
export async function pictureSequence(data: Buffer, mimeType: string, way: PictureWay): Promise<string | undefined> {
  const base64 = data.toString('base64');
  if (way === 'iterm2') return `\u001b]1337;File=inline=1;size=${data.length};preserveAspectRatio=1:${base64}\u0007\n`;
  if (mimeType !== 'image/png') return undefined;
  if (way === 'sixel') {
    const { decodePng } = await import('./png.ts');
    const { encodeSixel } = await import('./sixel.ts');
    const picture = decodePng(data);
    return picture === undefined ? undefined : encodeSixel(picture);
  }
  const chunks = base64.match(/.{1,4096}/g) ?? [];
  return `${chunks
    .map((chunk, i) => {
      const more = i < chunks.length - 1 ? 1 : 0;
      return `\u001b_G${i === 0 ? `f=100,a=T,m=${more}` : `m=${more}`};${chunk}\u001b\\`;
    })
    .join('')}\n`;
}

const extensions: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
  'audio/wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/plain': 'txt',
  'text/html': 'html',
};

/** Keeps what can not be printed: in the folder that was asked for, else in a new temporary one. */
export class Files {
  readonly #asked: string | undefined;
  #folder: string | undefined;
  #count = 0;

  constructor(folder: string | undefined) {
    this.#asked = folder;
  }

  save(data: Buffer, mimeType: string | undefined): string {
    this.#folder ??= this.#asked === undefined ? mkdtempSync(join(tmpdir(), 'mooring-')) : resolve(this.#asked);
    mkdirSync(this.#folder, { recursive: true });
    // The name is ours: one of the server's could lead anywhere.
    const extension = extensions[mimeType?.split(';')[0]?.trim().toLowerCase() ?? ''] ?? 'bin';
    for (;;) {
      const path = join(this.#folder, `${++this.#count}.${extension}`);
      try {
        writeFileSync(path, data, { flag: 'wx', mode: 0o600 });
        return path;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}

/** 12.3 kB. */
export function sizeWords(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
