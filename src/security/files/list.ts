// Listing a directory, recursively if requested, within limits. Names that cannot be requested again (see locator.ts),
// special files and links that lead out are left out, so a listing never names what a read would report as not found.

import { accessSync, constants } from 'node:fs';
import { opendir } from 'node:fs/promises';
import type { Glob } from '../../common/glob.ts';
import { fileErrors, fromSystem } from './errors.ts';
import { isPlainName, toUri } from './locator.ts';
import { isPseudo, type PathHandle } from './path-access.ts';
import { compileExclude } from './path-glob.ts';
import { type RootedPath, visiblePath } from './roots.ts';
import { type WalkContext, walk } from './walk.ts';

/** One line of a listing. */
export interface FileEntry {
  /** The absolute path. */
  readonly path: string;
  /** The same as a `file:` URI. */
  readonly uri: string;
  /** The last part of the path. */
  readonly name: string;
  /** What it is. */
  readonly kind: 'file' | 'directory';
  /** Bytes of a file; 0 for a directory. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
}

/** What a listing found, sorted by path; `truncated` when a limit ended it early. */
export interface Listing {
  /** Sorted by path. */
  readonly entries: readonly FileEntry[];
  /** A limit ended the listing early. */
  readonly truncated: boolean;
}

/** How far a listing goes; the tree's limits bound both numbers. */
export interface ListOptions {
  /** Also list what is in subdirectories. Default false. */
  readonly recursive?: boolean;
  /** Never above the limit of the tree, which is the default. */
  readonly maxEntries?: number;
  /** Globs of what is left out, relative to the directory (path-glob.ts); excluded directories are not entered. */
  readonly exclude?: readonly string[];
  /** Stops the listing when aborted. */
  readonly signal?: AbortSignal;
}

/** Lists a directory. */
export async function listDirectory(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  options: ListOptions,
): Promise<Listing> {
  const { limits } = context;
  const entries: FileEntry[] = [];
  const directories = readDirectories(context, rootedPath, requestedPath, {
    recursive: options.recursive === true,
    maxEntries: Math.min(options.maxEntries ?? limits.maxEntries, limits.maxEntries),
    maxSeen: limits.maxEntries * 4,
    exclude: options.exclude,
    signal: options.signal,
  });
  for (;;) {
    const { done, value } = await directories.next();
    if (done) return { entries: entries.sort((a, b) => (a.path < b.path ? -1 : 1)), truncated: value };
    for (const { entry } of value) entries.push(entry);
  }
}

/** How far `readDirectories` goes. */
export interface ReadDirectoriesOptions {
  readonly recursive: boolean;
  /** Entries yielded at most. */
  readonly maxEntries: number;
  /** Names looked at, yielded or not: a folder of ten million FIFOs must not keep the server busy either. */
  readonly maxSeen: number;
  readonly exclude: readonly string[] | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Yields the entries of one directory after the other; returns whether a limit ended it early. */
export async function* readDirectories(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  options: ReadDirectoriesOptions,
): AsyncGenerator<readonly FoundEntry[], boolean> {
  const { recursive, maxEntries, maxSeen, exclude, signal } = options;
  const isExcluded = exclude === undefined || exclude.length === 0 ? undefined : compileExclude(exclude);
  const queue: RootedPath[] = [rootedPath];
  let found = 0;
  let seen = 0;
  let truncated = false;
  for (let next = queue.shift(); next !== undefined && !truncated; next = queue.shift()) {
    const below = next.segments.slice(rootedPath.segments.length);
    const directory = await listOne(context, next, requestedPath, {
      maxFound: maxEntries - found,
      budget: maxSeen - seen,
      signal,
      isTop: next === rootedPath,
      prefix: below.length === 0 ? '' : `${below.join('/')}/`,
      isExcluded,
    });
    found += directory.entries.length;
    seen += directory.seen;
    truncated = directory.truncated;
    for (const { entry, isLink } of directory.entries) {
      // Directories behind links are shown but not entered: this is what keeps a walk free of circles.
      if (!recursive || entry.kind !== 'directory' || isLink) continue;
      if (below.length >= context.limits.maxListDepth) truncated = true;
      else queue.push({ root: rootedPath.root, segments: [...next.segments, entry.name] });
    }
    yield directory.entries;
  }
  return truncated;
}

/** An entry, and its path below the listed directory, with slashes. */
export interface FoundEntry {
  readonly entry: FileEntry;
  readonly relative: string;
  readonly isLink: boolean;
}

async function listOne(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  bounds: {
    readonly maxFound: number;
    readonly budget: number;
    readonly signal: AbortSignal | undefined;
    readonly isTop: boolean;
    readonly prefix: string;
    readonly isExcluded: Glob | undefined;
  },
): Promise<{ entries: FoundEntry[]; seen: number; truncated: boolean }> {
  const { maxFound, budget, signal, isTop, prefix, isExcluded } = bounds;
  const entries: FoundEntry[] = [];
  let seen = 0;
  let handle: PathHandle | undefined;
  try {
    handle = walk(context, rootedPath, requestedPath, 'follow');
    if (!handle.stats.isDirectory()) throw fileErrors.wrongKind(requestedPath, 'directory');
    if (!context.limits.allowPseudoFiles && isPseudo(handle))
      throw fileErrors.special(requestedPath, 'no files live here');
    for await (const { name: raw } of await opendir(handle.path, { bufferSize: 256, encoding: 'buffer' as 'utf8' })) {
      signal?.throwIfAborted();
      if (seen >= budget || entries.length >= maxFound) return { entries, seen, truncated: true };
      seen += 1;
      const name = decodeName(raw as unknown as Buffer);
      if (name === undefined || isExcluded?.(prefix + name)) continue;
      const found = look(context, rootedPath, handle, name, prefix + name);
      if (found !== undefined) entries.push(found);
    }
    if (!context.access.confirm(handle)) throw fileErrors.notFound(requestedPath, 'moved');
    return { entries, seen, truncated: false };
  } catch (error) {
    // A directory below the requested one may vanish or be closed to us while we walk: the rest is still an answer.
    if (isTop || signal?.aborted) throw fromSystem(error, requestedPath);
    return { entries: [], seen, truncated: false };
  } finally {
    handle?.close();
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The name as text, or `undefined` for bytes that are not UTF-8 and so cannot be written in a URI. */
function decodeName(raw: Buffer): string | undefined {
  try {
    return utf8.decode(raw);
  } catch {
    return undefined; // Left out of the listing, as the file's header says.
  }
}

function look(
  context: WalkContext,
  rootedPath: RootedPath,
  directory: PathHandle,
  name: string,
  relative: string,
): FoundEntry | undefined {
  if (!isPlainName(name, context.limits)) return undefined;
  const child: RootedPath = { root: rootedPath.root, segments: [...rootedPath.segments, name] };
  let handle: PathHandle | undefined;
  try {
    handle = context.access.step(directory, name);
    if (context.own?.includes(directory.stats, name, handle.stats)) return undefined;
    const isLink = handle.stats.isSymbolicLink();
    if (isLink) {
      handle.close();
      handle = undefined;
      handle = walk(context, child, name, 'follow');
    }
    const { stats } = handle;
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    if (stats.isFile() && !context.limits.allowHardLinks && stats.nlink > 1n) return undefined;
    accessSync(handle.path, constants.R_OK);
    const path = visiblePath(child);
    const kind = stats.isFile() ? 'file' : 'directory';
    const size = stats.isFile() ? Number(stats.size) : 0;
    return { entry: { path, uri: toUri(path), name, kind, size, modifiedMs: Number(stats.mtimeMs) }, relative, isLink };
  } catch {
    return undefined; // Gone meanwhile, closed to us, or a link out: exactly what a listing leaves out.
  } finally {
    handle?.close();
  }
}
