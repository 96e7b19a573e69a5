// Reading ordinary files with a byte cap. Decides what "ordinary" means; how the file is found is in walk.ts.

import { closeSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { fileErrors } from './errors.ts';
import type { FileLimits } from './limits.ts';
import type { OwnFiles } from './own-files.ts';
import { isPseudo, type PathAccess, type PathHandle } from './path-access.ts';

const readChunk = promisify(read);

/** Throws unless the place is an ordinary file that this tree may show. Touches nothing. */
export function requireOrdinary(place: PathHandle, asked: string, limits: FileLimits): void {
  const { stats } = place;
  if (stats.isDirectory()) throw fileErrors.wrongKind(asked, 'file');
  if (!stats.isFile()) throw fileErrors.special(asked, 'this is a device, pipe or socket');
  if (!limits.allowHardLinks && stats.nlink > 1n) {
    throw fileErrors.special(asked, 'this file has another name (hard link) that may lie elsewhere');
  }
  if (!limits.allowPseudoFiles && isPseudo(place)) {
    throw fileErrors.special(asked, 'this file is a window into the operating system');
  }
}

/** Reads the place's file whole. The place may be closed as soon as this function has returned its promise. */
export function readHandle(
  access: PathAccess,
  place: PathHandle,
  asked: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
  own: OwnFiles | undefined,
): Promise<Buffer> {
  if (place.stats.size > BigInt(maxBytes)) throw fileErrors.tooLarge(asked, maxBytes);
  const fd = access.openFile(place, own);
  if (fd === undefined) throw fileErrors.notFound(asked, 'moved');
  return drain(fd, Number(place.stats.size), maxBytes, asked, signal).finally(() => closeSync(fd));
}

async function drain(
  fd: number,
  expected: number,
  maxBytes: number,
  asked: string,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  // One byte more than expected: a short read then proves the end of the file and saves a second call.
  let chunk = Buffer.allocUnsafe(Math.min(expected, maxBytes) + 1);
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const { bytesRead } = await readChunk(fd, chunk, 0, chunk.length, null);
    signal?.throwIfAborted();
    total += bytesRead;
    // The file may have grown, or be of "size 0" and endless: the cap counts bytes, not promises.
    if (total > maxBytes) throw fileErrors.tooLarge(asked, maxBytes);
    if (bytesRead > 0) chunks.push(chunk.subarray(0, bytesRead));
    if (bytesRead === 0 || (expected > 0 && total <= expected && bytesRead < chunk.length)) break;
    chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes - total + 1));
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, total);
}
