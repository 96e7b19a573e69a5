// System programs that some tests need. Where we may (root, apt), a missing one is installed, once for all test
// processes; elsewhere the tests that need it are skipped and said so. With CI=true a missing program is a failure.

import { spawnSync } from 'node:child_process';
import { accessSync, appendFileSync, constants, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const searched = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];
const lockDirectory = join(tmpdir(), 'mooring-test-apt.lock');
const missingFile = join(tmpdir(), 'mooring-test-missing-programs.txt');

/** An installation takes a minute at most on a slow line; a lock older than this belongs to a dead process. */
const staleLockMs = 180_000;

/** Absolute path of a program in the system directories. */
export function findProgram(name: string): string | undefined {
  return searched.map((directory) => join(directory, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * True when the program is there, installing it first if that is possible. False is recorded for the closing summary;
 * with CI=true it throws instead.
 *
 * @example
 * const available = ensureProgram('bwrap', 'bubblewrap');
 * describe.skipIf(!available)('…', …);
 */
export function ensureProgram(name: string, aptPackage: string): boolean {
  if (findProgram(name) !== undefined || (mayInstall() && installOnce(name, aptPackage))) return true;
  return reportMissing(`${name} is missing (Debian: apt-get install ${aptPackage})`);
}

/** Notes for the closing summary what can not be tested here, and why; with CI=true it throws instead. */
export function reportMissing(message: string): false {
  if (process.env['CI'] === 'true') throw new Error(`${message}; with CI=true that is a failure`);
  appendFileSync(missingFile, `${message}\n`);
  console.warn(`skipped: ${message}`);
  return false;
}

/** What `ensureProgram` could not provide since the last call, for a closing summary. */
export function takeMissingPrograms(): string[] {
  if (!existsSync(missingFile)) return [];
  const lines = readFileSync(missingFile, 'utf8').trim().split('\n');
  rmSync(missingFile, { force: true });
  return [...new Set(lines)];
}

function mayInstall(): boolean {
  return process.getuid?.() === 0 && findProgram('apt-get') !== undefined;
}

/** Tests run in several processes; apt has one lock. The first installs, the others wait and look again. */
function installOnce(name: string, aptPackage: string): boolean {
  for (;;) {
    if (takeLock()) {
      try {
        return findProgram(name) !== undefined || install(name, aptPackage);
      } finally {
        rmSync(lockDirectory, { recursive: true, force: true });
      }
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    if (findProgram(name) !== undefined) return true;
  }
}

function takeLock(): boolean {
  try {
    mkdirSync(lockDirectory);
    return true;
  } catch {
    const age = Date.now() - (statSync(lockDirectory, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleLockMs) rmSync(lockDirectory, { recursive: true, force: true });
    return false;
  }
}

function install(name: string, aptPackage: string): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: string[]) => spawnSync('apt-get', args, { env, stdio: 'ignore', timeout: staleLockMs / 2 });
  const command = ['install', '-y', '-qq', '--no-install-recommends', aptPackage];
  // The package lists of a fresh machine are empty; fetching them is slow, so it is the second try.
  if (apt(...command).status !== 0) {
    apt('update', '-qq');
    apt(...command);
  }
  return findProgram(name) !== undefined;
}
