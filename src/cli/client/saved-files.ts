// Images, audio and other binary content of a result: saved to files, since a terminal cannot print them.

import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

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

/** Saves to the folder that `--save` names, otherwise to a new temporary folder. */
export class SavedFiles {
  readonly #given: string | undefined;
  #folder: string | undefined;
  #count = 0;

  constructor(folder: string | undefined) {
    this.#given = folder;
  }

  save(data: Buffer, mimeType: string | undefined): string {
    this.#folder ??= this.#given === undefined ? mkdtempSync(join(tmpdir(), 'mooring-')) : resolve(this.#given);
    mkdirSync(this.#folder, { recursive: true });
    // We choose the name: one from the server could point outside the folder.
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

/** A readable size: `12.3 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
