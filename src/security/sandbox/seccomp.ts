// Which system calls a sandboxed program may not make, as a seccomp filter. Namespaces already block what most of these
// calls could reach; the filter blocks the kernel code behind them, where escapes have been found. It is a deny list,
// because `execute_command` runs arbitrary programs; calls that are newer than our table are denied.

import type { Instruction } from './bpf.ts';
import {
  architectureOffset,
  argumentOffset,
  assemble,
  callNumberOffset,
  filterActions,
  load,
  mask,
  returnAction,
  unlessOneOf,
  whenAnyBit,
  whenAtLeast,
  whenEqual,
} from './bpf.ts';
import type { Architecture, SystemCall } from './syscalls.ts';
import { auditArchitectures, callNumber, highestKnownCall, x32CallBit } from './syscalls.ts';

/** What the filter allows. */
export interface FilterOptions {
  readonly architecture: Architecture;
  /** Internet sockets. */
  readonly network: boolean;
  /** Unix sockets created with `socket`; socket pairs are always allowed, because they lead nowhere. */
  readonly unixSockets: boolean;
}

const EPERM = 1;
const ENOSYS = 38;
const EOPNOTSUPP = 95;

/** Denied with EPERM, whatever the arguments. */
const forbidden: readonly SystemCall[] = [
  // Other processes: reading, writing or controlling them, or taking their descriptors.
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'process_madvise', 'pidfd_getfd', 'kcmp'] as const),
  // Mounts, in the old interface and the new one.
  ...(['mount', 'umount2', 'pivot_root', 'chroot', 'mount_setattr', 'move_mount', 'open_tree'] as const),
  ...(['fsopen', 'fsconfig', 'fsmount', 'fspick', 'statmount', 'listmount'] as const),
  // Namespaces: a new one gives capabilities inside it, and with them most of the kernel's attack surface.
  ...(['unshare', 'setns'] as const),
  // Keyrings are not namespaced.
  ...(['keyctl', 'add_key', 'request_key'] as const),
  // Code that runs inside the kernel.
  ...(['bpf', 'perf_event_open', 'init_module', 'finit_module', 'delete_module', 'create_module'] as const),
  ...(['query_module', 'get_kernel_syms', 'kexec_load', 'kexec_file_load', 'syslog', 'lookup_dcookie'] as const),
  // Opening files by handle bypasses every path and mount.
  ...(['open_by_handle_at', 'name_to_handle_at', 'fanotify_init', 'fanotify_mark'] as const),
  // The machine itself.
  ...(['swapon', 'swapoff', 'reboot', 'acct', 'quotactl', 'quotactl_fd', 'sethostname', 'setdomainname'] as const),
  ...(['settimeofday', 'clock_settime', 'clock_adjtime', 'adjtimex', 'vhangup', 'iopl', 'ioperm'] as const),
  // Placement of memory, and calls that no current program uses.
  ...(['mbind', 'set_mempolicy', 'set_mempolicy_home_node', 'migrate_pages', 'move_pages', 'modify_ldt'] as const),
  ...(['nfsservctl', 'uselib', 'ustat', 'sysfs', 'sysctl', 'remap_file_pages', 'vmsplice'] as const),
];

/** Reported as missing (ENOSYS), so that programs use their fallback. */
const missing: readonly SystemCall[] = [
  // Its flags are in memory, where a filter cannot look; libraries fall back to `clone`.
  'clone3',
  // The same for the mode of a new file.
  'openat2',
  // A second way to make almost every call, past this filter.
  ...(['io_uring_setup', 'io_uring_enter', 'io_uring_register'] as const),
  'userfaultfd',
  // Memory that belongs to no mapping: neither RLIMIT_DATA nor the watchdog would see it grow.
  ...(['memfd_create', 'memfd_secret', 'shmget', 'shmat', 'msgget', 'semget', 'mq_open'] as const),
  // They use up limits that the host's user shares (fs.aio-max-nr, fs.inotify.max_user_instances).
  ...(['io_setup', 'inotify_init', 'inotify_init1'] as const),
];

/** Allocates disk space without writing, so the count of written bytes would miss it; libraries write zeros instead. */
const unsupported: readonly SystemCall[] = ['fallocate'];

const CLONE_NEW_ANY = 0x7e020000; // NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const [TIOCSTI, TIOCLINUX] = [0x5412, 0x541c];
const PERSONALITY_QUERY = 0xffffffff;
const [AF_UNIX, AF_INET, AF_INET6] = [1, 2, 10];
const [SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET] = [1, 2, 5];
const SOCK_TYPE_MASK = 0xf;
const SET_ID_BITS = 0o6000;
const O_CREAT_OR_TMPFILE = 0o100 | 0o20000000;

const deny = [returnAction(filterActions.fail(EPERM))];
const allow = [returnAction(filterActions.allow)];

/** Denies the call if an argument has any of these bits. */
function denyBits(argument: number, bits: number): Instruction[] {
  return [load(argumentOffset(argument)), ...whenAnyBit(bits, deny), ...allow];
}

/** Denies creating a file with a set-id bit: run later on the host, it would give the rights of its owner. */
function denySetIdCreation(flags: number, mode: number): Instruction[] {
  const denySetIdBits = denyBits(mode, SET_ID_BITS);
  return [load(argumentOffset(flags)), ...whenAnyBit(O_CREAT_OR_TMPFILE, denySetIdBits), ...allow];
}

/** Denies address families and socket types outside the lists; raw and packet sockets are never in them. */
function denyOtherSockets(families: readonly number[]): Instruction[] {
  return [
    load(argumentOffset(0)),
    ...unlessOneOf(families, deny),
    load(argumentOffset(1)),
    mask(SOCK_TYPE_MASK),
    ...unlessOneOf([SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET], deny),
    ...allow,
  ];
}

/** Calls that are filtered by their arguments. Each body ends in a return action. */
function filterRules(options: FilterOptions): [SystemCall, Instruction[]][] {
  const families = [...(options.unixSockets ? [AF_UNIX] : []), ...(options.network ? [AF_INET, AF_INET6] : [])];
  return [
    ['clone', denyBits(0, CLONE_NEW_ANY)],
    ['socket', denyOtherSockets(families)],
    ['socketpair', denyOtherSockets([AF_UNIX])],
    // Typing into the terminal of the user who started us.
    ['ioctl', [load(argumentOffset(1)), ...whenEqual(TIOCSTI, deny), ...whenEqual(TIOCLINUX, deny), ...allow]],
    // It can disable address randomization, for example; reading the current value is harmless.
    ['personality', [load(argumentOffset(0)), ...whenEqual(PERSONALITY_QUERY, allow), ...deny]],
    ['chmod', denyBits(1, SET_ID_BITS)],
    ['fchmod', denyBits(1, SET_ID_BITS)],
    ['fchmodat', denyBits(2, SET_ID_BITS)],
    ['fchmodat2', denyBits(2, SET_ID_BITS)],
    ['creat', denyBits(1, SET_ID_BITS)],
    ['mkdir', denyBits(1, SET_ID_BITS)],
    ['mkdirat', denyBits(2, SET_ID_BITS)],
    ['mknod', denyBits(1, SET_ID_BITS)],
    ['mknodat', denyBits(2, SET_ID_BITS)],
    ['open', denySetIdCreation(1, 2)],
    ['openat', denySetIdCreation(2, 3)],
  ];
}

/** The filter as instructions. */
function filterProgram(options: FilterOptions): Instruction[] {
  const { architecture } = options;
  const rows: [SystemCall, readonly Instruction[]][] = [
    ...filterRules(options),
    ...forbidden.map((name): [SystemCall, readonly Instruction[]] => [name, deny]),
    ...missing.map((name): [SystemCall, readonly Instruction[]] => [name, [returnAction(filterActions.fail(ENOSYS))]]),
    ...unsupported.map((name): [SystemCall, readonly Instruction[]] => [
      name,
      [returnAction(filterActions.fail(EOPNOTSUPP))],
    ]),
  ];
  const program: Instruction[] = [
    load(architectureOffset),
    // Another interface (32-bit) has other numbers: every rule below would apply to the wrong call.
    ...unlessOneOf([auditArchitectures[architecture]], [returnAction(filterActions.killProcess)]),
    load(callNumberOffset),
    ...(architecture === 'x64' ? whenAtLeast(x32CallBit, [returnAction(filterActions.killProcess)]) : []),
    ...whenAtLeast(highestKnownCall + 1, [returnAction(filterActions.fail(ENOSYS))]),
  ];
  for (const [name, body] of rows) {
    const number = callNumber(name, architecture);
    if (number !== undefined) program.push(...whenEqual(number, body));
  }
  program.push(...allow);
  return program;
}

/** The filter as bytes for bubblewrap's `--seccomp`. */
export function filterBytes(options: FilterOptions): Buffer {
  return assemble(filterProgram(options));
}
