// Reads the lines of a log, file by file, without holding more than one piece of it in memory.

import { open } from 'node:fs/promises';
import { currentFile, logFiles, maxLineBytes } from './files.ts';

/** A line and its position. */
export interface LocatedLine {
  readonly file: string;
  /** Counted from 1. */
  readonly number: number;
  /** Only the beginning if it is longer than any line of a log: a disk error may leave gigabytes without a line break. */
  readonly bytes: Buffer;
  /** The number of bytes in the file, without the line break. */
  readonly length: number;
  /** Has no line break: it is still being written, or its writer was killed. */
  readonly open: boolean;
}

const pieceBytes = 256 * 1024;

/** Every line of a log in the order of its chain. */
export async function* readLines(directory: string, name: string): AsyncGenerator<LocatedLine> {
  const done = new Set<string>();
  const current = currentFile(directory, name);
  const next = (): string | undefined => logFiles(directory, name).find((file) => !done.has(file));
  for (let file = next(); file !== undefined; file = next()) {
    try {
      yield* readFileLines(file);
    } catch (error) {
      // Finished or deleted since it was listed: list the files again.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue;
      throw error;
    }
    if (file === current) return;
    done.add(file);
  }
}

/** The lines of one file, from a byte on. */
export async function* readFileLines(file: string, from = 0): AsyncGenerator<LocatedLine> {
  const handle = await open(file, 'r');
  try {
    let number = 0;
    let line = new LineParts();
    for (let position = from; ; ) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const { bytesRead } = await handle.read(piece, 0, pieceBytes, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      let text = piece.subarray(0, bytesRead);
      for (let end = text.indexOf(0x0a); end !== -1; end = text.indexOf(0x0a)) {
        line.add(text.subarray(0, end));
        yield { file, number: ++number, bytes: line.bytes(), length: line.length, open: false };
        line = new LineParts();
        text = text.subarray(end + 1);
      }
      line.add(text);
    }
    const { length } = line;
    if (length > 0) yield { file, number: ++number, bytes: line.bytes(), length, open: length <= maxLineBytes };
  } finally {
    await handle.close();
  }
}

/** The parts of a line that were read so far. */
class LineParts {
  readonly #parts: Buffer[] = [];
  length = 0;

  add(part: Buffer): void {
    if (this.length <= maxLineBytes) this.#parts.push(part);
    this.length += part.length;
  }

  bytes(): Buffer {
    return this.#parts.length === 1 ? (this.#parts[0] as Buffer) : Buffer.concat(this.#parts);
  }
}
