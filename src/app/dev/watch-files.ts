// Watches a growing set of files. Folders are watched, because editors replace a file instead of writing to it.

import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** Editors and compilers write several times: changes within this time are one. */
const settleMs = 100;

export class FileWatcher {
  readonly #onChange: (file: string) => void;
  readonly #files = new Map<string, Set<string>>();
  readonly #watchers: FSWatcher[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  add(file: string): void {
    const folder = dirname(file);
    const names = this.#files.get(folder);
    if (names !== undefined) {
      names.add(basename(file));
      return;
    }
    const added = new Set([basename(file)]);
    this.#files.set(folder, added);
    const watcher = watch(folder, (_event, name) => {
      if (name !== null && added.has(name)) this.#changed(name);
    });
    // A folder that was removed; the server keeps running, and a restart watches it again if it is used.
    watcher.on('error', () => this.#files.delete(folder));
    this.#watchers.push(watcher);
  }

  #changed(name: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onChange(name), settleMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }
}
