// One writer per chain. Clients start as many processes of us as they like, so whoever finds a log in use takes the next
// one: `audit`, `audit-2`, … each with a chain of its own that goes on where its last writer stopped.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A directory with more writers than this at a time is a mistake. */
const maxWriters = 256;

/** A log that is ours until we let go. */
export interface Claim {
  /** What its file names begin with. */
  readonly name: string;
  /** Takes the lock again where somebody removed it; throws when another process has it now. */
  confirm(): void;
  release(): void;
}

/** Locks of this very process, which looks alive to itself. */
const held = new Set<string>();

/** Takes the first log of that name nobody writes to. */
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
          throw new Error(`another process writes to the audit log ${own} in ${directory} now`);
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

/** Moves the lock of a dead process away; false when its owner lives. */
function clearStale(lock: string, draft: string): boolean {
  const found = read(lock);
  if (found === undefined) return true;
  if (isAlive(found)) return false;
  const aside = `${draft}-stale`;
  try {
    renameSync(lock, aside);
  } catch {
    return true; // Somebody else was faster; the next attempt finds out who has it.
  }
  // Between our look and the move a living process may have taken it: then it goes back.
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
    return false; // A full disk, or somebody's hand.
  }
  const { pid, started } = owner;
  if (typeof pid !== 'number' || !Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
  }
  // Numbers are used again: a process that began at another time is another process.
  return started === startOf(pid);
}

/** When a process began, as its system counts; empty where it does not tell. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
