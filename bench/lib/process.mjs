// Server processes: started on a core of their own, measured through /proc, ended by their handle.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

if (!existsSync('/proc/self/task')) throw new Error('The bench reads CPU time from /proc and needs Linux.');

/** Set for what the bench starts: a process on one core sees no other. */
const pinned = 'BENCH_PINNED';
const canPin =
  process.env[pinned] === '1' ||
  (availableParallelism() > 1 && (existsSync('/usr/bin/taskset') || existsSync('/bin/taskset')));
/** Without additional certificates: Node.js reads them at each start, which may take longer than all else. */
const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
const serverCore = '0';
/** Without the one of the load. */
export const serverCores = canPin ? availableParallelism() - 1 : availableParallelism();
const allServerCores = Array.from({ length: availableParallelism() }, (_, n) => n)
  .filter((n) => n !== 1)
  .join(',');
const loadCore = '1';

/** The bench process is the load: it moves to the other core once, before the first server starts. */
export function pinSelf() {
  if (canPin) execFileSync('taskset', ['-acp', loadCore, String(process.pid)], { stdio: 'ignore' });
}

/** A command that runs beside what `launch` started, not on its core. @param {string[]} argv */
export const onLoadCore = (argv) => (canPin ? ['taskset', '-c', loadCore, ...argv] : argv);

/**
 * @param {string} file
 * @param {{ env?: Record<string, string>, stdio: import('node:child_process').StdioOptions, nodeArgs?: string[],
 *   manyCores?: boolean }} options  manyCores: all cores but that of the load, for servers with several processes
 */
export function launch(file, { env, stdio, nodeArgs = [], manyCores = false }) {
  const cores = manyCores ? allServerCores : serverCore;
  const command = [...(canPin ? ['taskset', '-c', cores] : []), process.execPath, ...nodeArgs, file];
  const child = spawn(command[0], command.slice(1), {
    env: { ...inherited, NODE_ENV: 'production', ...(canPin ? { [pinned]: '1' } : {}), ...env },
    stdio,
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
// A bench that is interrupted or fails leaves no server behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

/** @param {import('node:child_process').ChildProcess} child */
export async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

/** CPU time of all threads so far, in microseconds. schedstat counts nanoseconds where stat counts 10 ms ticks. */
export function cpuMicros(/** @type {number} */ pid) {
  let nanos = 0;
  for (const task of readdirSync(`/proc/${pid}/task`)) {
    nanos += Number.parseInt(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'), 10);
  }
  return nanos / 1000;
}

/** @param {number} pid */
export function rssMb(pid) {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

/** The processes below one, in any depth, whose command lines contain a text. @param {number} pid @param {string} text @returns {number[]} */
export function startedProcesses(pid, text) {
  const children = readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((child) => child.trim() !== '')
    .map(Number);
  const started = children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes(text));
  return started.flatMap((child) => [child, ...startedProcesses(child, text)]);
}

/** How many processes have this one as their parent. @param {number} pid */
export const childCount = (pid) =>
  readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((child) => child.trim() !== '').length;

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Rejects with `what` unless the promise settles in time; a bench must not hang on a server that is silent.
 * @template T @param {Promise<T>} promise @param {number} ms @param {string} what @returns {Promise<T>}
 */
export function within(promise, ms, what) {
  /** @type {NodeJS.Timeout} */
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${ms} ms`)), ms);
  });
  return Promise.race([promise, /** @type {Promise<never>} */ (late)]).finally(() => clearTimeout(timer));
}
