// The one resolver for every path: opens the configured roots and reads, lists and changes files below them and nowhere
// else. Every path or `file:` URI from outside goes through a tree.

import { resolveLimits } from '../../common/known-options.ts';
import { requireList } from '../rule-checks.ts';
import type { ChangeTarget } from './change.ts';
import type { FileLocation, FileTree } from './contract.ts';
import { fileErrors, fromSystem } from './errors.ts';
import { defaultFileLimits, type FileLimits } from './limits.ts';
import { listDirectory } from './list.ts';
import { parseLocator, pathOf, toUri } from './locator.ts';
import type { OwnFiles } from './own-files.ts';
import { bestPathAccess, isPseudo, type PathAccess, type PathHandle, procPathAccess } from './path-access.ts';
import { readHandle, requireOrdinary } from './read.ts';
import { type ConfiguredRoot, findRootedPath, openRoot, type RootedPath, visiblePath } from './roots.ts';
import { type WalkContext, walk } from './walk.ts';
import type { WriteIntoOptions } from './write.ts';

export type { FileFacts, FileTree } from './contract.ts';
export type { EditOptions, EditResult, Edits, TextEdit } from './edit.ts';
export { FileError, type FileErrorCode, hiddenReason } from './errors.ts';
export { defaultFileLimits, type FileLimits } from './limits.ts';
export type { LinesOptions } from './lines.ts';
export type { FileEntry, Listing, ListOptions } from './list.ts';
export { toUri } from './locator.ts';
export { OwnFiles, type OwnPaths } from './own-files.ts';
export type { FindOptions, TextMatch, TextMatches, TextSearchOptions } from './search.ts';

/** The tree's limits, what it never shows, and for tests the kind of path access. */
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
  requireList('openRoots', paths, 'folders', "openRoots(['/srv/docs'])");
  const { access = bestPathAccess(), own, ...given } = options;
  const limits: FileLimits = resolveLimits(defaultFileLimits, given, ['maxLinkHops']);
  const roots = paths.map(openRoot);
  const context: WalkContext = { access, roots, limits, own };
  for (const root of roots) if (own?.holds(pathOf(root.real))) throw fileErrors.ownRoot(root.path);
  if (!limits.allowPseudoFiles) for (const root of roots) assertNoPseudoFile(context, root);

  const find = (target: string): RootedPath => {
    const locator = parseLocator(target, limits);
    if (locator === undefined) throw fileErrors.notFound(target, 'malformed');
    const names = locator.relative ? [...relativeBase(roots, target), ...locator.segments] : locator.segments;
    const rootedPath = findRootedPath(roots, names);
    if (rootedPath === undefined) throw fileErrors.notFound(target, 'outside');
    if (rootedPath.segments.length > limits.maxDepth) throw fileErrors.notFound(target, 'too-deep');
    return rootedPath;
  };

  /** Walks to the target, hands the handle to `use`, and closes it when that is done. */
  const at = async <T>(
    target: string,
    links: 'follow' | 'reject',
    use: (handle: PathHandle, rootedPath: RootedPath) => T,
  ): Promise<Awaited<T>> => {
    let handle: PathHandle | undefined;
    try {
      const rootedPath = find(target);
      handle = walk(context, rootedPath, target, links);
      return await use(handle, rootedPath);
    } catch (error) {
      throw fromSystem(error, target);
    } finally {
      handle?.close();
    }
  };

  const writable = writableFolders(limits);
  /** The path of a target that may be changed. */
  const findWritable = (target: string): RootedPath => {
    const rootedPath = find(target);
    const names = [...rootedPath.root.real, ...rootedPath.segments];
    if (writable.some((folder) => folder.every((name, index) => name === names[index]))) return rootedPath;
    throw fileErrors.readOnly(target);
  };
  const changeable = (path: string): ChangeTarget => ({ rootedPath: findWritable(path), path });

  const write = async (target: string, data: Uint8Array | string, writeOptions: Omit<WriteIntoOptions, 'own'>) => {
    const rootedPath = findWritable(target);
    const name = rootedPath.root.fileName ?? rootedPath.segments.at(-1);
    if (name === undefined) throw fileErrors.wrongKind(target, 'file');
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    if (bytes.length > limits.maxWriteBytes) throw fileErrors.tooLarge(target, limits.maxWriteBytes);
    const [{ writeInto }, { inDirectoryOf }] = await Promise.all([import('./write.ts'), import('./directory.ts')]);
    return inDirectoryOf(context, rootedPath, target, (directory) =>
      writeInto(access, directory, name, bytes, target, { ...writeOptions, own }),
    );
  };
  const read: FileTree['readFile'] = (target, { maxBytes = limits.maxFileBytes, signal } = {}) =>
    at(target, 'follow', (handle) => {
      signal?.throwIfAborted();
      requireOrdinary(handle, target, limits);
      return readHandle(access, handle, target, Math.min(maxBytes, limits.maxFileBytes), signal, own);
    });
  const stat: FileTree['stat'] = (target) =>
    at(target, 'follow', (handle, rootedPath) => {
      const { stats } = handle;
      if (!stats.isDirectory()) requireOrdinary(handle, target, limits);
      const kind = stats.isDirectory() ? 'directory' : 'file';
      return {
        ...locationOf(rootedPath),
        kind,
        size: kind === 'file' ? Number(stats.size) : 0,
        modifiedMs: Number(stats.mtimeMs),
        createdMs: Number(stats.birthtimeMs),
        accessedMs: Number(stats.atimeMs),
        mode: Number(stats.mode) & 0o777,
      };
    });

  // What only some servers use is loaded with its first call.
  return {
    roots: roots.map(({ kind, path }) => ({ kind, path, uri: toUri(path) })),
    raceFree: access === procPathAccess,
    resolve: (target) => locationOf(find(target)),
    stat,
    readFile: read,
    async readLines(target, linesOptions) {
      const { readLines } = await import('./lines.ts');
      const { maxBytes = limits.maxFileBytes } = linesOptions;
      const bounds = { maxBytes: Math.min(maxBytes, limits.maxFileBytes), maxSkippedBytes: limits.maxSearchBytes };
      return at(target, 'follow', (handle) => {
        requireOrdinary(handle, target, limits);
        const fd = access.openFile(handle, own);
        if (fd === undefined) throw fileErrors.notFound(target, 'moved');
        return readLines(fd, Number(handle.stats.size), linesOptions, { requestedPath: target, ...bounds });
      });
    },
    async list(target, listOptions = {}) {
      listOptions.signal?.throwIfAborted();
      return listDirectory(context, find(target), target, listOptions);
    },
    async findFiles(target, pattern, findOptions = {}) {
      const { findFiles } = await import('./search.ts');
      return findFiles(context, find(target), target, pattern, findOptions);
    },
    async searchText(target, text, searchOptions = {}) {
      const { searchText } = await import('./search.ts');
      const searchedPath = { rootedPath: find(target), requestedPath: target, facts: await stat(target) };
      const { signal } = searchOptions;
      return searchText(context, searchedPath, text, searchOptions, (path) =>
        read(path, signal === undefined ? {} : { signal }),
      );
    },
    writeFile: (target, data, writeOptions = {}) => write(target, data, writeOptions),
    async editFile(target, edits, { dryRun = false, signal } = {}) {
      findWritable(target);
      const { applyEdits, decodeText, unifiedDiff } = await import('./edit.ts');
      const { bytes, expected } = await at(target, 'reject', async (handle) => {
        requireOrdinary(handle, target, limits);
        const bytes = await readHandle(access, handle, target, limits.maxFileBytes, signal, own);
        return { bytes, expected: handle.stats };
      });
      const before = decodeText(bytes, target);
      const after = applyEdits(before, edits, target);
      const changed = after !== before;
      const diff = await unifiedDiff(locationOf(find(target)).path, before, after);
      if (changed && !dryRun) await write(target, after, { expected, ...(signal === undefined ? {} : { signal }) });
      return { diff, changed };
    },
    async makeDirectory(target) {
      return (await import('./change.ts')).makeDirectory(context, changeable(target));
    },
    async move(source, destination) {
      return (await import('./change.ts')).move(context, changeable(source), changeable(destination));
    },
    async remove(target) {
      return (await import('./change.ts')).remove(context, changeable(target));
    },
    toUri: (path) => toUri(path),
    fromUri: (uri) => locationOf(find(uri)).path,
  };
}

const locationOf = (rootedPath: RootedPath): FileLocation => {
  const path = visiblePath(rootedPath);
  return { path, uri: toUri(path) };
};

function relativeBase(roots: readonly ConfiguredRoot[], target: string): readonly string[] {
  const base = roots.find((root) => root.kind === 'directory');
  if (base === undefined) throw fileErrors.notFound(target, 'outside');
  return base.given;
}

/** The folders that may be changed, as their names; the empty path stands for everything. */
function writableFolders({ writable }: FileLimits): readonly (readonly string[])[] {
  if (typeof writable === 'boolean') return writable ? [[]] : [];
  return writable.map((folder) => openRoot(folder).real);
}

function assertNoPseudoFile(context: WalkContext, root: ConfiguredRoot): void {
  const handle = context.access.enter(root.realDirectory);
  if (handle === undefined) throw fileErrors.badRoot(root.path, 'it changed while it was opened');
  try {
    if (isPseudo(handle))
      throw fileErrors.badRoot(root.path, `${pathOf(root.real)} is a pseudo file system of the kernel`);
  } finally {
    handle.close();
  }
}
