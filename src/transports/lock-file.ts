// An exclusive section across processes, held by the existence of a file. The holder writes who it is and keeps the
// file's time fresh; a file whose process is gone, or that was not touched for a while, is removed by the next process
// that waits.

import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { monotonicMs } from '../common/clock.ts';
import { pause } from '../common/wait.ts';
import { isRunning } from './is-running.ts';

/** Loaded when it is needed: the program has this file at its start. */
const hostname = (): string => process.getBuiltinModule('node:os').hostname();

/** Limits of waiting for a lock file. */
export interface LockFileOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs: number;
  /** The error when the lock was not free in time; `holder` is the process that has it, as text. */
  readonly busy: (path: string, holder: string) => Error;
  /** A file untouched for so long has no living holder. Default 15 s; the holder touches it three times as often. */
  readonly staleMs?: number;
}

/** Takes the lock, runs the task, gives the lock back. */
export async function withLockFile<T>(path: string, options: LockFileOptions, task: () => Promise<T>): Promise<T> {
  const staleMs = options.staleMs ?? 15_000;
  const deadline = monotonicMs() + options.timeoutMs;
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), token: crypto.randomUUID() });
  while (!(await create(path, mine))) {
    if (await breakStale(path, staleMs)) continue;
    if (monotonicMs() > deadline) throw options.busy(path, await describe(path));
    await pause(20 + Math.random() * 40, options.signal);
  }
  // If the time cannot be updated, other processes may consider this one ended.
  const heartbeat = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => {}), staleMs / 3);
  heartbeat.unref();
  try {
    return await task();
  } finally {
    clearInterval(heartbeat);
    if ((await read(path)) === mine) await rm(path, { force: true });
  }
}

async function create(path: string, content: string): Promise<boolean> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(content);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes the lock of a process that has ended. Two waiters must not both do so, or the second would remove the first one's new
 * lock: breaking is itself a lock, and the file must still hold what was checked.
 */
async function breakStale(path: string, staleMs: number): Promise<boolean> {
  const checked = await read(path);
  if (checked === undefined) return true;
  if (!(await isStale(path, checked, staleMs))) return false;
  const breaker = `${path}.break`;
  if (!(await create(breaker, ''))) {
    // A breaker needs a moment; one that stays was left by a crash.
    if ((await ageOf(breaker)) > staleMs) await rm(breaker, { force: true });
    return false;
  }
  try {
    if ((await read(path)) === checked) await rm(path, { force: true });
  } finally {
    await rm(breaker, { force: true });
  }
  return true;
}

async function isStale(path: string, content: string, staleMs: number): Promise<boolean> {
  const holder = parse(content);
  if (holder !== undefined && holder.host === hostname() && !isRunning(holder.pid)) return true;
  return (await ageOf(path)) > staleMs;
}

function parse(content: string): { pid: number; host: string } | undefined {
  try {
    const value = JSON.parse(content) as { pid?: unknown; host?: unknown };
    return typeof value.pid === 'number' && typeof value.host === 'string'
      ? { pid: value.pid, host: value.host }
      : undefined;
  } catch {
    return undefined; // Caught between creation and writing: its age decides.
  }
}

async function describe(path: string): Promise<string> {
  const holder = parse((await read(path)) ?? '');
  return holder === undefined ? 'another process' : `process ${holder.pid} on ${holder.host}`;
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function ageOf(path: string): Promise<number> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch {
    return 0; // Gone meanwhile: the caller checks again.
  }
}
