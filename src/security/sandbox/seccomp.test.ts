// The filter is tested by running it: a small interpreter of classic BPF replaces the kernel. The attack suite shows
// that the real kernel agrees.

import { expect, test } from 'vitest';
import type { FilterOptions } from './seccomp.ts';
import { filterBytes } from './seccomp.ts';
import type { Architecture, SystemCall } from './syscalls.ts';
import { auditArchitectures, callNumber, highestKnownCall, systemCalls } from './syscalls.ts';

const ALLOW = 'allow';
const KILL = 'kill';
const EPERM = 'error 1';
const ENOSYS = 'error 38';

/** Runs filter bytes on a call as the kernel would: an accumulator, forward jumps, a returned action. */
function interpret(bytes: Buffer, call: { architecture: number; number: number; args?: readonly bigint[] }): string {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.architecture >>> 0, 4);
  call.args?.forEach((value, index) => {
    data.writeBigUInt64LE(value, 16 + 8 * index);
  });
  let accumulator = 0;
  for (let at = 0; at < bytes.length; at += 8) {
    const [code, ifTrue, ifFalse] = [bytes.readUInt16LE(at), bytes.readUInt8(at + 2), bytes.readUInt8(at + 3)];
    const operand = bytes.readUInt32LE(at + 4);
    const jump = (condition: boolean) => {
      at += 8 * (condition ? ifTrue : ifFalse);
    };
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x54) accumulator = (accumulator & operand) >>> 0;
    else if (code === 0x15) jump(accumulator === operand);
    else if (code === 0x35) jump(accumulator >= operand);
    else if (code === 0x45) jump((accumulator & operand) !== 0);
    else if (code === 0x06) return actionOf(operand);
    else throw new Error(`unknown operation ${code}`);
  }
  throw new Error('the program ran over its end');
}

function actionOf(value: number): string {
  if (value === 0x7fff0000) return ALLOW;
  if (value === 0x80000000) return KILL;
  return (value & 0xffff0000) === 0x00050000 ? `error ${value & 0xffff}` : `action ${value.toString(16)}`;
}

const architectures: readonly Architecture[] = ['x64', 'arm64'];

function actionFor(
  architecture: Architecture,
  number: number,
  args: readonly number[] = [],
  options: Partial<FilterOptions> = {},
) {
  const bytes = filterBytes({ architecture, network: false, unixSockets: false, ...options });
  return interpret(bytes, { architecture: auditArchitectures[architecture], number, args: args.map(BigInt) });
}

function actionForCall(architecture: Architecture, name: SystemCall, args: readonly number[] = [], options = {}) {
  const number = callNumber(name, architecture);
  return number === undefined ? 'absent' : actionFor(architecture, number, args, options);
}

const harmless = {
  x64: {
    read: 0,
    write: 1,
    mmap: 9,
    execve: 59,
    fork: 57,
    vfork: 58,
    exit_group: 231,
    futex: 202,
    getpid: 39,
    prlimit64: 302,
  },
  arm64: { read: 63, write: 64, mmap: 222, execve: 221, exit_group: 94, futex: 98, getpid: 172, prlimit64: 261 },
} as const;

test.each(architectures)('%s: calls that every program makes are allowed', (architecture) => {
  for (const [name, number] of Object.entries(harmless[architecture])) {
    expect(`${name} ${actionFor(architecture, number)}`).toBe(`${name} ${ALLOW}`);
  }
});

const rejected: readonly SystemCall[] = [
  ...(['ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_getfd', 'mount', 'umount2', 'pivot_root'] as const),
  ...(['chroot', 'move_mount', 'open_tree', 'fsopen', 'fsmount', 'mount_setattr', 'unshare', 'setns'] as const),
  ...(['keyctl', 'add_key', 'request_key', 'bpf', 'perf_event_open', 'init_module', 'finit_module'] as const),
  ...(['kexec_load', 'kexec_file_load', 'open_by_handle_at', 'name_to_handle_at', 'swapon', 'reboot'] as const),
  ...(['acct', 'quotactl', 'sethostname', 'setdomainname', 'settimeofday', 'clock_settime', 'syslog'] as const),
];

test.each(architectures)('%s: calls that reach out of the sandbox fail with EPERM', (architecture) => {
  for (const name of rejected) expect(`${name} ${actionForCall(architecture, name)}`).toBe(`${name} ${EPERM}`);
});

test.each(architectures)('%s: calls with a safer alternative are reported as missing', (architecture) => {
  for (const name of ['clone3', 'openat2', 'io_uring_setup', 'memfd_create', 'userfaultfd', 'shmget'] as const) {
    expect(`${name} ${actionForCall(architecture, name)}`).toBe(`${name} ${ENOSYS}`);
  }
});

test.each(architectures)('%s: every call of the table is denied for some arguments', (architecture) => {
  const bad = [0xffff_ffff, 0o6777, 0o6777, 0o6777];
  const suspicious: Partial<Record<SystemCall, readonly number[]>> = {
    ioctl: [0, 0x5412],
    personality: [0x0040000],
    open: [0, 0o100, 0o4755],
    openat: [0, 0, 0o100, 0o4755],
  };
  for (const name of Object.keys(systemCalls) as SystemCall[]) {
    if (callNumber(name, architecture) === undefined) continue;
    expect(`${name} ${actionForCall(architecture, name, suspicious[name] ?? bad)}`).not.toBe(`${name} ${ALLOW}`);
  }
});

test('another interface kills the process, whatever the call', () => {
  for (const architecture of architectures) {
    const bytes = filterBytes({ architecture, network: true, unixSockets: true });
    for (const other of [
      0x40000003 /* i386 */,
      0x40000028 /* arm */,
      auditArchitectures[architecture === 'x64' ? 'arm64' : 'x64'],
    ]) {
      expect(interpret(bytes, { architecture: other, number: 1 })).toBe(KILL);
    }
  }
});

test('x64: the x32 interface kills the process', () => {
  expect(actionFor('x64', 0x40000000)).toBe(KILL);
  expect(actionFor('x64', 0x40000000 + 101)).toBe(KILL);
  expect(actionFor('x64', 0xffffffff)).toBe(KILL);
});

test.each(architectures)('%s: a call that is newer than the table is reported as missing', (architecture) => {
  expect(actionFor(architecture, highestKnownCall + 1)).toBe(ENOSYS);
  expect(actionFor(architecture, 521)).toBe(ENOSYS); // x32's ptrace without the x32 bit
});

test.each(architectures)('%s: clone can create processes and threads but no namespace', (architecture) => {
  const [SIGCHLD, threadFlags] = [17, 0x003d0f00];
  expect(actionForCall(architecture, 'clone', [SIGCHLD])).toBe(ALLOW);
  expect(actionForCall(architecture, 'clone', [threadFlags])).toBe(ALLOW);
  for (const flag of [0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]) {
    expect(actionForCall(architecture, 'clone', [flag | SIGCHLD])).toBe(EPERM);
  }
});

test.each(architectures)('%s: without network no socket can be created, only pairs', (architecture) => {
  for (const family of [0, 1, 2, 10, 16, 17, 31, 38, 40]) {
    expect(actionForCall(architecture, 'socket', [family, 1])).toBe(EPERM);
  }
  expect(actionForCall(architecture, 'socketpair', [1, 1])).toBe(ALLOW);
  expect(actionForCall(architecture, 'socketpair', [2, 1])).toBe(EPERM);
});

test.each(architectures)(
  '%s: with network there are internet sockets, but neither raw nor packet nor netlink sockets',
  (architecture) => {
    const network = { network: true };
    const SOCK_CLOEXEC = 0o2000000;
    expect(actionForCall(architecture, 'socket', [2, 1 | SOCK_CLOEXEC], network)).toBe(ALLOW);
    expect(actionForCall(architecture, 'socket', [10, 2], network)).toBe(ALLOW);
    expect(actionForCall(architecture, 'socket', [2, 3], network)).toBe(EPERM);
    expect(actionForCall(architecture, 'socket', [16, 3], network)).toBe(EPERM);
    expect(actionForCall(architecture, 'socket', [17, 3], network)).toBe(EPERM);
    expect(actionForCall(architecture, 'socket', [1, 1], network)).toBe(EPERM);
    expect(actionForCall(architecture, 'socket', [1, 1], { ...network, unixSockets: true })).toBe(ALLOW);
  },
);

test.each(architectures)('%s: bits above the 32 that the kernel reads do not hide an argument', (architecture) => {
  const bytes = filterBytes({ architecture, network: false, unixSockets: false });
  const call = { architecture: auditArchitectures[architecture], number: callNumber('ioctl', architecture)! };
  expect(interpret(bytes, { ...call, args: [0n, 0x1_0000_5412n] })).toBe(EPERM);
  expect(interpret(bytes, { ...call, args: [0n, 0x5401n] })).toBe(ALLOW);
});

test.each(architectures)('%s: no file gets a set-id bit, neither when created nor later', (architecture) => {
  expect(actionForCall(architecture, 'fchmodat', [0, 0, 0o4755])).toBe(EPERM);
  expect(actionForCall(architecture, 'fchmodat', [0, 0, 0o755])).toBe(ALLOW);
  expect(actionForCall(architecture, 'fchmod', [0, 0o2755])).toBe(EPERM);
  expect(actionForCall(architecture, 'openat', [0, 0, 0o100, 0o4755])).toBe(EPERM);
  expect(actionForCall(architecture, 'openat', [0, 0, 0o100, 0o644])).toBe(ALLOW);
  // Without O_CREAT the mode is whatever was left in the register.
  expect(actionForCall(architecture, 'openat', [0, 0, 0, 0o4755])).toBe(ALLOW);
});

test('the personality can be read, but not changed', () => {
  expect(actionForCall('x64', 'personality', [0xffffffff])).toBe(ALLOW);
  expect(actionForCall('x64', 'personality', [0x0040000])).toBe(EPERM);
});
