// The sandbox itself: prepares a policy once, then runs programs by it. Each layer has its own file; this one combines
// them, and returns a sandbox only after a check that it works on this machine.

import type { Readable } from 'node:stream';
import { assertKnownOptions } from '../../common/known-options.ts';
import { HeadBuffer, TailBuffer } from './capture.ts';
import type { ControlGroup, ControlGroupHome } from './cgroup.ts';
import { findControlGroups, sweepControlGroups } from './cgroup.ts';
import type {
  ExitReport,
  RunRequest,
  RunResult,
  Sandbox,
  SandboxLevel,
  SandboxPolicy,
  SandboxProcess,
  SpawnRequest,
  StopReason,
} from './contract.ts';
import type { Directories } from './directories.ts';
import { admitWorkingDirectory, pinDirectories, resolveDirectories } from './directories.ts';
import { buildEnvironment } from './environment.ts';
import { sandboxErrors } from './errors.ts';
import { rejectHidden } from './hidden.ts';
import type { SandboxIdentity } from './identity.ts';
import { chooseIdentity } from './identity.ts';
import type { Launched } from './launch.ts';
import { closed, drainGraceMs, launch } from './launch.ts';
import type { Planner } from './levels.ts';
import { planLevel } from './levels.ts';
import type { SandboxLimits } from './limits.ts';
import { resolveLimits } from './limits.ts';
import { measureTree } from './process-tree.ts';
import type { ProgramTable } from './programs.ts';
import { admitCommand, resolvePrograms } from './programs.ts';
import { checkIsolation } from './self-check.ts';
import type { WatchedTree } from './trees.ts';
import { startWatchdog } from './watchdog.ts';

/** How much of a worker's standard error is kept. */
const stderrTailBytes = 64 * 1024;

/** The clock inside runs this much longer than ours: it is a second safeguard, in case this process has ended. */
const innerClockSlackMs = 2_000;

const known: Record<keyof SandboxPolicy, true> = {
  level: true,
  programs: true,
  readOnly: true,
  writable: true,
  hidden: true,
  network: true,
  unixSockets: true,
  environment: true,
  runAs: true,
  controlGroup: true,
  limits: true,
};

/**
 * Creates a sandbox, checks that its isolation works on this machine, and only then returns it. Otherwise it throws a
 * `SandboxError`, so that the tool that needs it stays absent.
 *
 * @example
 * const sandbox = await createSandbox({ programs: ['ls', 'cat'], readOnly: ['/srv/project'] });
 * const { stdout } = await sandbox.run({ program: 'ls', args: ['-la'], cwd: '/srv/project' });
 */
export async function createSandbox(policy: SandboxPolicy): Promise<Sandbox> {
  assertKnownOptions('createSandbox', policy, known);
  const level = policy.level ?? 'kernel';
  const limits = resolveLimits(policy.limits);
  const identity = chooseIdentity(policy.runAs, policy.writable);
  const directories = resolveDirectories(policy, identity);
  const { hidden } = policy;
  if (hidden !== undefined) rejectHidden(directories, hidden());
  const programs = resolvePrograms(policy.programs, directories);
  const environment = policy.environment ?? {};
  buildEnvironment(environment); // Reports a malformed name now and not at the first call.
  const network = policy.network === 'host';
  const unixSockets = policy.unixSockets === true;
  const plan = planLevel(level, { identity, directories, limits, network, unixSockets, hidden });
  if (level === 'kernel') await checkIsolation(plan);
  const controlGroups = level === 'none' ? undefined : await usableControlGroups(policy.controlGroup ?? 'auto', limits);
  const checkDirectories = pinDirectories(directories);
  return new PreparedSandbox({
    ...{ level, limits, identity, directories, checkDirectories, programs, environment, plan, controlGroups },
  });
}

/** Creates and removes a group once, because a directory that looks writable may still fail. */
async function usableControlGroups(
  wish: NonNullable<SandboxPolicy['controlGroup']>,
  limits: SandboxLimits,
): Promise<PreparedPolicy['controlGroups']> {
  const home = wish === 'off' ? undefined : findControlGroups();
  const required = wish === 'require';
  try {
    if (home !== undefined) {
      await sweepControlGroups(home);
      await (await home.create(limits)).remove();
      return { home, required };
    }
  } catch (cause) {
    if (required) throw sandboxErrors.levelUnavailable('kernel', `no control group: ${cause}`, controlGroupRemedy);
  }
  if (required) throw sandboxErrors.levelUnavailable('kernel', 'no control group can be created', controlGroupRemedy);
  return undefined;
}

/** Creates a control group for a tree; `undefined` if none is available and none is required. */
async function createControlGroup(
  root: number,
  limits: SandboxLimits,
  controlGroups: PreparedPolicy['controlGroups'],
): Promise<ControlGroup | undefined> {
  if (controlGroups === undefined) return undefined;
  const group = await controlGroups.home.create(limits);
  try {
    await group.attach(root);
    // Below the kernel level, the program does not wait for this: what it has started already is attached too.
    for (const pid of measureTree(root).pids) if (pid !== root) await group.attach(pid).catch(() => {});
    return group;
  } catch (cause) {
    await group.remove();
    if (controlGroups.required) throw cause;
    return undefined;
  }
}

const controlGroupRemedy = 'Run as root, or give this service a delegated cgroup subtree (systemd: Delegate=yes).';

interface PreparedPolicy {
  readonly level: SandboxLevel;
  readonly limits: SandboxLimits;
  readonly identity: SandboxIdentity;
  readonly directories: Directories;
  readonly checkDirectories: () => void;
  readonly programs: ProgramTable;
  readonly environment: NonNullable<SandboxPolicy['environment']>;
  readonly plan: Planner;
  readonly controlGroups: { readonly home: ControlGroupHome; readonly required: boolean } | undefined;
}

class PreparedSandbox implements Sandbox {
  readonly #prepared: PreparedPolicy;
  readonly #running = new Set<Launched>();
  #closed = false;

  constructor(prepared: PreparedPolicy) {
    this.#prepared = prepared;
  }

  get level(): SandboxLevel {
    return this.#prepared.level;
  }

  get describe(): string {
    const { level, identity, controlGroups } = this.#prepared;
    const user = `host user ${identity.uid}${identity.isPrivate ? ' (private)' : ''}`;
    const account = controlGroups
      ? `control group version ${controlGroups.home.version}`
      : 'monitored without control group';
    return `level ${level}, ${user}, ${account}`;
  }

  async run(request: RunRequest): Promise<RunResult> {
    const { limits } = this.#prepared;
    const timeoutMs = Math.min(request.timeoutMs ?? limits.timeoutMs, limits.timeoutMs);
    const maxOutputBytes = Math.min(request.maxOutputBytes ?? limits.maxOutputBytes, limits.maxOutputBytes);
    const tree = this.#launch(request, request.stdin === undefined ? 'ignore' : 'pipe', timeoutMs);
    const timer = setTimeout(() => tree.stop('timeout'), timeoutMs);
    const [stdout, stderr] = [new HeadBuffer(maxOutputBytes), new HeadBuffer(maxOutputBytes)];
    const capture = (stream: Readable, head: HeadBuffer) => {
      stream.on('data', (chunk: Buffer) => {
        head.push(chunk);
        if (head.overflowed) tree.stop('output');
      });
    };
    capture(tree.stdout, stdout);
    capture(tree.stderr, stderr);
    tree.stdin?.on('error', () => {}); // A program may close its input without reading it.
    tree.stdin?.end(request.stdin);
    try {
      const report = await tree.ended;
      await Promise.all([closed(tree.stdout, drainGraceMs), closed(tree.stderr, drainGraceMs)]);
      return {
        ...report,
        stdout: stdout.bytes(),
        stderr: stderr.bytes(),
        truncated: stdout.overflowed || stderr.overflowed,
        timedOut: report.stopped === 'timeout',
      };
    } finally {
      clearTimeout(timer);
    }
  }

  async spawn(request: SpawnRequest): Promise<SandboxProcess> {
    const tree = this.#launch(request, 'pipe', undefined);
    const tail = new TailBuffer(stderrTailBytes);
    tree.stderr.on('data', (chunk: Buffer) => tail.push(chunk));
    await tree.begun;
    const exited = tree.ended.catch((): ExitReport => ({ exitCode: 126, signal: null, stopped: null, durationMs: 0 }));
    return {
      stdin: tree.stdin!,
      stdout: tree.stdout,
      stderrTail: () => tail.bytes(),
      exited,
      kill: () => {
        tree.stop('cancelled');
        return exited;
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    const trees = [...this.#running];
    for (const tree of trees) tree.stop('closed');
    await Promise.allSettled(trees.map((tree) => tree.ended));
  }

  /** All checks happen here, before anything is started. */
  #launch(request: SpawnRequest, stdin: 'ignore' | 'pipe', timeoutMs: number | undefined): Launched {
    const { level, limits, programs, directories, checkDirectories, environment, plan } = this.#prepared;
    if (this.#closed) throw sandboxErrors.closed();
    const command = admitCommand(programs, request.program, request.args ?? [], limits.maxArgumentBytes);
    const admitted = {
      ...command,
      environment: buildEnvironment(environment, request.env),
      cwd: admitWorkingDirectory(request.cwd, directories, level === 'kernel'),
      innerClockMs: timeoutMs === undefined ? undefined : timeoutMs + innerClockSlackMs,
    };
    checkDirectories();
    request.signal?.throwIfAborted();
    if (this.#running.size >= limits.maxConcurrent) throw sandboxErrors.busy(limits.maxConcurrent);
    const tree = launch({
      ...plan(admitted),
      stdin,
      onStart: (root, stop) => this.#watch(root, stop),
    });
    const cancel = () => tree.stop('cancelled');
    request.signal?.addEventListener('abort', cancel, { once: true });
    this.#running.add(tree);
    const forget = () => {
      this.#running.delete(tree);
      request.signal?.removeEventListener('abort', cancel);
    };
    tree.ended.then(forget, forget);
    return tree;
  }
  /** Assigns a tree to its control group and the watchdog, before its program starts. */
  async #watch(root: number, stop: (reason: StopReason) => void): Promise<WatchedTree> {
    const { limits, directories, level, controlGroups } = this.#prepared;
    const controlGroup = await createControlGroup(root, limits, controlGroups);
    const watch = { limits, writable: directories.writable, privateTmp: level === 'kernel' };
    const unwatch = startWatchdog({ ...watch, root, controlGroup }, stop);
    return {
      members: async () => (await controlGroup?.members()) ?? [],
      end: () => {
        unwatch();
        controlGroup?.remove();
      },
    };
  }
}
