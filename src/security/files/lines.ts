// Some lines of a file, without reading all of it: the first ones, those from a given line on, or the last ones.

import { closeSync, read } from 'node:fs';
import { nodeUtil } from '../../common/builtins.ts';
import { fileErrors } from './errors.ts';

const readChunk = nodeUtil().promisify(read);
const chunkBytes = 64 * 1024;
const newline = 0x0a;

/** Which lines: `head` of them starting with line `from`, or the last `tail`. */
export interface LinesOptions {
  /** The first line, counted from 1. */
  readonly from?: number;
  /** How many lines; default: up to the end. */
  readonly head?: number;
  /** The last lines instead. */
  readonly tail?: number;
  /** Never above `maxFileBytes` of the tree, which is the default. */
  readonly maxBytes?: number;
  /** Stops reading when aborted. */
  readonly signal?: AbortSignal;
}

interface LinesContext {
  readonly requestedPath: string;
  /** Bytes that may be returned. */
  readonly maxBytes: number;
  /** Bytes that may be skipped to get there. */
  readonly maxSkippedBytes: number;
}

/** Reads the lines from a descriptor and closes it. The last line has no line break. */
export async function readLines(
  fd: number,
  size: number,
  options: LinesOptions,
  context: LinesContext,
): Promise<Buffer> {
  try {
    const { tail } = options;
    return tail === undefined
      ? await readForward(fd, options, context)
      : await readBackward(fd, size, tail, options, context);
  } finally {
    closeSync(fd);
  }
}

async function readForward(
  fd: number,
  { from = 1, head = Number.POSITIVE_INFINITY, signal }: LinesOptions,
  { requestedPath, maxBytes, maxSkippedBytes }: LinesContext,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let line = 1;
  let skipped = 0;
  let kept = 0;
  for (let position = 0; line < from + head; ) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const { bytesRead } = await readChunk(fd, chunk, 0, chunkBytes, position);
    signal?.throwIfAborted();
    if (bytesRead === 0) break;
    position += bytesRead;
    const data = chunk.subarray(0, bytesRead);
    let start = 0;
    for (; line < from && start < data.length; line++) {
      const end = data.indexOf(newline, start);
      if (end === -1) break;
      start = end + 1;
    }
    if (line < from) start = data.length;
    let end = start;
    while (line >= from && line < from + head && end < data.length) {
      const next = data.indexOf(newline, end);
      if (next === -1) end = data.length;
      else [end, line] = [next + 1, line + 1];
    }
    skipped += start;
    kept += end - start;
    if (kept > maxBytes) throw fileErrors.tooLarge(requestedPath, maxBytes);
    if (skipped > maxSkippedBytes) throw fileErrors.tooLarge(requestedPath, maxSkippedBytes);
    parts.push(data.subarray(start, end));
  }
  return withoutLineBreak(Buffer.concat(parts, kept));
}

async function readBackward(
  fd: number,
  size: number,
  tail: number,
  { signal }: LinesOptions,
  { requestedPath, maxBytes }: LinesContext,
): Promise<Buffer> {
  const parts: Buffer[] = [];
  let kept = 0;
  let found = 0;
  for (let position = size; position > 0; ) {
    const length = Math.min(chunkBytes, position);
    position -= length;
    const chunk = Buffer.allocUnsafe(length);
    const { bytesRead } = await readChunk(fd, chunk, 0, length, position);
    signal?.throwIfAborted();
    if (bytesRead < length) throw fileErrors.changed(requestedPath); // Cut short by another program.
    let start = length;
    // The line break at the very end belongs to the last line.
    if (position + length === size && chunk[length - 1] === newline) start--;
    for (; start > 0; start--) {
      if (chunk[start - 1] === newline && ++found === tail) break;
    }
    const part = chunk.subarray(start);
    kept += part.length;
    if (kept > maxBytes) throw fileErrors.tooLarge(requestedPath, maxBytes);
    parts.unshift(part);
    if (found === tail) break;
  }
  return withoutLineBreak(Buffer.concat(parts, kept));
}

const withoutLineBreak = (bytes: Buffer): Buffer => (bytes.at(-1) === newline ? bytes.subarray(0, -1) : bytes);
