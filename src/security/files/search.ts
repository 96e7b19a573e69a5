// Finding files by name and by content below a directory. Text is compared as it is, without regular expressions: a
// pattern from outside could keep the process busy for hours.

import { FileError, fileErrors } from './errors.ts';
import { type FileEntry, type Listing, readDirectories } from './list.ts';
import { compilePathGlob } from './path-glob.ts';
import type { RootedPath } from './roots.ts';
import type { WalkContext } from './walk.ts';

/** How files are found. */
export interface FindOptions {
  /** Globs of what is left out, as in `list`. */
  readonly exclude?: readonly string[];
  /** Stops the search when aborted. */
  readonly signal?: AbortSignal;
}

/** How texts are found. */
export interface TextSearchOptions extends FindOptions {
  /** Only files whose path below the directory matches this glob. */
  readonly include?: string;
  /** Compare without case. Default false. */
  readonly ignoreCase?: boolean;
  /** Never above the limit of the tree, which is the default. */
  readonly maxMatches?: number;
}

/** A line that contains the text. */
export interface TextMatch {
  /** The absolute path of the file. */
  readonly path: string;
  /** The same as a `file:` URI. */
  readonly uri: string;
  /** Counted from 1. */
  readonly line: number;
  /** The line, or the part of a long one around the match. */
  readonly text: string;
}

/** What a search found. */
export interface TextMatches {
  /** File by file, in the order of their lines. */
  readonly matches: readonly TextMatch[];
  /** A limit ended the search early. */
  readonly truncated: boolean;
  /** How many files were searched. */
  readonly filesRead: number;
  /** Files that are too large, not readable or not text. */
  readonly filesSkipped: number;
}

/** Characters of a line that are returned: stops one line of minified code from filling the response. */
const maxLineChars = 300;

/** Files and directories whose path below the directory matches the glob, sorted by path. */
export async function findFiles(
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  pattern: string,
  options: FindOptions,
): Promise<Listing> {
  const matches = compilePathGlob(pattern);
  const { maxEntries } = context.limits;
  const entries: FileEntry[] = [];
  const directories = searched(context, rootedPath, requestedPath, options);
  for (;;) {
    const { done, value } = await directories.next();
    if (done) return { entries: entries.sort(byPath), truncated: value };
    for (const { entry, relative } of value) {
      if (!matches(relative)) continue;
      if (entries.length >= maxEntries) return { entries: entries.sort(byPath), truncated: true };
      entries.push(entry);
    }
  }
}

/** What is searched: a file, or everything below a directory. */
export interface SearchedPath {
  readonly rootedPath: RootedPath;
  readonly requestedPath: string;
  readonly facts: SearchedFile & { readonly kind: 'file' | 'directory' };
}

interface SearchedFile {
  readonly path: string;
  readonly uri: string;
  readonly size: number;
}

/** Lines that contain the text. `read` reads one file of the tree. */
export async function searchText(
  context: WalkContext,
  { rootedPath, requestedPath, facts }: SearchedPath,
  text: string,
  options: TextSearchOptions,
  read: (path: string) => Promise<Buffer>,
): Promise<TextMatches> {
  if (text === '' || text.includes('\n'))
    throw fileErrors.badPattern(text, 'Search for one line of text or a part of it');
  const { limits } = context;
  const included = options.include === undefined ? undefined : compilePathGlob(options.include);
  const search = new TextSearch(text, options.ignoreCase === true, {
    maxMatches: Math.min(options.maxMatches ?? limits.maxMatches, limits.maxMatches),
    maxBytes: limits.maxSearchBytes,
    maxFileBytes: limits.maxFileBytes,
  });
  if (facts.kind === 'file') return search.result(!(await search.add(facts, read)));
  const directories = searched(context, rootedPath, requestedPath, options);
  for (;;) {
    const { done, value } = await directories.next();
    if (done) return search.result(value);
    const files = value.filter(({ entry, relative }) => entry.kind === 'file' && included?.(relative) !== false);
    for (const { entry } of files.sort((a, b) => byPath(a.entry, b.entry))) {
      if (!(await search.add(entry, read))) return search.result(true);
    }
  }
}

const byPath = (a: FileEntry, b: FileEntry): number => (a.path < b.path ? -1 : 1);

const searched = (
  context: WalkContext,
  rootedPath: RootedPath,
  requestedPath: string,
  { exclude, signal }: FindOptions,
) =>
  readDirectories(context, rootedPath, requestedPath, {
    recursive: true,
    maxEntries: context.limits.maxSearchEntries,
    maxSeen: context.limits.maxSearchEntries,
    exclude,
    signal,
  });

interface SearchBounds {
  readonly maxMatches: number;
  readonly maxBytes: number;
  /** Larger files are skipped. */
  readonly maxFileBytes: number;
}

class TextSearch {
  readonly #text: string;
  readonly #fold: (text: string) => string;
  readonly #bounds: SearchBounds;
  readonly #matches: TextMatch[] = [];
  #bytes = 0;
  #read = 0;
  #skipped = 0;

  constructor(text: string, ignoreCase: boolean, bounds: SearchBounds) {
    this.#fold = ignoreCase ? (each) => each.toLowerCase() : (each) => each;
    this.#text = this.#fold(text);
    this.#bounds = bounds;
  }

  /** Searches one file; false when a limit is reached and the search is over. */
  async add(file: SearchedFile, read: (path: string) => Promise<Buffer>): Promise<boolean> {
    if (file.size > this.#bounds.maxFileBytes) {
      this.#skipped++;
      return true;
    }
    if (this.#bytes + file.size > this.#bounds.maxBytes) return false;
    let bytes: Buffer;
    try {
      bytes = await read(file.path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#skipped++;
      return true;
    }
    this.#bytes += bytes.length;
    // A byte 0 near the start means a binary file, as in git.
    if (bytes.subarray(0, 8000).includes(0)) {
      this.#skipped++;
      return true;
    }
    this.#read++;
    const content = bytes.toString();
    if (!this.#fold(content).includes(this.#text)) return true;
    const lines = content.split('\n');
    for (const [index, line] of lines.entries()) {
      const at = this.#fold(line).indexOf(this.#text);
      if (at === -1) continue;
      if (this.#matches.length >= this.#bounds.maxMatches) return false;
      this.#matches.push({ path: file.path, uri: file.uri, line: index + 1, text: excerpt(line, at) });
    }
    return true;
  }

  result(truncated: boolean): TextMatches {
    return { matches: this.#matches, truncated, filesRead: this.#read, filesSkipped: this.#skipped };
  }
}

function excerpt(line: string, at: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  if (text.length <= maxLineChars) return text;
  const start = Math.max(0, Math.min(at - 60, text.length - maxLineChars));
  return `${start > 0 ? '…' : ''}${text.slice(start, start + maxLineChars)}${start + maxLineChars < text.length ? '…' : ''}`;
}
