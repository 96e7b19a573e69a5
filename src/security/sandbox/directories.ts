// Which directories a sandboxed program sees, and where it may stand. Paths are made real once, when the sandbox is
// made; what a request names is compared by components, never by text prefix.

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, normalize, relative, sep } from 'node:path';
import { sandboxErrors } from './errors.ts';
import type { Identity } from './identity.ts';

/** The directories of a policy as real paths. */
export interface Directories {
  readonly readOnly: readonly string[];
  readonly writable: readonly string[];
}

/** The private temporary directory, empty at each start. */
export const privateTmp = '/tmp';

/** True for `root` itself and whatever lies below it. Both must be absolute and normal. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Binding one of these, or a parent of one, would undo the walls. */
const neverBound = ['/', '/proc', '/sys', '/dev', '/run', '/etc', '/boot', '/usr', '/lib', '/bin', '/sbin'];

/** Makes the policy's directories real and refuses those that would open the sandbox or that its user cannot enter. */
export function resolveDirectories(
  wanted: { readonly readOnly?: readonly string[]; readonly writable?: readonly string[] },
  identity: Identity,
): Directories {
  const writable = (wanted.writable ?? []).map((path) => resolveDirectory(path, identity, true));
  const readOnly = (wanted.readOnly ?? []).map((path) => resolveDirectory(path, identity, false));
  // What lies in a writable directory can be moved away by one run and replaced by a link that the next run follows.
  const trapped = readOnly.find((path) => writable.some((root) => isInside(path, root)));
  if (trapped !== undefined) throw sandboxErrors.directoryRefused('lies inside a writable directory', trapped);
  return {
    readOnly,
    writable: writable.filter((path) => !writable.some((root) => root !== path && isInside(path, root))),
  };
}

/**
 * Remembers which directories these are, and gives a check for each later start: a path that has come to mean another
 * directory, or leads through a link, is refused.
 */
export function pinDirectories({ readOnly, writable }: Directories): () => void {
  const pins = [...readOnly, ...writable].map((path) => ({ path, ...identify(path) }));
  return () => {
    for (const { path, dev, ino } of pins) {
      const now = identify(path);
      if (now.dev !== dev || now.ino !== ino) {
        throw sandboxErrors.directoryRefused('was replaced since the server started', path, 'Restart the server.');
      }
    }
  };
}

function identify(path: string): { dev: number; ino: number } {
  try {
    if (realpathSync(path) !== path) return { dev: -1, ino: -1 };
    const { dev, ino } = statSync(path);
    return { dev, ino };
  } catch {
    return { dev: -1, ino: -1 }; // Gone, or closed to us: no longer what it was.
  }
}

function resolveDirectory(path: string, identity: Identity, write: boolean): string {
  if (!isAbsolute(path) || path.includes('\0')) throw sandboxErrors.directoryRefused('not an absolute path', path);
  let real: string;
  try {
    real = realpathSync(path);
  } catch (cause) {
    throw sandboxErrors.directoryRefused(`cannot be opened: ${(cause as NodeJS.ErrnoException).code}`, path);
  }
  if (!statSync(real).isDirectory()) throw sandboxErrors.directoryRefused('not a directory', path);
  const opens = neverBound.some((place) => isInside(place, real) || (write && place !== '/' && isInside(real, place)));
  if (opens || ['/proc', '/sys', '/dev'].some((place) => isInside(real, place))) {
    throw sandboxErrors.directoryRefused('part of the system', path);
  }
  checkReach(real, identity, write);
  return real;
}

/** The sandbox's user must be able to walk to the directory; a clear word now is better than a failing mount later. */
function checkReach(path: string, identity: Identity, write: boolean): void {
  if (!identity.changes) {
    try {
      accessSync(path, constants.R_OK | constants.X_OK | (write ? constants.W_OK : 0));
      return;
    } catch {
      throw sandboxErrors.directoryRefused(write ? 'not writable' : 'not readable', path);
    }
  }
  const remedy = `Give the directory to user ${identity.uid}, or set runAs to a user that may use it.`;
  for (let step = path; step !== '/'; step = dirname(step)) {
    const needed = step === path ? (write ? 0o7 : 0o5) : 0o1;
    if (!grants(step, identity, needed)) {
      throw sandboxErrors.directoryRefused(`user ${identity.uid} has no way through ${step}`, path, remedy);
    }
  }
}

/** Whether the sandbox's user can walk to and into a directory. */
export function mayEnter(path: string, identity: Identity): boolean {
  if (!identity.changes) return true;
  for (let step = path; step !== '/'; step = dirname(step)) if (!grants(step, identity, 0o1)) return false;
  return true;
}

/** Permission bits alone: the sandbox's user has no other group and no capability. */
function grants(path: string, { uid, gid }: Identity, needed: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(path);
  const bits = owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode;
  return (bits & needed) === needed;
}

/**
 * The working directory of a request. At the kernel level links are followed inside the sandbox, where what is not
 * bound does not exist, so a normal path is enough. Below it /tmp is everybody's, and only named directories count.
 */
export function admitWorkingDirectory(
  wanted: string | undefined,
  { readOnly, writable }: Directories,
  hasPrivateTmp: boolean,
): string {
  if (wanted === undefined) return writable[0] ?? privateTmp;
  if (!isAbsolute(wanted) || wanted.includes('\0')) {
    throw sandboxErrors.directoryRefused('not an absolute path', wanted);
  }
  const path = normalize(wanted);
  const roots = [...writable, ...readOnly, ...(hasPrivateTmp ? [privateTmp] : [])];
  if (!roots.some((root) => isInside(path, root))) {
    throw sandboxErrors.directoryRefused('outside the allowed directories', wanted);
  }
  return path;
}
