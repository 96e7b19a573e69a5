// The limits of file access and their defaults, each with the attack or accident it stops.

/** What a tree may do and how far it goes. */
export interface FileLimits {
  /** Bytes one read may return, whatever `stat` promised: stops endless and growing files. */
  readonly maxFileBytes: number;
  /** Bytes one write may store. */
  readonly maxWriteBytes: number;
  /** Characters of a URI or path as requested: stops parser work on megabytes of slashes. */
  readonly maxLocatorChars: number;
  /** Names between a root and a file, counting those that links add: bounds open descriptors and walks. */
  readonly maxDepth: number;
  /** Bytes of one name in UTF-8. */
  readonly maxNameBytes: number;
  /** Symbolic links followed for one path: stops loops. */
  readonly maxLinkHops: number;
  /** Entries one listing returns, and the entries it looks at times four: stops a folder of millions. */
  readonly maxEntries: number;
  /** Folders below the requested one that a recursive listing enters. */
  readonly maxListDepth: number;
  /** Entries that one search looks at: stops a search of a whole disk from keeping the server busy. */
  readonly maxSearchEntries: number;
  /** Bytes that one search reads, and that are skipped to reach a line: stops searches of endless logs and disk images. */
  readonly maxSearchBytes: number;
  /** Matching lines that one search returns: stops a response as large as everything that was searched. */
  readonly maxMatches: number;
  /** A file with a second hard link may be a file from outside the roots; denied unless allowed. */
  readonly allowHardLinks: boolean;
  /** `/proc`, `/sys` and similar reveal data of the host and of this process; denied unless allowed. */
  readonly allowPseudoFiles: boolean;
  /** Whether files can be changed: everywhere, nowhere, or only in these folders. */
  readonly writable: boolean | readonly string[];
}

export const defaultFileLimits: FileLimits = {
  maxFileBytes: 4 * 1024 * 1024,
  maxWriteBytes: 4 * 1024 * 1024,
  maxLocatorChars: 8192,
  maxDepth: 64,
  maxNameBytes: 255,
  maxLinkHops: 16,
  maxEntries: 10_000,
  maxListDepth: 16,
  maxSearchEntries: 100_000,
  maxSearchBytes: 128 * 1024 * 1024,
  maxMatches: 500,
  allowHardLinks: false,
  allowPseudoFiles: false,
  writable: false,
};
