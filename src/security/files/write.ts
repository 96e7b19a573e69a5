// Writing a file so that a reader sees the old bytes or the new ones, and so that no link is ever written through:
// a fresh file in the same directory, flushed, then renamed over the name.

import { randomBytes } from 'node:crypto';
import { type BigIntStats, close, constants, fchmod, fsync, open, renameSync, unlink, write } from 'node:fs';
import { nodeUtil } from '../../common/builtins.ts';
import { existing, flushDirectory } from './directory.ts';
import { fileErrors } from './errors.ts';
import type { OwnFiles } from './own-files.ts';
import type { PathAccess, PathHandle } from './path-access.ts';

const { promisify } = nodeUtil();
const openAsync = promisify(open);
const closeAsync = promisify(close);
const writeAsync = promisify(write);
const fsyncAsync = promisify(fsync);
const fchmodAsync = promisify(fchmod);
const unlinkAsync = promisify(unlink);

const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW = 0 } = constants;

export interface WriteIntoOptions {
  readonly mode?: number;
  readonly signal?: AbortSignal;
  readonly own: OwnFiles | undefined;
  /** The file that was read before: the write fails if another one, or a newer version of it, is there. */
  readonly expected?: BigIntStats;
}

/** Stores `data` under `name` in a directory the caller holds open until this is done; returns whether it is new. */
export async function writeInto(
  access: PathAccess,
  directory: PathHandle,
  name: string,
  data: Uint8Array,
  requestedPath: string,
  options: WriteIntoOptions,
): Promise<{ readonly created: boolean }> {
  const target = `${directory.path}/${name}`;
  const previous = existing(target);
  if (options.own?.includes(directory.stats, name, previous)) throw fileErrors.notFound(requestedPath, 'own');
  if (previous?.isDirectory()) throw fileErrors.wrongKind(requestedPath, 'file');
  // The rename would merely replace a link or a device, but the caller believed to be changing a file.
  if (previous !== undefined && !previous.isFile())
    throw fileErrors.special(requestedPath, 'this is a link, device or pipe');
  if (!access.confirm(directory)) throw fileErrors.notFound(requestedPath, 'moved');

  const temporary = `${directory.path}/.${randomBytes(12).toString('hex')}.tmp`;
  const fd = await openAsync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, options.mode ?? 0o666);
  try {
    try {
      // Permission bits of a file being replaced stay; set-user-id, set-group-id and sticky bits do not.
      if (previous !== undefined) await fchmodAsync(fd, options.mode ?? Number(previous.mode) & 0o777);
      for (let offset = 0; offset < data.length; ) {
        offset += (await writeAsync(fd, data, offset, data.length - offset)).bytesWritten;
        options.signal?.throwIfAborted();
      }
      await fsyncAsync(fd);
    } finally {
      await closeAsync(fd);
    }
    if (!access.confirm(directory)) throw fileErrors.notFound(requestedPath, 'moved');
    options.signal?.throwIfAborted();
    const { expected } = options;
    if (expected !== undefined && !isSameVersion(expected, existing(target))) throw fileErrors.changed(requestedPath);
    // Synchronous: no other write of this process comes between the comparison and the rename.
    renameSync(temporary, target);
  } catch (error) {
    await unlinkAsync(temporary).catch(() => {}); // The first error is the one worth telling.
    throw error;
  }
  await flushDirectory(directory.path);
  return { created: previous === undefined };
}

const isSameVersion = (expected: BigIntStats, now: BigIntStats | undefined): boolean =>
  now !== undefined &&
  now.ino === expected.ino &&
  now.dev === expected.dev &&
  now.size === expected.size &&
  now.mtimeNs === expected.mtimeNs;
