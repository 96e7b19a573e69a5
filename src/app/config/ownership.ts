// Whether somebody else could change a file or folder that decides what we run.

import { statSync } from 'node:fs';

/** Why a path is not to be trusted, and the remedy; undefined when nothing speaks against it. */
export function ownershipProblem(path: string): string | undefined {
  // Windows keeps access lists instead of modes; there the user's profile is closed to others.
  if (process.platform === 'win32') return undefined;
  const { uid, mode } = statSync(path);
  const me = process.getuid?.() ?? uid;
  if (uid !== me && uid !== 0) return 'belongs to another user, who could change what runs here; make a copy of yours';
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) {
    return `others may write it, and so decide what runs here; run: chmod go-w ${path}`;
  }
  return undefined;
}

/** Whether others may read a file. */
export function readableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o044) !== 0;
}
