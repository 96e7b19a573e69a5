// Writing a file so that a reader sees the old bytes or the new ones, and so that no link is ever written through:
// a fresh file in the same directory, flushed, then renamed over the name.

import { randomBytes } from 'node:crypto';
import { close, constants, fchmod, fsync, lstatSync, open, openSync, rename, unlink, write } from 'node:fs';
import { promisify } from 'node:util';
import { errnoOf, fileErrors } from './errors.ts';
import type { OwnFiles } from './own-files.ts';
import type { PathAccess, PathHandle } from './path-access.ts';

const openAsync = promisify(open);
const closeAsync = promisify(close);
const writeAsync = promisify(write);
const fsyncAsync = promisify(fsync);
const fchmodAsync = promisify(fchmod);
const renameAsync = promisify(rename);
const unlinkAsync = promisify(unlink);

const { O_CREAT, O_EXCL, O_WRONLY, O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0 } = constants;

/** Stores `data` under `name` in a directory the caller holds open until this is done. */
export async function writeInto(
  access: PathAccess,
  directory: PathHandle,
  name: string,
  data: Uint8Array,
  asked: string,
  options: { readonly mode?: number; readonly signal?: AbortSignal; readonly own: OwnFiles | undefined },
): Promise<void> {
  const target = `${directory.path}/${name}`;
  const previous = existing(target);
  if (options.own?.includes(directory.stats, name, previous)) throw fileErrors.notFound(asked, 'own');
  if (previous?.isDirectory()) throw fileErrors.wrongKind(asked, 'file');
  // The rename would merely replace a link or a device, but the caller believed to be changing a file.
  if (previous !== undefined && !previous.isFile()) throw fileErrors.special(asked, 'this is a link, device or pipe');
  if (!access.confirm(directory)) throw fileErrors.notFound(asked, 'moved');

  const temporary = `${directory.path}/.${randomBytes(12).toString('hex')}.tmp`;
  const fd = await openAsync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, options.mode ?? 0o666);
  try {
    try {
      // Permission bits of a file being replaced stay; set-user-id and its kin do not.
      if (previous !== undefined) await fchmodAsync(fd, options.mode ?? Number(previous.mode) & 0o777);
      for (let offset = 0; offset < data.length; ) {
        offset += (await writeAsync(fd, data, offset, data.length - offset)).bytesWritten;
        options.signal?.throwIfAborted();
      }
      await fsyncAsync(fd);
    } finally {
      await closeAsync(fd);
    }
    if (!access.confirm(directory)) throw fileErrors.notFound(asked, 'moved');
    options.signal?.throwIfAborted();
    await renameAsync(temporary, target);
  } catch (error) {
    await unlinkAsync(temporary).catch(() => {}); // The first error is the one worth telling.
    throw error;
  }
  await flushDirectory(directory.path);
}

function existing(path: string) {
  try {
    return lstatSync(path, { bigint: true });
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Makes the new name itself survive a power cut. Windows cannot flush directories and needs no such thing. */
async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const fd = openSync(path, O_RDONLY | O_DIRECTORY);
  try {
    await fsyncAsync(fd);
  } finally {
    await closeAsync(fd);
  }
}
