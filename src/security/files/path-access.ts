// The two ways to hold a file system object while it is checked. `proc` (Linux) holds a descriptor of every
// object on the way, so a name that is swapped afterwards changes nothing. `checked` (elsewhere) compares before and
// after. How a path is walked is in walk.ts; this file only takes single steps.

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statfsSync,
} from 'node:fs';
import { sep } from 'node:path';
import type { OwnFiles } from './own-files.ts';

/** An object that a walk has reached. Close it when done. */
export interface PathHandle {
  /** A path that leads to exactly this object while the handle is open. */
  readonly path: string;
  readonly stats: BigIntStats;
  close(): void;
}

/** How to step from object to object without ever following a link on the way. */
export interface PathAccess {
  /** Holds a directory given by its real path; `undefined` if the path contains a link now. */
  enter(realPath: string): PathHandle | undefined;
  /** One name further. A symbolic link is returned as itself. Throws the system's error when nothing is there. */
  step(from: PathHandle, name: string): PathHandle;
  /**
   * Opens an ordinary file for reading: the very object that was checked, or `undefined`. A descriptor of an
   * own file is never closed again (see `own-files.ts`).
   */
  openFile(handle: PathHandle, own?: OwnFiles): number | undefined;
  /** Whether the path of the handle still leads to the object, for those about to create something below it. */
  confirm(handle: PathHandle): boolean;
}

// Linux's O_PATH, which Node does not name: a descriptor that locates an object without opening it. No FIFO blocks, no
// device is touched, no read permission is needed on folders. The value is the same on every architecture Node runs on.
const O_PATH = 0o10000000;
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0, O_RDONLY } = constants;
const readFlags = O_RDONLY | O_NONBLOCK | O_NOCTTY;

function hold(fd: number): PathHandle {
  try {
    return { path: `/proc/self/fd/${fd}`, stats: fstatSync(fd, { bigint: true }), close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Descriptors all the way, with `/proc/self/fd/N/name` as the `openat` that Node lacks. Free of races. */
export const procPathAccess: PathAccess = {
  enter(realPath) {
    const handle = hold(openSync(realPath, O_PATH | O_NOFOLLOW | O_DIRECTORY));
    // The kernel says where the opened directory is; another answer means that a parent has become a link.
    if (readlinkSync(handle.path) === realPath) return handle;
    handle.close();
    return undefined;
  },
  step: (from, name) => hold(openSync(`${from.path}/${name}`, O_PATH | O_NOFOLLOW)),
  openFile: (handle) => openSync(handle.path, readFlags),
  confirm: () => true,
};

// macOS can reject links in every component of a path, which closes the race there as well; elsewhere 0.
const O_NOFOLLOW_ANY = process.platform === 'darwin' ? 0x20000000 : O_NOFOLLOW;

const same = (a: BigIntStats, b: BigIntStats): boolean => a.dev === b.dev && a.ino === b.ino;

/**
 * Real paths, compared before and after the open. A swap must hit between several system calls in the right order to
 * get through, and then the object's identity gives it away; unlike `procPathAccess` this is a narrow window, not none.
 */
export const checkedPathAccess: PathAccess = {
  enter(realPath) {
    const handle = { path: realPath, stats: lstatSync(realPath, { bigint: true }), close: () => {} };
    return checkedPathAccess.confirm(handle) ? handle : undefined;
  },
  step(from, name) {
    const path = from.path.endsWith(sep) ? from.path + name : from.path + sep + name;
    return { path, stats: lstatSync(path, { bigint: true }), close: () => {} };
  },
  openFile(handle, own) {
    const fd = openSync(handle.path, readFlags | O_NOFOLLOW_ANY);
    const opened = fstatSync(fd, { bigint: true });
    // The name was replaced by one of an own file between check and open. Closing it would drop SQLite's locks, so
    // this one descriptor stays open until the process ends; nothing was read from it.
    if (own?.has(opened)) return undefined;
    try {
      if (same(opened, handle.stats) && checkedPathAccess.confirm(handle)) return fd;
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    return undefined;
  },
  confirm: (handle) =>
    realpathSync.native(handle.path) === handle.path && same(lstatSync(handle.path, { bigint: true }), handle.stats),
};

/** The strongest footing this machine offers. */
export function bestPathAccess(): PathAccess {
  if (process.platform !== 'linux') return checkedPathAccess;
  try {
    const slash = procPathAccess.enter('/');
    slash?.close();
    return slash ? procPathAccess : checkedPathAccess;
  } catch {
    return checkedPathAccess; // No /proc here (a bare chroot): the comparison still works.
  }
}

// File systems that are windows into the kernel: their "files" reveal processes, devices and the host, are of size
// 0 and may never end. From linux/magic.h.
const pseudoFileSystems = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0xcafe4a11, // bpf
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0x62656570, // configfs
  0x42494e4d, // binfmt_misc
  0x6e736673, // nsfs
  0xf97cff8c, // selinuxfs
  0x19800202, // mqueue
  0x1cd1, // devpts
]);

/** Whether a handle is on one of the kernel's pseudo file systems. */
export const isPseudo = (handle: PathHandle): boolean =>
  process.platform === 'linux' && pseudoFileSystems.has(statfsSync(handle.path).type >>> 0);
