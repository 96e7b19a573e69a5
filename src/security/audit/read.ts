// Reads the lines of a log, file by file, without holding more than one piece of it in memory.

import { open } from 'node:fs/promises';
import { currentFile, logFiles } from './files.ts';

/** A line and its position. */
export interface LocatedLine {
  readonly file: string;
  /** Counted from 1. */
  readonly number: number;
  readonly bytes: Buffer;
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
    let rest = Buffer.alloc(0);
    let number = 0;
    for (let position = from; ; ) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const { bytesRead } = await handle.read(piece, 0, pieceBytes, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      let text = rest.length === 0 ? piece.subarray(0, bytesRead) : Buffer.concat([rest, piece.subarray(0, bytesRead)]);
      for (let end = text.indexOf(0x0a); end !== -1; end = text.indexOf(0x0a)) {
        yield { file, number: ++number, bytes: text.subarray(0, end), open: false };
        text = text.subarray(end + 1);
      }
      rest = text;
    }
    if (rest.length > 0) yield { file, number: ++number, bytes: rest, open: true };
  } finally {
    await handle.close();
  }
}
