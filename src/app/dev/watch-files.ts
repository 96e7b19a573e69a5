// Watches a growing set of files. Folders are watched, because editors replace a file instead of writing to it.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Editors and compilers write several times: changes within this time are one. */
const settleMs = 100;
/** How long a file may be empty or missing while it is written; then it counts as changed. */
const maxIncompleteMs = 5_000;

export class FileWatcher {
  readonly #onChange: (file: string) => void;
  readonly #files = new Map<string, Set<string>>();
  readonly #watchers: FSWatcher[] = [];
  /** The state in which each file was reported, or added. */
  readonly #seen = new Map<string, string>();
  /** Files with an event since the last report. */
  readonly #pending = new Set<string>();
  #pendingSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  add(file: string): void {
    const folder = dirname(file);
    if (!this.#seen.has(file)) this.#seen.set(file, stateOf(file));
    const names = this.#files.get(folder);
    if (names !== undefined) {
      names.add(basename(file));
      return;
    }
    const added = new Set([basename(file)]);
    this.#files.set(folder, added);
    const watcher = watch(folder, (_event, name) => {
      if (name !== null && added.has(name)) this.#changed(join(folder, name));
    });
    // A folder that was removed; the server keeps running, and a restart watches it again if it is used.
    watcher.on('error', () => this.#files.delete(folder));
    this.#watchers.push(watcher);
  }

  #changed(file: string): void {
    if (this.#pending.size === 0) this.#pendingSinceMs = Date.now();
    // The one that changed last is the one that is reported.
    this.#pending.delete(file);
    this.#pending.add(file);
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#settled(), settleMs);
  }

  #settled(): void {
    const states = [...this.#pending].map((file) => [file, stateOf(file)] as const);
    const isLate = Date.now() - this.#pendingSinceMs > maxIncompleteMs;
    if (!isLate && states.some(([, state]) => state === incomplete)) return this.#wait();
    this.#pending.clear();
    // On a busy machine the events of one write arrive far apart, and the second one is about what was reported already.
    const changed = states.filter(([file, state]) => this.#seen.get(file) !== state);
    for (const [file, state] of changed) this.#seen.set(file, state);
    const last = changed.at(-1);
    if (last !== undefined) this.#onChange(basename(last[0]));
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** Between the moment it is truncated, or removed, and the moment it is written. */
const incomplete = '';

function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined || stats.size === 0 ? incomplete : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
