// Whether other users could change a file or folder that decides what runs.

import { statSync } from 'node:fs';

/** Why a path is not safe, and how to fix it; undefined if it is safe. */
export function ownershipProblem(path: string): string | undefined {
  // Windows uses access lists instead of modes; other users cannot access the user's profile there.
  if (process.platform === 'win32') return undefined;
  const { uid, mode } = statSync(path);
  const me = process.getuid?.() ?? uid;
  if (uid !== me && uid !== 0)
    return 'belongs to another user, who could change what runs here; use a copy that you own';
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) {
    return `other users can write to it and change what runs here; run: chmod go-w ${path}`;
  }
  return undefined;
}

/** Whether other users can read a file. */
export function readableByOthers(path: string): boolean {
  return process.platform !== 'win32' && (statSync(path).mode & 0o044) !== 0;
}
