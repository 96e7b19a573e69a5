// Files and folders inside visible directories that sandboxed programs must not see: the server's own data, keys and
// settings. Empty mounts cover them, also if a bind mount shows them under a second path.

import { mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isInside } from '../files/is-inside.ts';
import type { HiddenPaths } from './contract.ts';
import { type Directories, mayEnter } from './directories.ts';
import { sandboxErrors } from './errors.ts';
import type { SandboxIdentity } from './identity.ts';
import { systemDirectories } from './programs.ts';

/** One line of the kernel's mount table. */
export interface Mount {
  /** Number of the file system. */
  readonly device: string;
  /** The directory or file of that file system that is mounted. */
  readonly root: string;
  /** Where it is mounted. */
  readonly point: string;
}

interface Covered {
  readonly path: string;
  readonly kind: 'folder' | 'file';
}

/** Throws when a directory of the policy is in a hidden folder: there would be nothing left to show. */
export function rejectHidden({ readOnly, writable }: Directories, { folders }: HiddenPaths): void {
  const hidden = folders.flatMap(realPathOf);
  const wrong = [...readOnly, ...writable].find((path) => hidden.some((folder) => isInside(path, folder)));
  if (wrong !== undefined) throw sandboxErrors.directoryNotAllowed('it belongs to the server itself', wrong);
}

/** The bubblewrap options that cover hidden paths, for one run. They follow those that bind the directories. */
export function hiddenArguments(
  { folders, files }: HiddenPaths,
  { readOnly, writable }: Directories,
  identity: SandboxIdentity,
  mounts = readMounts(),
): string[] {
  const visible = [...readOnly, ...writable, ...systemDirectories];
  const isVisible = (path: string): boolean => visible.some((directory) => isInside(path, directory));
  for (const folder of folders) if (isVisible(folder)) makeFolder(folder);
  const covered = [
    ...folders.flatMap(realPathOf).map((path) => ({ path, kind: 'folder' }) as const),
    ...files.flatMap(realPathOf).map((path) => ({ path, kind: 'file' }) as const),
  ].flatMap((each) => [each, ...secondPaths(each, mounts)]);
  return (
    covered
      .filter(({ path }) => isVisible(path) && visible.every((directory) => !isInside(directory, path)))
      .filter(({ path }) => !covered.some((other) => other.path !== path && isInside(path, other.path)))
      .filter(({ path }, index, all) => all.findIndex((other) => other.path === path) === index)
      // What its user cannot access needs no cover, and bubblewrap, which runs as that user, could not mount one there.
      .filter(({ path }) => mayEnter(dirname(path), identity))
      .flatMap(({ path, kind }) =>
        kind === 'folder'
          ? ['--perms', '0555', '--size', '4096', '--tmpfs', path, '--remount-ro', path]
          : ['--ro-bind', '/dev/null', path],
      )
  );
}

/** A folder must exist to mount something on it, and the server may create it while a program runs. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch {
    // Then the server cannot create it either.
  }
}

/** Other paths of the same file or folder, according to the mount table. */
export function secondPaths({ path, kind }: Covered, mounts: readonly Mount[]): Covered[] {
  const home = mounts
    .filter(({ point }) => isInside(path, point))
    .reduce<Mount | undefined>(
      (best, each) => (best && best.point.length > each.point.length ? best : each),
      undefined,
    );
  if (home === undefined) return [];
  const inner = join(home.root, relative(home.point, path));
  return mounts
    .flatMap((mount): Covered[] => {
      if (mount === home || mount.device !== home.device) return [];
      if (isInside(inner, mount.root)) return [{ path: join(mount.point, relative(mount.root, inner)), kind }];
      // A part of a hidden folder that is mounted separately.
      return isInside(mount.root, inner)
        ? [{ path: mount.point, kind: isFolder(mount.point) ? 'folder' : 'file' }]
        : [];
    })
    .filter((each) => each.path !== path && exists(each.path));
}

/** The mounts of this process; later ones cover earlier ones. */
function readMounts(): Mount[] {
  return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
}

/** proc_pid_mountinfo(5): `36 35 98:0 /root /point options … - type source options`, with spaces and such in octal. */
export function parseMounts(text: string): Mount[] {
  const decode = (field: string): string =>
    field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
  return text.split('\n').flatMap((line) => {
    const [, , device, root, point] = line.split(' ');
    return device && root && point ? [{ device, root: decode(root), point: decode(point) }] : [];
  });
}

function realPathOf(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return []; // It does not exist, so there is nothing to hide.
  }
}

const exists = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
