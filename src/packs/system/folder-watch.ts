// Watches folders for changes: one system watch per folder, a bounded number of them, what happens together told
// together. Says which file changed and when the set of files did; what to do about it is files.ts.

import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { monotonicMs } from '../../protocol/clock.ts';
import type { Logger } from '../../protocol/logger.ts';
import { nextSlice, sliceMs } from '../../protocol/slices.ts';
import { FileError, type FileTree } from '../../security/files/tree.ts';

export interface WatchListener {
  /** A file has new content, has come or has gone. */
  fileChanged(path: string): void;
  /** Files came or went. */
  listChanged(): void;
}

export interface FolderWatchOptions {
  /** Folders watched at most; the system has a limit of its own, shared by all programs of a user. */
  readonly maxFolders?: number;
  /** Changes within this time are told together. */
  readonly gatherMs?: number;
  /** Changed paths that wait to be told; stops a program that writes without end from filling the memory. */
  readonly maxPending?: number;
  readonly logger: Logger;
}

type EntryKind = 'file' | 'directory';

interface Watched {
  readonly watcher: FSWatcher;
  /** What was there when last looked. */
  readonly names: Map<string, EntryKind>;
  /** No root and in no root: it is watched for the sake of one file. */
  readonly forOneFile: boolean;
  /** Settles when `names` is complete; until then nobody knows whether a name is new. */
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
  /** Files that are roots themselves: in their folders nothing else is looked at. */
  readonly #single: ReadonlySet<string>;
  /** Paths with something to tell, and whether it is known what was there before. */
  #pending = new Map<string, boolean>();
  /** More changed than could be kept: which files did is not known of all. */
  #lost = false;
  /** Set from the first change until all that came since has been told. */
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

  /** Every folder below the roots is watched: what is listed can be trusted until `listChanged`. */
  get complete(): boolean {
    return !this.#full;
  }

  /** Begins with all folders below the roots, breadth first. */
  async start(): Promise<void> {
    for (const { kind, path } of this.#tree.roots) {
      if (kind === 'file') this.#add(dirname(path), basename(path));
      else await this.#addDeep(path);
    }
  }

  /** Watches the folder of one file now, whatever the number, because somebody asked for it. */
  async follow(target: string): Promise<void> {
    let path: string;
    try {
      ({ path } = this.#tree.resolve(target));
    } catch {
      return; // Not ours: there will be nothing to tell.
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

  /** Watches one folder and answers with the folders in it. The watch comes first, so that nothing falls between. */
  async #watchFolder(folder: string, urgent: boolean): Promise<string[]> {
    try {
      await this.#tree.stat(folder);
      const watched = this.#add(folder, undefined, urgent);
      if (watched === undefined && urgent) return []; // No more room: what is in it does not matter.
      const listing = this.#tree.list(folder);
      if (watched !== undefined) watched.complete = listing.catch(() => {}); // Told below.
      const { entries } = await listing;
      for (const { name, kind } of entries) watched?.names.set(name, kind);
      if (watched !== undefined) watched.complete = undefined;
      return entries.flatMap(({ kind, name }) => (kind === 'directory' ? [join(folder, name)] : []));
    } catch (error) {
      if (error instanceof FileError) return []; // Gone meanwhile, or closed to us.
      throw error;
    }
  }

  /** `file`: the one file in the folder that is known to be there. */
  #add(folder: string, file: string | undefined, urgent = false): Watched | undefined {
    const known = this.#folders.get(folder);
    if (known !== undefined || this.#closed) return known;
    // A subscription may go beyond the limit, but not without end.
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
    this.#logger.warn('not every folder is watched; changes in the others are not told', {
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
    const tell = async (): Promise<void> => {
      try {
        await this.#notify();
      } catch (error) {
        this.#logger.error('changes of files could not be told', { error });
      }
      this.#timer = this.#pending.size > 0 && !this.#closed ? this.#gather() : undefined;
    };
    return setTimeout(() => void tell(), this.#gatherMs).unref();
  }

  /** Looks at what has changed, in slices: looking at a path is quick, looking at all of them need not be. */
  async #notify(): Promise<void> {
    const paths = this.#pending;
    this.#pending = new Map();
    let listed = this.#lost;
    if (this.#lost) this.#logger.warn('too many files changed at once; not all changes are told', { told: paths.size });
    this.#lost = false;
    let until = monotonicMs() + sliceMs;
    for (const [path, sure] of paths) {
      if (this.#closed) return;
      await this.#folders.get(dirname(path))?.complete;
      // One notice too many is better than a list that stays wrong.
      listed = (await this.#look(path)) || !sure || listed;
      if (monotonicMs() < until) continue;
      await nextSlice();
      until = monotonicMs() + sliceMs;
    }
    if (listed && !this.#closed) this.#listener.listChanged();
  }

  /** Looks at what happened to one path; true when the set of files changed. */
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
    // A folder under a known name may be another one now; its watch is dead then.
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
