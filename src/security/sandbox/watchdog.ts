// Limits that no system call enforces for a whole tree: total memory, number of processes if RLIMIT_NPROC cannot be used,
// files in the private /tmp, growth of the disk behind writable directories. It measures, and calls stop.

import { statfsSync, statSync } from 'node:fs';
import type { ControlGroup } from './cgroup.ts';
import type { StopReason } from './contract.ts';
import type { SandboxLimits } from './limits.ts';
import { measureTree } from './process-tree.ts';

/** Short enough that a memory bomb gains little between two measurements, long enough that they cost nothing. */
const lookEveryMs = 100;

/** What to measure. */
export interface WatchdogOptions {
  /** The host's pid of the first process of the tree. */
  readonly root: number;
  readonly limits: SandboxLimits;
  /** Paths whose file systems must not grow too much. */
  readonly writable: readonly string[];
  /** The tree has its own mount for /tmp. */
  readonly privateTmp: boolean;
  /** If there is one, it limits processes and memory exactly; we only check whether a limit was hit. */
  readonly controlGroup: ControlGroup | undefined;
}

/** Starts to measure; the returned function stops it. */
export function startWatchdog(options: WatchdogOptions, stop: (reason: StopReason) => void): () => void {
  const before = options.writable.map(usageOf);
  const timer = setInterval(() => {
    const reason = excess(options, before);
    if (reason !== undefined) stop(reason);
    options.controlGroup?.ranOutOfMemory().then((out) => (out ? stop('memory') : undefined));
  }, lookEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

interface DiskUsage {
  readonly bytes: number;
  readonly files: number;
}

/** The first limit that is exceeded now. */
function excess(options: WatchdogOptions, before: readonly (DiskUsage | undefined)[]): StopReason | undefined {
  const { limits, root, writable, controlGroup } = options;
  const tree = controlGroup === undefined || writable.length > 0 ? measureTree(root) : undefined;
  if (tree !== undefined && controlGroup === undefined) {
    if (tree.memoryBytes > limits.maxMemoryBytes) return 'memory';
    // Never reached if RLIMIT_NPROC applies; the margin covers a different count of threads.
    if (tree.tasks > limits.maxProcesses * 1.5 + 8) return 'processes';
  }
  if (options.privateTmp && filesInPrivateTmp(root) > limits.maxTmpFiles) return 'disk';
  if ((tree?.writtenBytes ?? 0) > limits.maxWrittenBytes) return 'disk';
  const grown = writable.some((path, index) => {
    const [then, now] = [before[index], usageOf(path)];
    if (then === undefined || now === undefined) return false;
    // Others write to the same disk, so its growth in bytes counts only if the tree's own count is not available.
    const tooLarge = tree?.writtenBytes === undefined && now.bytes - then.bytes > limits.maxWrittenBytes;
    return tooLarge || now.files - then.files > limits.maxNewFiles;
  });
  return grown ? 'disk' : undefined;
}

/** On a busy machine a tree may not have its own /tmp yet: until then, the path leads to that of the host, with all its files. */
function filesInPrivateTmp(root: number): number {
  const path = `/proc/${root}/root/tmp`;
  const own = deviceOf(path);
  return own === undefined || own === deviceOf('/tmp') ? 0 : (usageOf(path)?.files ?? 0);
}

function deviceOf(path: string): number | undefined {
  try {
    return statSync(path).dev;
  } catch {
    return undefined; // The tree ended, or has no /tmp.
  }
}

function usageOf(path: string): DiskUsage | undefined {
  try {
    const { blocks, bfree, bsize, files, ffree } = statfsSync(path);
    return { bytes: (blocks - bfree) * bsize, files: files - ffree };
  } catch {
    return undefined; // The tree ended, or the file system reports nothing: the other limits still apply.
  }
}
