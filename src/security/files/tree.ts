// The one resolver for every path: opens the configured roots and reads, lists and writes below them and nowhere else.
// No second path code in this project; whoever takes a path or a `file:` URI from outside asks a tree.

import { fileErrors, fromSystem } from './errors.ts';
import { defaultFileLimits, type FileLimits } from './limits.ts';
import { type Listing, type ListOptions, listDirectory } from './list.ts';
import { parseLocator, pathOf, toUri } from './locator.ts';
import type { OwnFiles } from './own-files.ts';
import { bestPathAccess, isPseudo, type PathAccess, type PathHandle, procPathAccess } from './path-access.ts';
import { readHandle, requireOrdinary } from './read.ts';
import { type ConfiguredRoot, findRootedPath, openRoot, type RootedPath, visiblePath } from './roots.ts';
import { type WalkContext, walk } from './walk.ts';
import { writeInto } from './write.ts';

export { FileError, type FileErrorCode, type HiddenReason, hiddenReason } from './errors.ts';
export { defaultFileLimits, type FileLimits } from './limits.ts';
export type { FileEntry, Listing, ListOptions } from './list.ts';
export { toUri } from './locator.ts';
export { OwnFiles, type OwnPaths } from './own-files.ts';

/** Where something would be: inside a root by its name, not yet looked at. */
export interface FileLocation {
  readonly path: string;
  readonly uri: string;
}

/** What is known about a file or directory. */
export interface FileFacts extends FileLocation {
  readonly kind: 'file' | 'directory';
  readonly size: number;
  readonly modifiedMs: number;
}

/** Files below configured roots. Every method takes a `file:` URI, an absolute path, or a path in the first root. */
export interface FileTree {
  /** The roots as configured. */
  readonly roots: readonly (FileLocation & { readonly kind: 'directory' | 'file' })[];
  /** Whether no swap of names, however fast, can lead a read or write out; true on Linux with /proc (path-access.ts). */
  readonly raceFree: boolean;
  /** The one spelling of a place inside the roots; throws `FILE_NOT_FOUND` for any other. Does not touch the disk. */
  resolve(target: string): FileLocation;
  stat(target: string): Promise<FileFacts>;
  /** Reads an ordinary file of at most `maxBytes` (never more than the tree's limit). */
  readFile(target: string, options?: { readonly maxBytes?: number; readonly signal?: AbortSignal }): Promise<Buffer>;
  list(target: string, options?: ListOptions): Promise<Listing>;
  /** Replaces or creates a file atomically and durably. No link on the way is followed. */
  writeFile(
    target: string,
    data: Uint8Array | string,
    options?: { readonly mode?: number; readonly signal?: AbortSignal },
  ): Promise<void>;
  toUri(path: string): string;
  /** The path of a `file:` URI inside the roots. */
  fromUri(uri: string): string;
}

/** The tree's limits, what it never shows, and for tests the footing to stand on. */
export interface TreeOptions extends Partial<FileLimits> {
  /** The server's own files: not found, wherever they are. A root that is one of them, or in them, is rejected. */
  readonly own?: OwnFiles | undefined;
  readonly access?: PathAccess;
}

/**
 * Opens directories (or single files) for use. Throws `FILE_BAD_ROOT` when one is missing.
 *
 * Looking up a name is synchronous (a few microseconds on a local disk, an order of magnitude more in the thread
 * pool); the bytes themselves are read and written asynchronously.
 */
export function openRoots(paths: readonly string[], options: TreeOptions = {}): FileTree {
  const { access = bestPathAccess(), own, ...given } = options;
  const limits: FileLimits = { ...defaultFileLimits, ...given };
  const roots = paths.map(openRoot);
  const context: WalkContext = { access, roots, limits, own };
  for (const root of roots) if (own?.holds(pathOf(root.real))) throw fileErrors.ownRoot(root.path);
  if (!limits.allowPseudoFiles) for (const root of roots) assertNoPseudoFile(context, root);

  const find = (target: string): RootedPath => {
    const locator = parseLocator(target, limits);
    if (locator === undefined) throw fileErrors.notFound(target, 'malformed');
    const names = locator.relative ? [...relativeBase(roots, target), ...locator.segments] : locator.segments;
    const spot = findRootedPath(roots, names);
    if (spot === undefined) throw fileErrors.notFound(target, 'outside');
    if (spot.segments.length > limits.maxDepth) throw fileErrors.notFound(target, 'too-deep');
    return spot;
  };

  /** Walks to the target, hands the place to `use`, and closes it when that is done. */
  const at = async <T>(
    target: string,
    links: 'follow' | 'refuse',
    use: (place: PathHandle, spot: RootedPath) => T,
  ): Promise<Awaited<T>> => {
    let place: PathHandle | undefined;
    try {
      const spot = find(target);
      place = walk(context, spot, target, links);
      return await use(place, spot);
    } catch (error) {
      throw fromSystem(error, target);
    } finally {
      place?.close();
    }
  };

  return {
    roots: roots.map(({ kind, path }) => ({ kind, path, uri: toUri(path) })),
    raceFree: access === procPathAccess,
    resolve: (target) => locationOf(find(target)),
    stat: (target) =>
      at(target, 'follow', (place, spot) => {
        const { stats } = place;
        if (!stats.isDirectory()) requireOrdinary(place, target, limits);
        const kind = stats.isDirectory() ? 'directory' : 'file';
        const size = kind === 'file' ? Number(stats.size) : 0;
        return { ...locationOf(spot), kind, size, modifiedMs: Number(stats.mtimeMs) } as const;
      }),
    readFile: (target, { maxBytes = limits.maxFileBytes, signal } = {}) =>
      at(target, 'follow', (place) => {
        signal?.throwIfAborted();
        requireOrdinary(place, target, limits);
        return readHandle(access, place, target, Math.min(maxBytes, limits.maxFileBytes), signal, own);
      }),
    async list(target, listOptions = {}) {
      listOptions.signal?.throwIfAborted();
      return listDirectory(context, find(target), target, listOptions);
    },
    async writeFile(target, data, writeOptions = {}) {
      const spot = find(target);
      if (!limits.writable) throw fileErrors.readOnly(target);
      const name = spot.root.fileName ?? spot.segments.at(-1);
      if (name === undefined) throw fileErrors.wrongKind(target, 'file');
      const bytes = typeof data === 'string' ? Buffer.from(data) : data;
      if (bytes.length > limits.maxWriteBytes) throw fileErrors.tooLarge(target, limits.maxWriteBytes);
      await inDirectoryOf(context, spot, target, (directory) =>
        writeInto(access, directory, name, bytes, target, { ...writeOptions, own }),
      );
    },
    toUri: (path) => toUri(path),
    fromUri: (uri) => locationOf(find(uri)).path,
  };
}

const locationOf = (spot: RootedPath): FileLocation => {
  const path = visiblePath(spot);
  return { path, uri: toUri(path) };
};

function relativeBase(roots: readonly ConfiguredRoot[], target: string): readonly string[] {
  const base = roots.find((root) => root.kind === 'directory');
  if (base === undefined) throw fileErrors.notFound(target, 'outside');
  return base.given;
}

/** Stands on the directory that holds the spot. Links are refused: a write goes where its path says. */
async function inDirectoryOf(
  context: WalkContext,
  spot: RootedPath,
  target: string,
  use: (directory: PathHandle) => Promise<void>,
): Promise<void> {
  let directory: PathHandle | undefined;
  try {
    const parent: ConfiguredRoot = { ...spot.root, kind: 'directory', fileName: undefined };
    directory = walk(context, { root: parent, segments: spot.segments.slice(0, -1) }, target, 'refuse');
    if (!directory.stats.isDirectory()) throw fileErrors.notFound(target, 'missing');
    if (!context.limits.allowPseudoFiles && isPseudo(directory)) throw fileErrors.special(target, 'no files live here');
    await use(directory);
  } catch (error) {
    throw fromSystem(error, target);
  } finally {
    directory?.close();
  }
}

function assertNoPseudoFile(context: WalkContext, root: ConfiguredRoot): void {
  const place = context.access.enter(root.realDirectory);
  if (place === undefined) throw fileErrors.badRoot(root.path, 'it changed while it was opened');
  try {
    if (isPseudo(place))
      throw fileErrors.badRoot(root.path, `${pathOf(root.real)} is a window into the operating system`);
  } finally {
    place.close();
  }
}
