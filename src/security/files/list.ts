// Listing a directory, deep if asked, within bounds. Names that could not be asked for again (see locator.ts), special
// files and links that lead out are left out, so a listing never names what a read would refuse as not found.

import { accessSync, constants } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { fileErrors, fromSystem } from './errors.ts';
import { isPlainName, toUri } from './locator.ts';
import { isPseudo, type PathHandle } from './path-access.ts';
import { type RootedPath, visiblePath } from './roots.ts';
import { type WalkContext, walk } from './walk.ts';

/** One line of a listing. */
export interface FileEntry {
  readonly path: string;
  readonly uri: string;
  readonly name: string;
  readonly kind: 'file' | 'directory';
  /** Bytes of a file; 0 for a directory. */
  readonly size: number;
  readonly modifiedMs: number;
}

/** What a listing found, sorted by path; `truncated` when a limit ended it early. */
export interface Listing {
  readonly entries: readonly FileEntry[];
  readonly truncated: boolean;
}

/** How far a listing goes; the tree's limits bound both numbers. */
export interface ListOptions {
  readonly recursive?: boolean;
  readonly maxEntries?: number;
  readonly signal?: AbortSignal;
}

/** Lists the directory at a spot. */
export async function listDirectory(
  context: WalkContext,
  spot: RootedPath,
  requestedPath: string,
  options: ListOptions,
): Promise<Listing> {
  const { limits } = context;
  const maxEntries = Math.min(options.maxEntries ?? limits.maxEntries, limits.maxEntries);
  const entries: FileEntry[] = [];
  const queue: RootedPath[] = [spot];
  // Names looked at, shown or not: a folder of ten million FIFOs must not hold us either.
  let budget = limits.maxEntries * 4;
  let truncated = false;

  for (let next = queue.shift(); next !== undefined && !truncated; next = queue.shift()) {
    const found = await listOne(context, next, requestedPath, {
      room: maxEntries - entries.length,
      budget,
      signal: options.signal,
      isTop: next === spot,
    });
    budget -= found.seen;
    truncated = found.truncated;
    for (const { entry, isLink } of found.entries) {
      entries.push(entry);
      // Directories behind links are shown but not entered: this is what keeps a walk free of circles.
      if (!options.recursive || entry.kind !== 'directory' || isLink) continue;
      const segments = [...next.segments, entry.name];
      if (segments.length - spot.segments.length > limits.maxListDepth) truncated = true;
      else queue.push({ root: spot.root, segments });
    }
  }
  entries.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { entries, truncated };
}

interface FoundEntry {
  readonly entry: FileEntry;
  readonly isLink: boolean;
}

async function listOne(
  context: WalkContext,
  spot: RootedPath,
  requestedPath: string,
  bounds: { room: number; budget: number; signal: AbortSignal | undefined; isTop: boolean },
): Promise<{ entries: FoundEntry[]; seen: number; truncated: boolean }> {
  const { room, budget, signal, isTop } = bounds;
  const entries: FoundEntry[] = [];
  let seen = 0;
  let place: PathHandle | undefined;
  try {
    place = walk(context, spot, requestedPath, 'follow');
    if (!place.stats.isDirectory()) throw fileErrors.wrongKind(requestedPath, 'directory');
    if (!context.limits.allowPseudoFiles && isPseudo(place))
      throw fileErrors.special(requestedPath, 'no files live here');
    for await (const { name: raw } of await opendir(place.path, { bufferSize: 256, encoding: 'buffer' as 'utf8' })) {
      signal?.throwIfAborted();
      if (seen >= budget || entries.length >= room) return { entries, seen, truncated: true };
      seen += 1;
      const name = decodeName(raw as unknown as Buffer);
      const found = name === undefined ? undefined : look(context, spot, place, name);
      if (found !== undefined) entries.push(found);
    }
    if (!context.access.confirm(place)) throw fileErrors.notFound(requestedPath, 'moved');
    return { entries, seen, truncated: false };
  } catch (error) {
    // A directory below the asked one may vanish or be closed to us while we walk: the rest is still an answer.
    if (isTop || signal?.aborted) throw fromSystem(error, requestedPath);
    return { entries: [], seen, truncated: false };
  } finally {
    place?.close();
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

function look(context: WalkContext, spot: RootedPath, directory: PathHandle, name: string): FoundEntry | undefined {
  if (!isPlainName(name, context.limits)) return undefined;
  const child: RootedPath = { root: spot.root, segments: [...spot.segments, name] };
  let place: PathHandle | undefined;
  try {
    place = context.access.step(directory, name);
    if (context.own?.includes(directory.stats, name, place.stats)) return undefined;
    const isLink = place.stats.isSymbolicLink();
    if (isLink) {
      place.close();
      place = undefined;
      place = walk(context, child, name, 'follow');
    }
    const { stats } = place;
    if (!stats.isFile() && !stats.isDirectory()) return undefined;
    if (stats.isFile() && !context.limits.allowHardLinks && stats.nlink > 1n) return undefined;
    accessSync(place.path, constants.R_OK);
    const path = visiblePath(child);
    const kind = stats.isFile() ? 'file' : 'directory';
    const size = stats.isFile() ? Number(stats.size) : 0;
    return { entry: { path, uri: toUri(path), name, kind, size, modifiedMs: Number(stats.mtimeMs) }, isLink };
  } catch {
    return undefined; // Gone meanwhile, closed to us, or a link out: exactly what a listing leaves out.
  } finally {
    place?.close();
  }
}
