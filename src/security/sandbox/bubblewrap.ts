// Finds bubblewrap and creates its options, which build the isolation of the kernel level. Which process starts when, and
// how it ends, is in `launch.ts`.

import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import type { Directories } from './directories.ts';
import { privateTmp } from './directories.ts';
import type { SandboxLimits } from './limits.ts';
import { systemDirectories } from './programs.ts';

/** A helper is only run from these directories, and only if no user but root can change it. */
const helperDirectories = ['/usr/bin', '/bin', '/usr/local/bin'] as const;

/** Options without which a layer would be missing; all exist since bubblewrap 0.8. */
const neededOptions = [
  '--args',
  '--json-status-fd',
  '--seccomp',
  '--disable-userns',
  '--size',
  '--perms',
  '--clearenv',
];

/** Absolute path of a helper program (`bwrap`, `prlimit`, `timeout`), or `undefined`. */
export function findHelper(name: string, directories: readonly string[] = helperDirectories): string | undefined {
  return directories.map((directory) => `${directory}/${name}`).find(isTrustedProgram);
}

function isTrustedProgram(path: string): boolean {
  try {
    const stats = statSync(path);
    return stats.isFile() && stats.uid === 0 && (stats.mode & 0o022) === 0 && (stats.mode & 0o111) !== 0;
  } catch {
    return false; // Not installed here; the caller tries the next directory.
  }
}

/** Options that this bubblewrap lacks; empty if it is suitable. */
export function missingOptions(bwrap: string): string[] {
  const { stdout, error } = spawnSync(bwrap, ['--help'], { env: {}, encoding: 'utf8', timeout: 5_000 });
  if (error) return [...neededOptions];
  return neededOptions.filter((option) => !stdout.includes(`${option} `));
}

/** Descriptors that bubblewrap inherits from us besides the standard three; none of them is open in the program. */
export const descriptors = { arguments: 3, filter: 4, status: 5, passwd: 6, group: 7, gate: 8, keeper: 9 } as const;

/**
 * Runs before bubblewrap, outside the sandbox, and ends the whole process group in two cases: when its descriptor closes,
 * which means that we have ended, and when bubblewrap has ended. Bubblewrap binds itself to its parent's lifetime, but
 * late: if we were killed a moment earlier, its half-made sandbox would wait forever. The script ends itself last, so its
 * end is the end of all. A constant text, as below: the command is passed as arguments, which a shell does not interpret.
 */
export const supervisorScript = [
  `(read -r word <&${descriptors.keeper}; kill -9 0) <&- >&- 2>&- 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- &`,
  `"$@" ${descriptors.keeper}<&-; exec 2>/dev/null; kill -9 $!; wait; kill -9 0`,
].join(' ');

/**
 * The first program inside, in a session of its own that the supervisor script cannot reach: it reports its start, waits
 * for our signal and becomes the command. By then bubblewrap has bound it to our lifetime; without our signal it ends.
 */
export const waitScript = `echo >&${descriptors.gate} && read -r word <&${descriptors.gate} && exec "$@" ${descriptors.gate}<&-`;

/** User and group number inside; the number on the host is different (see `identity.ts`). */
const insideId = '1000';

/** The only accounts inside: programs can look up their own name, but no account of the host. */
export const accountFiles = {
  passwd: 'sandbox:x:1000:1000::/tmp:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n',
  group: 'sandbox:x:1000:\nnogroup:x:65534:\n',
} as const;

/** Files of /etc that programs need for loading and time zones. Everything else of /etc is absent. */
const etcFiles = ['/etc/ld.so.cache', '/etc/alternatives', '/etc/localtime', '/etc/mime.types'];
const etcNetworkFiles = [
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/nsswitch.conf',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
];

/** Files of /proc about the machine that every user could read: boot options, symbols, keys, keystroke timing. */
const hiddenInProc = [
  ...['cmdline', 'config.gz', 'kallsyms', 'kcore', 'key-users', 'keys', 'kmsg', 'interrupts', 'latency_stats'],
  ...['modules', 'sched_debug', 'timer_list', 'version_signature'],
];

/** What differs between two sandboxes. */
export interface IsolationOptions {
  readonly directories: Directories;
  readonly network: boolean;
  readonly limits: SandboxLimits;
}

/** The options that are the same for every run of a sandbox. */
export function isolationArguments({ directories, network, limits }: IsolationOptions): string[] {
  const args: string[] = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  if (!network) args.push('--unshare-net');
  // The program is an unprivileged user, without capabilities and without a way to a namespace that would restore them.
  args.push('--disable-userns', '--uid', insideId, '--gid', insideId, '--cap-drop', 'ALL', '--hostname', 'sandbox');
  // It ends with us, and it has no access to our terminal.
  args.push('--die-with-parent', '--new-session', '--clearenv');
  // Our helper is process 1: when it ends, the kernel ends all others before its exit is reported (see `launch.ts`).
  args.push('--as-pid-1');
  args.push(...systemArguments(), ...etcArguments(network));
  args.push('--proc', '/proc', '--ro-bind', '/proc/sys', '/proc/sys');
  for (const name of hiddenInProc) {
    if (existsSync(`/proc/${name}`)) args.push('--ro-bind', '/dev/null', `/proc/${name}`);
  }
  args.push('--dev', '/dev', '--perms', '1777', '--size', String(limits.maxSharedMemoryBytes), '--tmpfs', '/dev/shm');
  args.push('--perms', '1777', '--size', String(limits.maxTmpBytes), '--tmpfs', privateTmp);
  for (const path of directories.readOnly) args.push('--ro-bind', path, path);
  for (const path of directories.writable) args.push('--bind', path, path);
  // The root and /dev are temporary file systems without a size limit; left writable, they could use all memory.
  args.push('--remount-ro', '/dev', '--remount-ro', '/');
  args.push('--seccomp', String(descriptors.filter), '--json-status-fd', String(descriptors.status));
  return args;
}

/** The options of one run, after those of the isolation. */
export function runArguments(environment: ReadonlyMap<string, string>, cwd: string): string[] {
  const args: string[] = [];
  for (const [name, value] of environment) args.push('--setenv', name, value);
  args.push('--chdir', cwd);
  return args;
}

/** /usr and its companions: links where the system has links (merged /usr), binds where it has directories. */
function systemArguments(): string[] {
  return systemDirectories.flatMap((path) => {
    if (!existsSync(path)) return [];
    return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
  });
}

function etcArguments(network: boolean): string[] {
  const files = network ? [...etcFiles, ...etcNetworkFiles] : etcFiles;
  const binds = files.flatMap((path) => ['--ro-bind-try', path, path]);
  const account = (name: 'passwd' | 'group') => [
    '--perms',
    '0444',
    '--file',
    String(descriptors[name]),
    `/etc/${name}`,
  ];
  return [...binds, ...account('passwd'), ...account('group')];
}

/**
 * Options as bubblewrap's `--args` reads them. They are passed through a descriptor, because every user of the machine
 * can read a command line, and the environment of a program may contain secrets.
 */
export function encodeArguments(args: readonly string[]): Buffer {
  return Buffer.from(args.map((argument) => `${argument}\0`).join(''));
}
