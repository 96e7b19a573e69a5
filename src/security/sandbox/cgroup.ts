// Control groups: the kernel's own account of a whole tree, exact where the watchdog only looks now and then. Used
// where this process may make one (root, or a delegated subtree); version 2 and the older version 1 both.

import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SandboxLimits } from './limits.ts';

/** A group around one tree. */
export interface ControlGroup {
  /** Moves a process in; what it forks later is inside from birth. */
  attach(pid: number): Promise<void>;
  /** The kernel has ended a process of the tree for want of memory. */
  ranOutOfMemory(): Promise<boolean>;
  /** Only an empty group can be removed. */
  remove(): Promise<void>;
}

/** A place where groups can be made. */
export interface ControlGroupHome {
  readonly version: 1 | 2;
  readonly directories: readonly string[];
  create(limits: SandboxLimits): Promise<ControlGroup>;
}

interface Mount {
  readonly root: string;
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** The kernel's account of where this process stands; replaced in tests. */
export interface CgroupFiles {
  readonly mountinfo: string;
  readonly cgroup: string;
}

function readFiles(): CgroupFiles | undefined {
  try {
    const [mountinfo, cgroup] = ['mountinfo', 'cgroup'].map((name) => readFileSync(`/proc/self/${name}`, 'utf8'));
    return { mountinfo: mountinfo!, cgroup: cgroup! };
  } catch {
    return undefined; // No /proc, or a kernel without control groups.
  }
}

/** Where groups for memory and processes can be made, if anywhere. */
export function findControlGroups(files = readFiles()): ControlGroupHome | undefined {
  if (files === undefined) return undefined;
  const mounts = parseMounts(files.mountinfo);
  return versionTwo(mounts, files.cgroup) ?? versionOne(mounts, files.cgroup);
}

function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [left, right] = line.split(' - ');
    const [, , , root, path] = left?.split(' ') ?? [];
    const [type, , options] = right?.split(' ') ?? [];
    if (root === undefined || path === undefined || type === undefined) return [];
    return [{ root, path, type, options: options?.split(',') ?? [] }];
  });
}

/** The directory of our own group in a hierarchy; inside a container the mount may begin below the true root. */
function ownDirectory(mount: Mount, cgroup: string, controller: string): string {
  const line = cgroup.split('\n').find((row) => row.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':') ?? '/';
  const below = mount.root !== '/' && path.startsWith(mount.root) ? path.slice(mount.root.length) : path;
  const directory = resolve(mount.path, `.${below}`);
  return existsSync(directory) ? directory : mount.path;
}

/** Version 2: a group with processes of its own cannot have limited children, so ours stands beside us or at the root. */
function versionTwo(mounts: readonly Mount[], cgroup: string): ControlGroupHome | undefined {
  const mount = mounts.find(({ type }) => type === 'cgroup2');
  if (mount === undefined) return undefined;
  const own = ownDirectory(mount, cgroup, '');
  const beside = own === mount.path ? own : dirname(own);
  const home = [beside, mount.path].find((directory) =>
    isUsable(directory, 'cgroup.subtree_control', ['memory', 'pids']),
  );
  return home === undefined
    ? undefined
    : { version: 2, directories: [home], create: (limits) => createVersionTwo(home, limits) };
}

async function createVersionTwo(home: string, limits: SandboxLimits): Promise<ControlGroup> {
  const directories = await makeGroup([home]);
  await limit(directories, [
    ['memory.max', limits.maxMemoryBytes],
    ['memory.swap.max?', 0],
    ['memory.oom.group?', 1],
    ['pids.max', limits.maxProcesses + helperProcesses],
  ]);
  return group(directories, () => counter(`${directories[0]}/memory.events`, 'oom_kill'));
}

/** Version 1: one tree of groups per controller, below our own place in each. */
function versionOne(mounts: readonly Mount[], cgroup: string): ControlGroupHome | undefined {
  const homes = ['memory', 'pids'].map((controller) => {
    const mount = mounts.find(({ type, options }) => type === 'cgroup' && options.includes(controller));
    if (mount === undefined) return undefined;
    const own = ownDirectory(mount, cgroup, controller);
    return isUsable(own, 'cgroup.procs', []) ? own : undefined;
  });
  const [memory, pids] = homes;
  if (memory === undefined || pids === undefined) return undefined;
  return { version: 1, directories: [memory, pids], create: (limits) => createVersionOne(memory, pids, limits) };
}

async function createVersionOne(memory: string, pids: string, limits: SandboxLimits): Promise<ControlGroup> {
  const directories = await makeGroup([memory, pids]);
  await limit(directories, [
    ['memory.limit_in_bytes', limits.maxMemoryBytes],
    ['memory.memsw.limit_in_bytes?', limits.maxMemoryBytes],
    ['pids.max', limits.maxProcesses + helperProcesses],
  ]);
  return group(directories, () => counter(`${directories[0]}/memory.oom_control`, 'oom_kill'));
}

/** Our own processes inside the tree: the clock, and bubblewrap while it prepares. */
const helperProcesses = 2;

function isUsable(directory: string, file: string, controllers: readonly string[]): boolean {
  try {
    accessSync(directory, constants.W_OK);
    const present = readFileSync(`${directory}/${file}`, 'utf8').trim().split(/\s+/);
    return controllers.every((controller) => present.includes(controller));
  } catch {
    return false; // Read-only, or another's.
  }
}

let groupsMade = 0;

/** Removes groups of servers that were killed; one that is still in use refuses. */
export async function sweepControlGroups(home: ControlGroupHome): Promise<void> {
  for (const directory of home.directories) {
    for (const name of await readdir(directory)) {
      const owner = /^mooring-(\d+)-\d+$/.exec(name)?.[1];
      if (owner !== undefined && !existsSync(`/proc/${owner}`)) await rmdir(join(directory, name)).catch(() => {});
    }
  }
}

async function makeGroup(homes: readonly string[]): Promise<string[]> {
  const name = `mooring-${process.pid}-${++groupsMade}`;
  const directories = homes.map((home) => join(home, name));
  for (const directory of directories) await mkdir(directory);
  return directories;
}

/**
 * Writes each setting into the hierarchy that has it. One marked `?` makes the others sharper but is missing on some
 * kernels (swap accounting); without any of the rest the group would be no limit, and is not kept.
 */
async function limit(directories: readonly string[], settings: readonly (readonly [string, number])[]): Promise<void> {
  for (const [setting, value] of settings) {
    const [file, optional] = [setting.replace('?', ''), setting.endsWith('?')];
    const path = directories.map((directory) => `${directory}/${file}`).find((candidate) => existsSync(candidate));
    try {
      if (path === undefined) throw new Error(`The control group has no ${file}`);
      await writeFile(path, Number.isFinite(value) ? String(value) : 'max');
    } catch (cause) {
      if (optional) continue;
      await removeGroup(directories);
      throw cause;
    }
  }
}

/** The last process may be leaving still; a group left behind is empty, and swept at the next start. */
async function removeGroup(directories: readonly string[]): Promise<void> {
  for (const directory of directories) await rmdir(directory).catch(() => {});
}

function group(directories: readonly string[], kills: () => Promise<number>): ControlGroup {
  return {
    attach: async (pid) => {
      for (const directory of directories) await writeFile(`${directory}/cgroup.procs`, String(pid));
    },
    ranOutOfMemory: async () => (await kills()) > 0,
    remove: () => removeGroup(directories),
  };
}

async function counter(path: string, name: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
