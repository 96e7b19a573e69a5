// Watches a growing set of files, some of which may not exist. Folders are watched, because editors replace a file instead of
// writing to it.

import { type FSWatcher, statSync, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Editors and compilers write several times: changes within this time are one. */
const settleMs = 100;
/** How long a file may be empty or missing while it is written; then it counts as changed. */
const maxIncompleteMs = 5_000;
/** How often files are looked at that no event may report: those that do not exist, and those in a folder without a watcher. */
const lookEveryMs = 500;

interface WatchedFolder {
  readonly names: Set<string>;
  /** Undefined if it does not exist, or if the system has no more watchers. */
  watcher: FSWatcher | undefined;
}

export class FileWatcher {
  readonly #onChange: (file: string) => void;
  readonly #folders = new Map<string, WatchedFolder>();
  /** The state in which each file was reported, or added. */
  readonly #seen = new Map<string, string>();
  /** Files with an event since the last report. */
  readonly #pending = new Set<string>();
  #pendingSinceMs = 0;
  #timer: NodeJS.Timeout | undefined;
  readonly #looking = setInterval(() => this.#look(), lookEveryMs).unref();

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  add(file: string): void {
    if (!this.#seen.has(file)) this.#seen.set(file, stateOf(file));
    const path = dirname(file);
    let folder = this.#folders.get(path);
    if (folder === undefined) {
      folder = { names: new Set(), watcher: undefined };
      this.#folders.set(path, folder);
      this.#watch(path, folder);
    }
    folder.names.add(basename(file));
  }

  /** Watches a folder, or watches it again: a folder that was removed and created is another one for its watcher. */
  #watch(path: string, folder: WatchedFolder): void {
    const before = folder.watcher;
    folder.watcher = undefined;
    try {
      folder.watcher = watch(path, (_event, name) => {
        if (name !== null && folder.names.has(name)) this.#changed(join(path, name));
      });
      folder.watcher.on('error', () => {}); // On Windows, that the folder was removed.
    } catch {
      // Its files are looked at.
    }
    before?.close();
  }

  #look(): void {
    for (const [path, { names, watcher }] of this.#folders) {
      for (const file of [...names].map((name) => join(path, name))) {
        const seen = this.#seen.get(file);
        if ((watcher === undefined || seen === incomplete) && stateOf(file) !== seen) this.#changed(file);
      }
    }
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
    for (const path of new Set([...this.#pending].map((file) => dirname(file)))) {
      this.#watch(path, this.#folders.get(path) as WatchedFolder);
    }
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
    clearInterval(this.#looking);
    for (const { watcher } of this.#folders.values()) watcher?.close();
  }
}

/** Between the moment it is truncated, or removed, and the moment it is written. */
const incomplete = '';

function stateOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined || stats.size === 0 ? incomplete : `${stats.ino} ${stats.mtimeMs} ${stats.size}`;
}
