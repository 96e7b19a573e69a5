// The server's own files: database, settings, tokens, logs, credentials. A tree with `own` neither lists, reads, writes
// nor watches them, whichever root, link, mount or variant of the path leads there. Files are compared by device and inode, with
// `stat` only: on POSIX systems, closing any descriptor of a database drops the locks that SQLite holds on it in the
// same process, and another process may then remove its write-ahead log with all that was acknowledged since.

import { type BigIntStats, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Where the server keeps what is its own. Nothing of it needs to exist yet. */
export interface OwnPaths {
  /** Folders that belong to the server with everything in them. */
  readonly folders?: readonly string[];
  /** Files in folders that hold other things as well. `policy.yaml` includes `policy.yaml.bak` and `policy.yaml~`. */
  readonly files?: readonly string[];
}

/** Identifies a file system object. */
type FileIdentity = Pick<BigIntStats, 'dev' | 'ino'>;

/** A name in a directory that is the server's, whether something is there or not. */
interface OwnName {
  readonly directory: FileIdentity;
  /** As `fold` makes it. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

/** What is known about the own files at one moment. */
interface Snapshot {
  readonly takenAt: number;
  readonly inodes: ReadonlyMap<bigint, readonly bigint[]>;
  readonly names: readonly OwnName[];
}

/**
 * How long a snapshot is used: under load the disk is asked a hundred times a second and not for every read. A new file
 * in an own folder, or under an own name, is hidden at once by the identity of its folder; only a second name of it (a
 * hard link, a mount) can be up to this late.
 */
const maxAgeMs = 10;

/** Entries of an own folder whose second names are recognised; stops a plugin's folder of millions from slowing reads. */
const maxEntries = 1_000;

/** Knows which files are the server's own. One instance serves all trees and sandboxes of a process. */
export class OwnFiles {
  readonly #folders: readonly string[];
  readonly #files: readonly string[];
  #snapshot: Snapshot | undefined;

  constructor({ folders = [], files = [] }: OwnPaths) {
    this.#folders = [...new Set(folders.map((path) => resolve(path)))];
    this.#files = [...new Set(files.map((path) => resolve(path)))];
  }

  /** Whether `name` in a directory is, or would be, one of the own files. `object` is what is there now, if anything. */
  includes(directory: FileIdentity, name: string, object: BigIntStats | undefined): boolean {
    const { names } = this.#current();
    for (const own of names) {
      if (!isSame(own.directory, directory)) continue;
      if (own.kind === 'folder' ? fold(name) === own.name : !object?.isDirectory() && isNamed(own.name, name))
        return true;
    }
    return object !== undefined && this.has(object);
  }

  /** Whether the object is an own folder or one of the files in it, by whatever name it was reached. */
  has({ dev, ino }: FileIdentity): boolean {
    return this.#current().inodes.get(ino)?.includes(dev) === true;
  }

  /** Whether a path is one of the own files, or lies in an own folder. For roots, before they are opened. */
  holds(realPath: string): boolean {
    for (let path = realPath; ; path = dirname(path)) {
      const parent = statOf(dirname(path));
      if (parent === undefined) return false;
      if (this.includes(parent, basename(path), statOf(path))) return true;
      if (path === dirname(path)) return false;
    }
  }

  /** Whether own files are, or would be, somewhere below a directory: moving it would move them as well. */
  areBelow(directory: FileIdentity): boolean {
    return [...this.#folders, ...this.#files].some((path) =>
      [path, realPathOf(path)].some((start) => {
        for (let above = dirname(start); ; above = dirname(above)) {
          const stats = statOf(above);
          if (stats !== undefined && isSame(stats, directory)) return true;
          if (above === dirname(above)) return false;
        }
      }),
    );
  }

  /** The own paths that exist now, and own folders even before they do; for those who hide them in another way. */
  paths(): Required<OwnPaths> {
    const files = this.#files.flatMap((file) => {
      const folder = dirname(file);
      const name = fold(basename(file));
      return namesIn(folder).flatMap((each) => (isNamed(name, each) ? [join(folder, each)] : []));
    });
    return { folders: this.#folders, files };
  }

  #current(): Snapshot {
    const now = performance.now();
    if (this.#snapshot === undefined || now - this.#snapshot.takenAt > maxAgeMs) this.#snapshot = this.#take(now);
    return this.#snapshot;
  }

  #take(takenAt: number): Snapshot {
    const inodes = new Map<bigint, bigint[]>();
    const names: OwnName[] = [];
    const add = (object: FileIdentity | undefined): void => {
      if (object !== undefined) inodes.set(object.ino, [...(inodes.get(object.ino) ?? []), object.dev]);
    };
    for (const file of this.#files) {
      add(statOf(file));
      names.push(...nameOf(file, 'file'));
    }
    for (const folder of this.#folders) {
      add(statOf(folder));
      names.push(...nameOf(folder, 'folder'));
      for (const name of namesIn(folder).slice(0, maxEntries)) add(entryOf(join(folder, name)));
    }
    return { takenAt, inodes, names };
  }
}

const isSame = (one: FileIdentity, other: FileIdentity): boolean => one.ino === other.ino && one.dev === other.dev;

/** Some file systems ignore case; hiding `Policy.yaml` in addition to `policy.yaml` does no harm. */
const fold = (name: string): string => name.normalize('NFC').toLowerCase();

/** Whether a name is the own one, or begins with it: `policy.yaml.bak`, `audit.000001.jsonl`, `audit-2.lock`. */
function isNamed(own: string, name: string): boolean {
  const folded = fold(name);
  return folded.startsWith(own) && (folded.length === own.length || /[.~-]/.test(folded.charAt(own.length)));
}

/**
 * The directory a path is in, and its name there. Where directories on the way are still missing, the first of them
 * counts, so that what is made later is hidden from its first moment.
 */
function nameOf(path: string, kind: OwnName['kind']): OwnName[] {
  for (let child = path; child !== dirname(child); child = dirname(child)) {
    const directory = statOf(dirname(child));
    if (directory === undefined) continue;
    return [{ directory, name: fold(basename(child)), kind: child === path ? kind : 'folder' }];
  }
  return [];
}

/** Follows links, opens nothing; `undefined` for a path that does not exist or cannot be checked. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined; // A folder on the way is closed to us, so no tree of ours leads through it either.
  }
}

/** Where a path really is, as far as it exists. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path === dirname(path) ? path : join(realPathOf(dirname(path)), basename(path));
  }
}

/** An entry of an own folder. A link to a file counts as the file; a link to a directory does not make that one ours. */
function entryOf(path: string): BigIntStats | undefined {
  try {
    const entry = lstatSync(path, { bigint: true });
    if (!entry.isSymbolicLink()) return entry;
  } catch {
    return undefined; // Gone meanwhile.
  }
  const target = statOf(path);
  return target?.isFile() ? target : undefined;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Missing or closed to us: then there is nothing to hide, or nothing to see.
  }
}
