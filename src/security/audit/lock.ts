// One writer per chain. Clients may start any number of server processes, so a process that finds a log in use takes
// the next one: `audit`, `audit-2`, … each with a chain of its own that continues where its last writer stopped.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writers in a folder at a time; more are a configuration error. */
const maxWriters = 256;

/** A locked log. */
export interface Claim {
  /** What its file names begin with. */
  readonly name: string;
  /** Takes the lock again if it was removed; throws if another process has it now. */
  confirm(): void;
  release(): void;
}

/** Locks of this process: their owner is alive, so the lock files do not show that they are stale. */
const held = new Set<string>();

/** Locks the first log of that name that no process writes to. */
export function claimLog(directory: string, name: string): Claim {
  for (let number = 1; number <= maxWriters; number++) {
    const own = number === 1 ? name : `${name}-${number}`;
    const lock = join(directory, `${own}.lock`);
    if (held.has(lock) || !take(directory, lock)) continue;
    held.add(lock);
    return {
      name: own,
      confirm() {
        if (read(lock) !== ownContent() && !take(directory, lock)) {
          throw new Error(`another process writes to the audit log ${own} in ${directory}`);
        }
      },
      release() {
        held.delete(lock);
        rmSync(lock, { force: true });
      },
    };
  }
  throw new Error(`More than ${maxWriters} processes write audit logs to ${directory}`);
}

function take(directory: string, lock: string): boolean {
  const draft = join(directory, `.lock-${process.pid}-${Math.random().toString(36).slice(2)}`);
  writeFileSync(draft, ownContent(), { mode: 0o600 });
  try {
    // Unlike creating a file and then writing to it, a link appears with its content, or fails.
    for (let attempt = 0; attempt < 3; attempt++) {
      if (link(draft, lock)) return true;
      if (!clearStale(lock, draft)) return false;
    }
    return false;
  } finally {
    rmSync(draft, { force: true });
  }
}

const ownContent = (): string => JSON.stringify({ pid: process.pid, started: startOf(process.pid) });

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes the lock of a process that has ended; false if its owner is running. */
function clearStale(lock: string, draft: string): boolean {
  const found = read(lock);
  if (found === undefined) return true;
  if (isAlive(found)) return false;
  const aside = `${draft}-stale`;
  try {
    renameSync(lock, aside);
  } catch {
    return true; // Another process was faster; the next attempt finds out which.
  }
  // A running process may have taken the lock between check and rename: then it is put back.
  if (read(aside) !== found) link(aside, lock);
  rmSync(aside, { force: true });
  return true;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // Gone.
  }
}

function isAlive(content: string): boolean {
  let owner: { pid?: unknown; started?: unknown };
  try {
    owner = JSON.parse(content);
  } catch {
    return false; // The disk is full, or the file was written by something else.
  }
  const { pid, started } = owner;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // Process ids are reused: a process with another start time is another process.
  return started === startOf(pid);
}

/** The start time of a process in the unit of its system; empty if it is not known. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
