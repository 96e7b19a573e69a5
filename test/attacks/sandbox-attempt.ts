// What an escape attempt is, and the words to write one in: a request, and what must be seen of it. The programs are
// perl and a shell, which every Debian has.

import { expect } from 'vitest';
import type { RunRequest, RunResult } from '../../src/security/sandbox/index.ts';
import type { SystemCall } from '../../src/security/sandbox/syscalls.ts';
import { callNumber } from '../../src/security/sandbox/syscalls.ts';
import type { Host } from './sandbox-host.ts';

/** A result with its output as text. */
export interface Seen extends Omit<RunResult, 'stdout' | 'stderr'> {
  readonly stdout: string;
  readonly stderr: string;
}

/** What is tried, how, and what must be seen. That the host is unhurt is checked after each, without a word here. */
export type Attempt = readonly [name: string, request: (host: Host) => RunRequest, expected: (seen: Seen) => void];

const MiB = 1024 * 1024;

/** Small, so that reaching each takes little time. The time limit is for what ends by itself, also on a busy machine. */
export const limits = {
  timeoutMs: 20_000,
  maxMemoryBytes: 192 * MiB,
  maxProcessDataBytes: 96 * MiB,
  maxTmpBytes: 16 * MiB,
  maxSharedMemoryBytes: 4 * MiB,
  maxTmpFiles: 2_000,
  maxFileBytes: 8 * MiB,
  maxWrittenBytes: 64 * MiB,
  maxOutputBytes: MiB,
  maxCpuSeconds: 2,
} as const;

export const shell = (script: string, more: Partial<RunRequest> = {}): RunRequest => ({
  ...{ program: 'bash', args: ['-c', script] },
  ...more,
});

/** `sys` makes a system call and prints how it ended; `try` prints how an expression ended. */
const prelude = `
use strict; $| = 1;
sub sys { my ($n, @a) = @_; my $r = syscall($n, @a); print $r == -1 ? "errno " . ($! + 0) . "\\n" : "done $r\\n"; }
sub try { my ($ok) = @_; print $ok ? "done\\n" : "failed: $!\\n"; }
`;

export const perl = (script: string): RunRequest => ({ program: 'perl', args: ['-e', prelude + script] });

/** Numbers that the filter has no name for, since it lets these calls pass. */
const otherCalls = { setxattr: [188, 5], sched_setscheduler: [144, 119], ioprio_set: [251, 30] } as const;

/** The number of a system call on this machine. */
export function nr(name: SystemCall | keyof typeof otherCalls): number {
  const architecture = process.arch === 'x64' ? 'x64' : 'arm64';
  if (name === 'setxattr' || name === 'sched_setscheduler' || name === 'ioprio_set') {
    return otherCalls[name][architecture === 'x64' ? 0 : 1];
  }
  return callNumber(name, architecture) ?? -1;
}

/** How `sys` prints the two rejections of the filter. */
export const EPERM = 'errno 1';
export const ENOSYS = 'errno 38';

/** Exactly this output, or output like this. A failure shows the whole result. */
export const says = (text: string | RegExp) => (seen: Seen) => {
  const output = expect(seen.stdout.trim(), JSON.stringify(seen));
  if (typeof text === 'string') output.toBe(text);
  else output.toMatch(text);
};
