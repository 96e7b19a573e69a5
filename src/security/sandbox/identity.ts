// The user of a sandboxed program, as seen from the host. As root we use a private user number: root's files stay closed,
// and the kernel limits processes per user only for users other than root.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { release } from 'node:os';
import { sandboxErrors } from './errors.ts';

/** The user and group that the host sees. */
export interface SandboxIdentity {
  readonly uid: number;
  readonly gid: number;
  /** We are root and switch to another user for the start. */
  readonly changes: boolean;
  /** No other user of this machine has the number. */
  readonly isPrivate: boolean;
}

/** User numbers of systemd's DynamicUser range, for users that exist only while a service runs; mapped in containers too. */
const firstPrivateUser = 61_184;
const lastPrivateUser = 65_519;

/** Decides once per sandbox. Uses the owner of the first writable directory if it is not root, because it can write there. */
export function chooseIdentity(
  runAs: { readonly uid: number; readonly gid: number } | undefined,
  writable: readonly string[] = [],
): SandboxIdentity {
  const ours = process.getuid?.() ?? -1;
  const group = process.getgid?.() ?? -1;
  if (ours !== 0) {
    if (runAs !== undefined && runAs.uid !== ours) {
      throw sandboxErrors.levelUnavailable(
        'kernel',
        `only root can run programs as user ${runAs.uid}`,
        'Remove runAs.',
      );
    }
    return { uid: ours, gid: group, changes: false, isPrivate: false };
  }
  if (runAs !== undefined) {
    if (runAs.uid === 0 || runAs.gid === 0) {
      throw sandboxErrors.levelUnavailable(
        'kernel',
        'a sandboxed program is never root',
        'Choose another user for runAs.',
      );
    }
    return { ...runAs, changes: true, isPrivate: false };
  }
  const owner = ownerOf(writable[0]);
  if (owner !== undefined && owner.uid !== 0 && owner.gid !== 0) {
    return { ...owner, changes: true, isPrivate: false };
  }
  const uid = freeUser();
  return { uid, gid: uid, changes: true, isPrivate: true };
}

function ownerOf(path: string | undefined): { uid: number; gid: number } | undefined {
  if (path === undefined) return undefined;
  try {
    const { uid, gid } = statSync(path);
    return { uid, gid };
  } catch {
    return undefined; // Missing directories are reported by the check of directories.
  }
}

/** A number in the private range that no running process has; random, so that two servers rarely choose the same. */
function freeUser(): number {
  const taken = usersOfProcesses();
  const size = lastPrivateUser - firstPrivateUser + 1;
  const start = Math.floor(Math.random() * size);
  for (let step = 0; step < size; step++) {
    const candidate = firstPrivateUser + ((start + step) % size);
    if (!taken.has(candidate)) return candidate;
  }
  throw sandboxErrors.levelUnavailable('kernel', 'no free user number', 'Set runAs.');
}

function usersOfProcesses(): Set<number> {
  const users = new Set<number>();
  for (const entry of existsSync('/proc') ? readdirSync('/proc') : []) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      users.add(statSync(`/proc/${entry}`).uid);
    } catch {
      // The process ended during the scan.
    }
  }
  return users;
}

/**
 * Whether RLIMIT_NPROC would count only this tree: the user is private, or the program has its own user namespace on a
 * kernel that counts per namespace. Otherwise it would count all processes of the user, so the watchdog counts instead.
 */
export function limitCountsOnlyTree(
  identity: SandboxIdentity,
  options: { ownNamespace: boolean; kernelRelease?: string },
): boolean {
  if (identity.isPrivate) return true;
  const [major = 0, minor = 0] = (options.kernelRelease ?? release())
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return options.ownNamespace && (major > 5 || (major === 5 && minor >= 14));
}
