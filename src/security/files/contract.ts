// What a file tree offers. Contract only: tree.ts implements it.

import type { EditOptions, EditResult, Edits } from './edit.ts';
import type { LinesOptions } from './lines.ts';
import type { Listing, ListOptions } from './list.ts';
import type { FindOptions, TextMatches, TextSearchOptions } from './search.ts';

/** Where something would be: inside a root by its name, not yet looked at. */
export interface FileLocation {
  /** The absolute path. */
  readonly path: string;
  /** The same as a `file:` URI. */
  readonly uri: string;
}

/** What is known about a file or directory. */
export interface FileFacts extends FileLocation {
  /** What it is. */
  readonly kind: 'file' | 'directory';
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modifiedMs: number;
  /** Milliseconds since 1970. */
  readonly createdMs: number;
  /** Milliseconds since 1970. */
  readonly accessedMs: number;
  /** Permission bits, such as `0o644`. */
  readonly mode: number;
}

/**
 * Files below configured roots. Every method takes a `file:` URI, an absolute path, or a path in the first root. Methods
 * that change something throw `FILE_READ_ONLY` unless the tree is `writable` there, and follow no link.
 */
export interface FileTree {
  /** The roots as configured. */
  readonly roots: readonly (FileLocation & { readonly kind: 'directory' | 'file' })[];
  /** Whether no swap of names, however fast, can lead a read or write out; true on Linux with /proc (path-access.ts). */
  readonly raceFree: boolean;
  /** The canonical path inside the roots; throws `FILE_NOT_FOUND` for any other. Does not access the disk. */
  resolve(target: string): FileLocation;
  /** Facts about a file or directory. */
  stat(target: string): Promise<FileFacts>;
  /** Reads an ordinary file of at most `maxBytes` (never more than the tree's limit). */
  readFile(target: string, options?: { readonly maxBytes?: number; readonly signal?: AbortSignal }): Promise<Buffer>;
  /** Reads some lines of a file of any size; they are limited like the bytes of `readFile`. */
  readLines(target: string, options: LinesOptions): Promise<Buffer>;
  /** What is in a directory, by default without its subdirectories. */
  list(target: string, options?: ListOptions): Promise<Listing>;
  /** Files and directories below a directory whose relative path matches a glob (`*`, `**`, `?`, `{a,b}`). */
  findFiles(target: string, pattern: string, options?: FindOptions): Promise<Listing>;
  /** Lines that contain a text, in a file or in all text files below a directory. */
  searchText(target: string, text: string, options?: TextSearchOptions): Promise<TextMatches>;
  /** Replaces or creates a file atomically and durably. */
  writeFile(
    target: string,
    data: Uint8Array | string,
    options?: { readonly mode?: number; readonly signal?: AbortSignal },
  ): Promise<{ readonly created: boolean }>;
  /** Replaces parts of a text file and returns the diff. Fails if another program changes the file meanwhile. */
  editFile(target: string, edits: Edits, options?: EditOptions): Promise<EditResult>;
  /** Makes a directory, and those above it that are missing. */
  makeDirectory(target: string): Promise<{ readonly created: boolean }>;
  /** Moves or renames a file or directory; fails if the destination exists. */
  move(source: string, destination: string): Promise<void>;
  /** Removes a file or an empty directory. */
  remove(target: string): Promise<{ readonly kind: 'file' | 'directory' }>;
  /** The `file:` URI of a path. */
  toUri(path: string): string;
  /** The path of a `file:` URI inside the roots. */
  fromUri(uri: string): string;
}
