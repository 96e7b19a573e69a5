// Control groups: the kernel accounts for a whole tree exactly, where the watchdog only measures at intervals. Used if
// this process can create one (root, or a delegated subtree); supports version 2 and the older version 1.

import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SandboxLimits } from './limits.ts';

/** A group around one tree. */
export interface ControlGroup {
  /** Adds a process; its later children are members from the start. */
  attach(pid: number): Promise<void>;
  /** The processes that have not ended. */
  members(): Promise<readonly number[]>;
  /** The kernel has ended a process of the tree because memory ran out. */
  ranOutOfMemory(): Promise<boolean>;
  /** Only an empty group can be removed. */
  remove(): Promise<void>;
}

/** Where groups can be created. */
export interface ControlGroupHome {
  readonly version: 1 | 2;
  readonly directories: readonly string[];
  create(limits: SandboxLimits): Promise<ControlGroup>;
}

interface CgroupMount {
  readonly root: string;
  readonly path: string;
  readonly type: string;
  readonly options: readonly string[];
}

/** What the kernel reports about the groups of this process; replaced in tests. */
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

/** Where groups for memory and processes can be created, if anywhere. */
export function findControlGroups(files = readFiles()): ControlGroupHome | undefined {
  if (files === undefined) return undefined;
  const mounts = parseMounts(files.mountinfo);
  return versionTwo(mounts, files.cgroup) ?? versionOne(mounts, files.cgroup);
}

function parseMounts(mountinfo: string): CgroupMount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [left, right] = line.split(' - ');
    const [, , , root, path] = left?.split(' ') ?? [];
    const [type, , options] = right?.split(' ') ?? [];
    if (root === undefined || path === undefined || type === undefined) return [];
    return [{ root, path, type, options: options?.split(',') ?? [] }];
  });
}

/** The directory of our own group in a hierarchy; inside a container the mount may start below the real root. */
function ownDirectory(mount: CgroupMount, cgroup: string, controller: string): string {
  const line = cgroup.split('\n').find((row) => row.split(':')[1]?.split(',').includes(controller));
  const path = line?.split(':').slice(2).join(':') ?? '/';
  const below = mount.root !== '/' && path.startsWith(mount.root) ? path.slice(mount.root.length) : path;
  const directory = resolve(mount.path, `.${below}`);
  return existsSync(directory) ? directory : mount.path;
}

/** Version 2: a group that contains processes cannot have limited children, so ours is beside us or at the root. */
function versionTwo(mounts: readonly CgroupMount[], cgroup: string): ControlGroupHome | undefined {
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

/** Version 1: one hierarchy per controller, each with a group below our own. */
function versionOne(mounts: readonly CgroupMount[], cgroup: string): ControlGroupHome | undefined {
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

/** Our own processes inside the tree: the clock, and bubblewrap during its set-up. */
const helperProcesses = 2;

function isUsable(directory: string, file: string, controllers: readonly string[]): boolean {
  try {
    accessSync(directory, constants.W_OK);
    const present = readFileSync(`${directory}/${file}`, 'utf8').trim().split(/\s+/);
    return controllers.every((controller) => present.includes(controller));
  } catch {
    return false; // Read-only, or owned by another user.
  }
}

/** Removes groups of servers that were killed; those in use cannot be removed. */
export async function sweepControlGroups(home: ControlGroupHome): Promise<void> {
  for (const directory of home.directories) {
    for (const name of await readdir(directory)) {
      const owner = /^mooring-(\d+)-[\da-f]+$/.exec(name)?.[1];
      if (owner !== undefined && !existsSync(`/proc/${owner}`)) await rmdir(join(directory, name)).catch(() => {});
    }
  }
}

/** The name is random: a group may be left of an ended process, and the numbers of processes are used again. */
async function makeGroup(homes: readonly string[]): Promise<string[]> {
  const name = `mooring-${process.pid}-${randomBytes(6).toString('hex')}`;
  const directories = homes.map((home) => join(home, name));
  for (const directory of directories) await mkdir(directory);
  return directories;
}

/**
 * Writes each setting into the hierarchy that has it. One marked `?` improves the others but is missing on some kernels
 * (swap accounting); without one of the others the group would limit nothing, and is removed.
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

/** The last process may still be ending; a group left behind is empty, and removed at the next start. */
async function removeGroup(directories: readonly string[]): Promise<void> {
  for (const directory of directories) await rmdir(directory).catch(() => {});
}

function group(directories: readonly string[], kills: () => Promise<number>): ControlGroup {
  return {
    attach: async (pid) => {
      for (const directory of directories) await writeFile(`${directory}/cgroup.procs`, String(pid));
    },
    members: async () => {
      const text = await readFile(`${directories[0]}/cgroup.procs`, 'utf8').catch(() => '');
      return text.split('\n').map(Number).filter(Boolean);
    },
    ranOutOfMemory: async () => (await kills()) > 0,
    remove: () => removeGroup(directories),
  };
}

async function counter(path: string, name: string): Promise<number> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}
