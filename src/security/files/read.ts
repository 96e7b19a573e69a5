// Reading ordinary files with a byte cap. Decides what "ordinary" means; how the file is found is in walk.ts.

import { closeSync, read } from 'node:fs';
import { nodeUtil } from '../../common/builtins.ts';
import { fileErrors } from './errors.ts';
import type { FileLimits } from './limits.ts';
import type { OwnFiles } from './own-files.ts';
import { isPseudo, type PathAccess, type PathHandle } from './path-access.ts';

const readChunk = nodeUtil().promisify(read);

/** Throws unless it is an ordinary file that this tree may show. Touches nothing. */
export function requireOrdinary(handle: PathHandle, requestedPath: string, limits: FileLimits): void {
  const { stats } = handle;
  if (stats.isDirectory()) throw fileErrors.wrongKind(requestedPath, 'file');
  if (!stats.isFile()) throw fileErrors.special(requestedPath, 'this is a device, pipe or socket');
  if (!limits.allowHardLinks && stats.nlink > 1n) {
    throw fileErrors.special(requestedPath, 'this file has another name (hard link) that may lie elsewhere');
  }
  if (!limits.allowPseudoFiles && isPseudo(handle)) {
    throw fileErrors.special(requestedPath, 'this file is on a pseudo file system of the kernel');
  }
}

/** Reads a file whole. The handle may be closed as soon as this function has returned its promise. */
export function readHandle(
  access: PathAccess,
  handle: PathHandle,
  requestedPath: string,
  maxBytes: number,
  signal: AbortSignal | undefined,
  own: OwnFiles | undefined,
): Promise<Buffer> {
  if (handle.stats.size > BigInt(maxBytes)) throw fileErrors.tooLarge(requestedPath, maxBytes);
  const fd = access.openFile(handle, own);
  if (fd === undefined) throw fileErrors.notFound(requestedPath, 'moved');
  return drain(fd, Number(handle.stats.size), maxBytes, requestedPath, signal).finally(() => closeSync(fd));
}

async function drain(
  fd: number,
  expected: number,
  maxBytes: number,
  requestedPath: string,
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
    if (total > maxBytes) throw fileErrors.tooLarge(requestedPath, maxBytes);
    if (bytesRead > 0) chunks.push(chunk.subarray(0, bytesRead));
    if (bytesRead === 0 || (expected > 0 && total <= expected && bytesRead < chunk.length)) break;
    chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes - total + 1));
  }
  return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, total);
}
