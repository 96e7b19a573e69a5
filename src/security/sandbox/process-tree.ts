// What the kernel reports about a running tree, read from /proc without privileges: its processes and their memory.
// Only reads; `watchdog.ts` and `trees.ts` act on it.

import { readdirSync, readFileSync, statSync } from 'node:fs';

/** A tree at one moment. */
export interface TreeUsage {
  /** Processes and threads. */
  readonly tasks: number;
  /** Anonymous and shared memory in RAM and swap; pages of program files are not counted. */
  readonly memoryBytes: number;
  /** Written to disks so far, including ended children; `undefined` if the kernel does not report it. */
  readonly writtenBytes: number | undefined;
  readonly pids: readonly number[];
}

/** Walks from a process to its descendants. A double fork inside a pid namespace stays a descendant of its process 1. */
export function measureTree(root: number): TreeUsage {
  const pids: number[] = [];
  const seen = new Set<number>([root]);
  const waiting = [root];
  let tasks = 0;
  let memoryBytes = 0;
  let writtenBytes: number | undefined = 0;
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const status = readOrNothing(`/proc/${pid}/status`);
    if (status === '') continue;
    pids.push(pid);
    tasks += numberOf(status, 'Threads');
    memoryBytes += (numberOf(status, 'RssAnon') + numberOf(status, 'RssShmem') + numberOf(status, 'VmSwap')) * 1024;
    const written = writtenBy(pid);
    if (written !== undefined && writtenBytes !== undefined) writtenBytes += written;
    else if (pid === root) writtenBytes = undefined;
    for (const child of childrenOf(pid)) {
      if (!seen.has(child)) waiting.push(child);
      seen.add(child);
    }
  }
  return { tasks, memoryBytes, writtenBytes, pids };
}

/** The variable by which processes of a tree are found that are not descendants of its first process any more. */
export const runVariable = 'SANDBOX_RUN_ID';

/** All processes of a user that were started with this value of the variable, which children inherit. One may have removed it. */
export function findMarked(mark: string, uid: number): number[] {
  let entries: string[];
  try {
    entries = readdirSync('/proc');
  } catch {
    return []; // Not Linux.
  }
  const entry = `${runVariable}=${mark}`;
  return entries
    .filter((name) => /^\d+$/.test(name) && isOwnedBy(`/proc/${name}`, uid))
    .filter((name) => readOrNothing(`/proc/${name}/environ`).split('\0').includes(entry))
    .map(Number);
}

/** Takes a fraction of the time that reading a file there takes. */
function isOwnedBy(path: string, uid: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === uid;
}

/** A process includes the count of the children that it has waited for, so the sum over a tree never shrinks. */
function writtenBy(pid: number): number | undefined {
  const io = readOrNothing(`/proc/${pid}/io`);
  return io === '' ? undefined : numberOf(io, 'write_bytes');
}

function childrenOf(pid: number): number[] {
  let threads: string[];
  try {
    threads = readdirSync(`/proc/${pid}/task`);
  } catch {
    return []; // It has ended; its children have a new parent, which is found through process 1 next time.
  }
  return threads.flatMap((thread) =>
    readOrNothing(`/proc/${pid}/task/${thread}/children`).split(' ').map(Number).filter(Boolean),
  );
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // The process ended between two reads, or is of another user.
  }
}

function numberOf(status: string, name: string): number {
  const at = status.indexOf(`\n${name}:`);
  return at < 0 ? 0 : Number.parseInt(status.slice(at + name.length + 2), 10);
}
