// Every limit of the sandbox: its name, its default, and the attack that it stops. The kernel enforces those of
// `prlimitArguments`; the watchdog, the cgroup and the output capture enforce the rest.

const KiB = 1024;
const MiB = 1024 * KiB;

/** Limits of one process tree. `Infinity` disables one. */
export interface SandboxLimits {
  /** Wall-clock time of a `run`. Stops: a command that never ends and blocks its caller. */
  readonly timeoutMs: number;
  /** Each of stdout and stderr of a `run`. Stops: endless output that fills our memory. */
  readonly maxOutputBytes: number;
  /** Bytes of arguments and environment. Stops: a request that makes the start itself expensive. */
  readonly maxArgumentBytes: number;
  /** Trees running at the same time in one sandbox. Stops: a flood of calls, each of them harmless. */
  readonly maxConcurrent: number;
  /** Processes and threads of a tree. Stops: the fork bomb. */
  readonly maxProcesses: number;
  /** Memory of the whole tree, shared memory included. Stops: a memory bomb spread over many processes. */
  readonly maxMemoryBytes: number;
  /** Private memory of one process (RLIMIT_DATA). Stops: the memory bomb, in the allocating call itself. */
  readonly maxProcessDataBytes: number;
  /**
   * Address space of one process (RLIMIT_AS). Stops: huge mappings that are filled faster than the watchdog measures.
   * Engines that reserve far more than they use (V8, Go with race detector, the JVM) need `Infinity`.
   */
  readonly maxAddressSpaceBytes: number;
  /** Processor seconds of one process. Stops: a busy loop that outlives its caller. */
  readonly maxCpuSeconds: number;
  /** Size of one file. Stops: one file that fills the disk. */
  readonly maxFileBytes: number;
  /** Open descriptors of one process. Stops: exhausting the machine's file table. */
  readonly maxOpenFiles: number;
  /** Private `/tmp`. Stops: filling memory through the temporary file system. */
  readonly maxTmpBytes: number;
  /** Private `/dev/shm`. Stops: the same by shared memory objects. */
  readonly maxSharedMemoryBytes: number;
  /** Files in the private `/tmp`. Stops: millions of empty files, which cost kernel memory but no size. */
  readonly maxTmpFiles: number;
  /** Bytes that the tree writes to disks. Stops: filling the disk with many files, removed ones included. */
  readonly maxWrittenBytes: number;
  /** New files on a file system with a writable directory, by any process. Stops: using up its inodes. */
  readonly maxNewFiles: number;
}

export const defaultLimits: SandboxLimits = {
  timeoutMs: 30_000,
  maxOutputBytes: 1 * MiB,
  maxArgumentBytes: 64 * KiB,
  maxConcurrent: 8,
  maxProcesses: 64,
  maxMemoryBytes: 512 * MiB,
  maxProcessDataBytes: 512 * MiB,
  maxAddressSpaceBytes: 4096 * MiB,
  maxCpuSeconds: 30,
  maxFileBytes: 64 * MiB,
  maxOpenFiles: 256,
  maxTmpBytes: 64 * MiB,
  maxSharedMemoryBytes: 16 * MiB,
  maxTmpFiles: 16_384,
  maxWrittenBytes: 256 * MiB,
  maxNewFiles: 200_000,
};

/**
 * Limits for a worker written for Node: V8 reserves gigabytes of address space, and workers run for long. Node 24 maps 590 MiB
 * of private memory when it starts, most of which it never uses; `maxMemoryBytes` still limits what is used.
 */
export const workerLimits: Partial<SandboxLimits> = {
  maxProcessDataBytes: 1024 * MiB,
  maxAddressSpaceBytes: Number.POSITIVE_INFINITY,
  maxCpuSeconds: Number.POSITIVE_INFINITY,
};

/** The defaults with the policy's changes; throws for a limit that is not a positive number. */
export function resolveLimits(departures: Partial<SandboxLimits> = {}): SandboxLimits {
  const limits = { ...defaultLimits, ...departures };
  for (const [name, value] of Object.entries(limits)) {
    if (typeof value !== 'number' || !(value > 0)) throw new RangeError(`Limit ${name} must be a positive number`);
    if (Number.isFinite(value) && !Number.isSafeInteger(value)) throw new RangeError(`Limit ${name} must be whole`);
  }
  return limits;
}

/** Hard limits of this process; only root can raise them, so ours never go above them. */
export function inheritedHardLimits(text: string): Map<string, number> {
  const hard = new Map<string, number>();
  for (const line of text.split('\n').slice(1)) {
    const match = /^(Max [a-z -]+?)\s{2,}\S+\s+(\S+)/.exec(line);
    if (match) hard.set(match[1]!, match[2] === 'unlimited' ? Number.POSITIVE_INFINITY : Number(match[2]));
  }
  return hard;
}

/**
 * Arguments for `prlimit`, which sets its own soft and hard limits and then becomes the program. `countProcesses` is
 * separate, because that limit may only be set if it counts only this tree (see `identity.ts`).
 */
export function prlimitArguments(
  limits: SandboxLimits,
  options: { countProcesses: boolean; inherited?: ReadonlyMap<string, number> },
): string[] {
  const rows: [option: string, kernelName: string, value: number][] = [
    ['as', 'Max address space', limits.maxAddressSpaceBytes],
    ['data', 'Max data size', limits.maxProcessDataBytes],
    // SIGXCPU at the soft limit may be caught; the kernel kills at the hard one.
    ['cpu', 'Max cpu time', limits.maxCpuSeconds],
    ['fsize', 'Max file size', limits.maxFileBytes],
    ['nofile', 'Max open files', limits.maxOpenFiles],
    ['nproc', 'Max processes', options.countProcesses ? limits.maxProcesses : Number.POSITIVE_INFINITY],
    // A core dump would write the memory of the program into a writable directory.
    ['core', 'Max core file size', 0],
    // Locked memory, queued signals and message queues count against the host user's limits.
    ['memlock', 'Max locked memory', 64 * KiB],
    ['sigpending', 'Max pending signals', 1024],
    ['msgqueue', 'Max msgqueue size', 0],
    // Desktop systems allow these to users; a sandboxed program could starve its host with them.
    ['nice', 'Max nice priority', 0],
    ['rtprio', 'Max realtime priority', 0],
  ];
  return rows.flatMap(([option, kernelName, wanted]) => {
    const value = Math.min(wanted, options.inherited?.get(kernelName) ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(wanted) ? [`--${option}=${value}:${value}`] : [];
  });
}
