// Watches folders for changes: one system watch per folder, a limited number of them; changes at about the same time
// are reported together. Reports which file changed and when the set of files did; files.ts acts on it.

import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { monotonicMs } from '../../common/clock.ts';
import type { Logger } from '../../common/logger.ts';
import { nextSlice, sliceMs } from '../../common/slices.ts';
import { FileError, type FileTree } from '../../security/files/tree.ts';

export interface WatchListener {
  /** A file was changed, added or removed. */
  fileChanged(path: string): void;
  /** Files were added or removed. */
  listChanged(): void;
}

export interface FolderWatchOptions {
  /** Maximum number of watched folders; the system has its own limit, shared by all programs of a user. */
  readonly maxFolders?: number;
  /** Changes within this time are reported together. */
  readonly gatherMs?: number;
  /** Maximum number of changed paths that wait to be reported; stops a program that keeps writing files from filling the memory. */
  readonly maxPending?: number;
  readonly logger: Logger;
}

type EntryKind = 'file' | 'directory';

interface Watched {
  readonly watcher: FSWatcher;
  /** The entries at the last look. */
  readonly names: Map<string, EntryKind>;
  /** Outside all roots: it is watched because of one file. */
  readonly forOneFile: boolean;
  /** Settles when `names` is complete; until then it is not known whether a name is new. */
  complete: Promise<unknown> | undefined;
}

export class FolderWatch {
  readonly #tree: FileTree;
  readonly #listener: WatchListener;
  readonly #maxFolders: number;
  readonly #gatherMs: number;
  readonly #maxPending: number;
  readonly #logger: Logger;
  readonly #folders = new Map<string, Watched>();
  /** Files that are roots themselves: other files in their folders are ignored. */
  readonly #single: ReadonlySet<string>;
  /** Changed paths, and whether it is known what was there before. */
  #pending = new Map<string, boolean>();
  /** More paths changed than fit in `#pending`: some are not known. */
  #lost = false;
  /** Set from the first change until all changes since then are reported. */
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #full = false;

  constructor(tree: FileTree, listener: WatchListener, options: FolderWatchOptions) {
    this.#tree = tree;
    this.#listener = listener;
    this.#maxFolders = options.maxFolders ?? 512;
    this.#gatherMs = options.gatherMs ?? 50;
    this.#maxPending = options.maxPending ?? 100_000;
    this.#logger = options.logger;
    this.#single = new Set(tree.roots.flatMap(({ kind, path }) => (kind === 'file' ? [path] : [])));
  }

  /** Every folder below the roots is watched, so a listing is valid until `listChanged`. */
  get complete(): boolean {
    return !this.#full;
  }

  /** Starts to watch all folders below the roots, breadth first. */
  async start(): Promise<void> {
    for (const { kind, path } of this.#tree.roots) {
      if (kind === 'file') this.#add(dirname(path), basename(path));
      else await this.#addDeep(path);
    }
  }

  /** Watches the folder of one file now, also beyond the limit, because a client subscribed to it. */
  async follow(target: string): Promise<void> {
    let path: string;
    try {
      ({ path } = this.#tree.resolve(target));
    } catch {
      return; // Not in the tree: there is nothing to report.
    }
    const folder = dirname(path);
    const known = this.#folders.get(folder);
    if (known !== undefined || this.#closed) await known?.complete;
    else if (this.#single.has(path)) this.#add(folder, basename(path), true);
    else await this.#watchFolder(folder, true);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const { watcher } of this.#folders.values()) watcher.close();
    this.#folders.clear();
  }

  async #addDeep(root: string): Promise<void> {
    const queue = [root];
    for (let folder = queue.shift(); folder !== undefined && !this.#closed; folder = queue.shift()) {
      if (this.#folders.size >= this.#maxFolders) return this.#overflow();
      queue.push(...(await this.#watchFolder(folder, false)));
    }
  }

  /** Watches one folder and returns the folders in it. The watch comes first, so that no change is missed. */
  async #watchFolder(folder: string, urgent: boolean): Promise<string[]> {
    try {
      await this.#tree.stat(folder);
      const watched = this.#add(folder, undefined, urgent);
      if (watched === undefined && urgent) return []; // Not watched: its entries do not matter.
      const listing = this.#tree.list(folder);
      if (watched !== undefined) watched.complete = listing.catch(() => {}); // Handled below.
      const { entries } = await listing;
      for (const { name, kind } of entries) watched?.names.set(name, kind);
      if (watched !== undefined) watched.complete = undefined;
      return entries.flatMap(({ kind, name }) => (kind === 'directory' ? [join(folder, name)] : []));
    } catch (error) {
      if (error instanceof FileError) return []; // Removed meanwhile, or not readable.
      throw error;
    }
  }

  /** `file`: the one file in the folder that is known to be there. */
  #add(folder: string, file: string | undefined, urgent = false): Watched | undefined {
    const known = this.#folders.get(folder);
    if (known !== undefined || this.#closed) return known;
    // Subscriptions may exceed the limit, but not without bound.
    if (this.#folders.size >= this.#maxFolders * (urgent ? 2 : 1)) {
      this.#overflow();
      return undefined;
    }
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => this.#note(folder, name));
      watcher.on('error', () => this.#drop(folder));
      const names = new Map<string, EntryKind>(file === undefined ? [] : [[file, 'file']]);
      const watched: Watched = { watcher, names, forOneFile: this.#isOutside(folder), complete: undefined };
      this.#folders.set(folder, watched);
      return watched;
    } catch (error) {
      this.#overflow(error);
      return undefined;
    }
  }

  #overflow(error?: unknown): void {
    if (this.#full) return;
    this.#full = true;
    this.#logger.warn('not every folder is watched; changes in the others are not reported', {
      watched: this.#folders.size,
      ...(error === undefined ? {} : { error }),
    });
  }

  #drop(folder: string): void {
    for (const [path, { watcher }] of this.#folders) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue;
      watcher.close();
      this.#folders.delete(path);
    }
  }

  #note(folder: string, name: string | null): void {
    const watched = this.#folders.get(folder);
    if (name === null || watched === undefined || this.#closed) return;
    const path = join(folder, name);
    if (watched.forOneFile && !this.#single.has(path)) return;
    if (this.#pending.size < this.#maxPending || this.#pending.has(path)) {
      this.#pending.set(path, watched.complete === undefined);
    } else this.#lost = true;
    this.#timer ??= this.#gather();
  }

  #isOutside(folder: string): boolean {
    try {
      this.#tree.resolve(folder);
      return false;
    } catch {
      return true;
    }
  }

  #gather(): NodeJS.Timeout {
    const report = async (): Promise<void> => {
      try {
        await this.#notify();
      } catch (error) {
        this.#logger.error('changes of files could not be reported', { error });
      }
      this.#timer = this.#pending.size > 0 && !this.#closed ? this.#gather() : undefined;
    };
    return setTimeout(() => void report(), this.#gatherMs).unref();
  }

  /** Checks the changed paths, in slices: checking one is fast, checking all of them may not be. */
  async #notify(): Promise<void> {
    const paths = this.#pending;
    this.#pending = new Map();
    let listed = this.#lost;
    if (this.#lost)
      this.#logger.warn('too many files changed at once; not all changes are reported', { reported: paths.size });
    this.#lost = false;
    let until = monotonicMs() + sliceMs;
    for (const [path, sure] of paths) {
      if (this.#closed) return;
      await this.#folders.get(dirname(path))?.complete;
      // A needless notification is better than an outdated list.
      listed = (await this.#look(path)) || !sure || listed;
      if (monotonicMs() < until) continue;
      await nextSlice();
      until = monotonicMs() + sliceMs;
    }
    if (listed && !this.#closed) this.#listener.listChanged();
  }

  /** Checks one path; true if the set of files changed. */
  async #look(path: string): Promise<boolean> {
    const names = this.#folders.get(dirname(path))?.names;
    const name = basename(path);
    const before = names?.get(name);
    const kind = await this.#kindOf(path);
    if (kind === undefined) {
      names?.delete(name);
      if (before !== 'file') this.#drop(path);
      if (before !== undefined) this.#listener.fileChanged(path);
      return before !== undefined;
    }
    names?.set(name, kind);
    if (kind === 'file') {
      this.#listener.fileChanged(path);
      return before === undefined;
    }
    // A folder with a known name may be a new one, whose old watch no longer works.
    if (before !== undefined && this.#folders.has(path)) this.#drop(path);
    await this.#addDeep(path);
    return true;
  }

  async #kindOf(path: string): Promise<EntryKind | undefined> {
    try {
      return (await this.#tree.stat(path)).kind;
    } catch (error) {
      if (error instanceof FileError) return undefined;
      throw error;
    }
  }
}
