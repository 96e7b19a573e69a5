// Which directories a sandboxed program can access, and its working directory. Paths are resolved once, when the sandbox
// is created; paths of a request are compared by components, never by text prefix.

import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, normalize } from 'node:path';
import { isInside } from '../files/is-inside.ts';
import { sandboxErrors } from './errors.ts';
import type { SandboxIdentity } from './identity.ts';

/** The directories of a policy as real paths. */
export interface Directories {
  readonly readOnly: readonly string[];
  readonly writable: readonly string[];
}

/** The private temporary directory, empty at each start. */
export const privateTmp = '/tmp';

/** Binding one of these, or a parent of one, would break the isolation. */
const neverBound = ['/', '/proc', '/sys', '/dev', '/run', '/etc', '/boot', '/usr', '/lib', '/bin', '/sbin'];

/** Resolves the policy's directories and rejects those that would open the sandbox or that its user cannot enter. */
export function resolveDirectories(
  wanted: { readonly readOnly?: readonly string[]; readonly writable?: readonly string[] },
  identity: SandboxIdentity,
): Directories {
  const writable = (wanted.writable ?? []).map((path) => resolveDirectory(path, identity, true));
  const readOnly = (wanted.readOnly ?? []).map((path) => resolveDirectory(path, identity, false));
  // One run could move away a directory inside a writable one and replace it by a link that the next run follows.
  const trapped = readOnly.find((path) => writable.some((root) => isInside(path, root)));
  if (trapped !== undefined) throw sandboxErrors.directoryNotAllowed('is inside a writable directory', trapped);
  return {
    readOnly,
    writable: writable.filter((path) => !writable.some((root) => root !== path && isInside(path, root))),
  };
}

/**
 * Records the identity of these directories, and returns a check for each later start: a path that now leads to another
 * directory, or through a link, is rejected.
 */
export function pinDirectories({ readOnly, writable }: Directories): () => void {
  const pins = [...readOnly, ...writable].map((path) => ({ path, ...identify(path) }));
  return () => {
    for (const { path, dev, ino } of pins) {
      const now = identify(path);
      if (now.dev !== dev || now.ino !== ino) {
        throw sandboxErrors.directoryNotAllowed('was replaced after the server started', path, 'Restart the server.');
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
    return { dev: -1, ino: -1 }; // Deleted, or no longer accessible.
  }
}

function resolveDirectory(path: string, identity: SandboxIdentity, write: boolean): string {
  if (!isAbsolute(path) || path.includes('\0'))
    throw sandboxErrors.directoryNotAllowed('it is not an absolute path', path);
  let real: string;
  try {
    real = realpathSync(path);
  } catch (cause) {
    throw sandboxErrors.directoryNotAllowed(`it cannot be opened: ${(cause as NodeJS.ErrnoException).code}`, path);
  }
  if (!statSync(real).isDirectory()) throw sandboxErrors.directoryNotAllowed('not a directory', path);
  const opens = neverBound.some((place) => isInside(place, real) || (write && place !== '/' && isInside(real, place)));
  if (opens || ['/proc', '/sys', '/dev'].some((place) => isInside(real, place))) {
    throw sandboxErrors.directoryNotAllowed('it is part of the system', path);
  }
  checkReach(real, identity, write);
  return real;
}

/** The sandbox's user must be able to enter the directory; a clear message now is better than a failing mount later. */
function checkReach(path: string, identity: SandboxIdentity, write: boolean): void {
  if (!identity.changes) {
    try {
      accessSync(path, constants.R_OK | constants.X_OK | (write ? constants.W_OK : 0));
      return;
    } catch {
      throw sandboxErrors.directoryNotAllowed(write ? 'not writable' : 'not readable', path);
    }
  }
  // A private user is another one at each start, so it cannot be made the owner.
  const owner = identity.isPrivate ? 'a user other than root' : `user ${identity.uid}`;
  const remedy = `Make ${owner} the owner of the directory, or set runAs to a user that has access to it and to the folders above.`;
  for (let step = path; step !== '/'; step = dirname(step)) {
    const needed = step === path ? (write ? 0o7 : 0o5) : 0o1;
    if (!grants(step, identity, needed)) {
      throw sandboxErrors.directoryNotAllowed(`user ${identity.uid} has no access to ${step}`, path, remedy);
    }
  }
}

/** Whether the sandbox's user can enter a directory and all of its parents. */
export function mayEnter(path: string, identity: SandboxIdentity): boolean {
  if (!identity.changes) return true;
  for (let step = path; step !== '/'; step = dirname(step)) if (!grants(step, identity, 0o1)) return false;
  return true;
}

/** Only permission bits count: the sandbox's user has no other group and no capability. */
function grants(path: string, { uid, gid }: SandboxIdentity, needed: number): boolean {
  const { mode, uid: owner, gid: group } = statSync(path);
  const bits = owner === uid ? mode >> 6 : group === gid ? mode >> 3 : mode;
  return (bits & needed) === needed;
}

/**
 * The working directory of a request. At the kernel level links are followed inside the sandbox, where paths that are not
 * bound do not exist, so a normalized path is enough. Below it /tmp is shared, and only the policy's directories count.
 */
export function admitWorkingDirectory(
  wanted: string | undefined,
  { readOnly, writable }: Directories,
  hasPrivateTmp: boolean,
): string {
  if (wanted === undefined) return writable[0] ?? privateTmp;
  if (!isAbsolute(wanted) || wanted.includes('\0')) {
    throw sandboxErrors.directoryNotAllowed('it is not an absolute path', wanted);
  }
  const path = normalize(wanted);
  const roots = [...writable, ...readOnly, ...(hasPrivateTmp ? [privateTmp] : [])];
  if (!roots.some((root) => isInside(path, root))) {
    throw sandboxErrors.directoryNotAllowed('it is outside the allowed directories', wanted);
  }
  return path;
}
