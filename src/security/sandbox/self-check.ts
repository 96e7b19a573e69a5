// One short run that checks the isolation from inside, before a sandbox is returned. The long version with one line per
// layer is `probe.ts`.

import { HeadBuffer } from './capture.ts';
import { sandboxErrors } from './errors.ts';
import { closed, drainGraceMs, launch } from './launch.ts';
import type { Planner } from './levels.ts';

const proofTimeoutMs = 10_000;

/** Runs `cat /proc/self/status` inside and reads what the kernel reports about the process. */
export async function checkIsolation(plan: Planner): Promise<void> {
  const output = new HeadBuffer(64 * 1024);
  try {
    const exitCode = await lookInside(plan, output);
    if (exitCode !== 0) throw sandboxErrors.startFailed(`exit status ${exitCode}`);
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw sandboxErrors.levelUnavailable('kernel', detail, remedyFor(detail));
  }
  const wrong = isolationErrors(output.bytes().toString());
  if (wrong.length > 0) throw sandboxErrors.levelUnavailable('kernel', wrong.join('; '), 'Run `mooring doctor`.');
}

async function lookInside(plan: Planner, output: HeadBuffer): Promise<number> {
  const tree = launch({
    ...plan({
      path: '/bin/cat',
      args: ['/proc/self/status'],
      environment: new Map(),
      cwd: '/',
      innerClockMs: proofTimeoutMs,
    }),
    stdin: 'ignore',
  });
  const timer = setTimeout(() => tree.stop('timeout'), proofTimeoutMs);
  tree.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  try {
    const { exitCode } = await tree.ended;
    await closed(tree.stdout, drainGraceMs);
    return exitCode;
  } finally {
    clearTimeout(timer);
  }
}

/** Properties of the process that the kernel's report contradicts. */
export function isolationErrors(status: string): string[] {
  const expected: [name: string, value: string, meaning: string][] = [
    ['CapEff', '0000000000000000', 'the program has capabilities'],
    ['CapBnd', '0000000000000000', 'the program could gain capabilities'],
    ['NoNewPrivs', '1', 'set-id programs work'],
    ['Seccomp', '2', 'the system call filter is not active'],
    ['Pid', '2', 'the program sees other processes'],
  ];
  return expected
    .filter(([name, value]) => new RegExp(`^${name}:\\s+(\\S+)$`, 'm').exec(status)?.[1] !== value)
    .map(([, , meaning]) => meaning);
}

/** What an operator can do about the common messages of bubblewrap. */
export function remedyFor(message: string): string {
  if (/spawn E(PERM|INVAL)/.test(message)) {
    return 'Root cannot switch to another user here: grant CAP_SETUID and CAP_SETGID, or start the server as an ordinary user.';
  }
  if (/namespace|uid map|Operation not permitted|EPERM/i.test(message)) {
    return 'Allow user namespaces: sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, an AppArmor profile for bwrap, or in a container a seccomp profile that permits them.';
  }
  if (/seccomp/i.test(message)) return 'The kernel needs CONFIG_SECCOMP_FILTER.';
  return 'Run `mooring doctor` to see which layer fails.';
}
