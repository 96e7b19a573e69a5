// Whether other users could change a file or folder that decides what runs.

import { constants, type Stats, statSync } from 'node:fs';
import { hasModes } from '../../common/file-modes.ts';

/** Why a path is not safe, and how to fix it; undefined if it is safe. */
export function ownershipProblem(path: string): string | undefined {
  if (!hasModes) return undefined;
  const stats = statSync(path);
  const { uid } = stats;
  const me = process.getuid?.() ?? uid;
  if (uid !== me && uid !== 0)
    return 'belongs to another user, who could change what runs here; use a copy that you own';
  if (othersCanWrite(stats)) {
    return `other users can write to it and change what runs here; run: chmod go-w ${path}`;
  }
  return undefined;
}

/**
 * Whether users besides the owner can write. A file must not be writable for a group either, unless the group has the same number
 * as the owner: most Linux distributions create such a group for each user, and with umask 002 it can write every new file.
 * Folders of a group are common where volumes are mounted into containers.
 */
export function othersCanWrite({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>): boolean {
  // In a folder such as /tmp, only the owner of a file can replace it.
  if ((mode & 0o1000) !== 0) return false;
  const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
  return (mode & 0o002) !== 0 || (isFile && (mode & 0o020) !== 0 && gid !== uid);
}

/** Whether other users can read a file. */
export function readableByOthers(path: string): boolean {
  return hasModes && (statSync(path).mode & 0o044) !== 0;
}
