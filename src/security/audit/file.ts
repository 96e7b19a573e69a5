// The file that lines are appended to. Knows how much of a failed write arrived, starts a new file when one is full,
// deletes the oldest, and notices if the file was moved, removed or truncated from outside.

import { type FileHandle, open, rename, rm, stat, statfs } from 'node:fs/promises';
import { currentFile, finishedFile, finishedNumbers } from './files.ts';

export interface AuditFileOptions {
  readonly directory: string;
  readonly name: string;
  readonly maxFileBytes: number;
  readonly maxTotalBytes: number;
  readonly maxFiles: number;
}

/** What was done to the file from outside. */
export type Displacement = 'moved' | 'removed' | 'truncated';

/** How many bytes were written, and the error if not all were. */
export interface Appended {
  readonly bytes: number;
  readonly error?: unknown;
}

export class LogFile {
  readonly path: string;
  readonly #options: AuditFileOptions;
  #handle: FileHandle;
  #bytes: number;

  /** `bytes`: the size of the file. */
  constructor(options: AuditFileOptions, handle: FileHandle, bytes: number) {
    this.path = currentFile(options.directory, options.name);
    this.#options = options;
    this.#handle = handle;
    this.#bytes = bytes;
  }

  static async open(options: AuditFileOptions): Promise<LogFile> {
    const handle = await openForAppend(currentFile(options.directory, options.name));
    return new LogFile(options, handle, (await handle.stat()).size);
  }

  /** Whether the next line belongs in a new file. */
  get isFull(): boolean {
    return this.#bytes >= this.#options.maxFileBytes;
  }

  async append(bytes: Buffer): Promise<Appended> {
    let count = 0;
    try {
      while (count < bytes.length) count += (await this.#handle.write(bytes.subarray(count))).bytesWritten;
      this.#bytes += count;
      return { bytes: count };
    } catch (error) {
      // After an error, only the size of the file shows how much was written.
      const { size } = await this.#handle.stat();
      const arrived = Math.min(Math.max(count, size - this.#bytes), bytes.length);
      this.#bytes += arrived;
      return { bytes: arrived, error };
    }
  }

  /** Forces everything to the disk. */
  async sync(): Promise<void> {
    await this.#handle.datasync();
  }

  /** Finds out whether the file is still the one at its path, with all that was written to it. */
  async displacement(): Promise<Displacement | undefined> {
    const own = await this.#handle.stat();
    const found = await stat(this.path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
      return undefined;
    });
    if (found === undefined || found.ino !== own.ino || found.dev !== own.dev) {
      return own.nlink === 0 ? 'removed' : 'moved';
    }
    return own.size < this.#bytes ? 'truncated' : undefined;
  }

  /** Continues with the file that is at the path now, or a new one. */
  async reopen(): Promise<void> {
    const old = this.#handle;
    this.#handle = await openForAppend(this.path);
    this.#bytes = (await this.#handle.stat()).size;
    await old.close();
    if (this.#bytes > 0 && !(await this.#endsWithLineBreak())) await this.append(Buffer.from('\n'));
  }

  async #endsWithLineBreak(): Promise<boolean> {
    const last = Buffer.alloc(1);
    await this.#handle.read(last, 0, 1, this.#bytes - 1);
    return last[0] === 0x0a;
  }

  /** Free space on the disk; infinite if the file system does not report it. */
  async freeBytes(): Promise<number> {
    const { blocks, bavail, bfree, bsize } = await statfs(this.#options.directory);
    if (blocks === 0) return Number.POSITIVE_INFINITY;
    // The difference is reserved for root.
    return (process.getuid?.() === 0 ? bfree : bavail) * bsize;
  }

  /** Starts a new file. Returns the names of the old files that were deleted to stay within the limits. */
  async rotate(): Promise<string[]> {
    const { directory, name } = this.#options;
    await this.#handle.datasync();
    const number = (finishedNumbers(directory, name).at(-1) ?? 0) + 1;
    await rename(this.path, finishedFile(directory, name, number));
    const finished = this.#handle;
    this.#handle = await openForAppend(this.path);
    this.#bytes = 0;
    await finished.close();
    return this.#deleteOld();
  }

  async #deleteOld(): Promise<string[]> {
    const { directory, name, maxFileBytes, maxTotalBytes, maxFiles } = this.#options;
    const deleted: string[] = [];
    let count = 0;
    let bytes = maxFileBytes; // The maximum size of the new file.
    for (const number of finishedNumbers(directory, name).reverse()) {
      const path = finishedFile(directory, name, number);
      count++;
      bytes += (await stat(path)).size;
      if (count <= maxFiles && bytes <= maxTotalBytes) continue;
      await rm(path, { force: true });
      deleted.push(path);
    }
    return deleted.reverse();
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

/** `a+`: existing content can be read, and every write goes to the end. */
const openForAppend = (path: string): Promise<FileHandle> => open(path, 'a+', 0o600);
