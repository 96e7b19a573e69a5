// Packages of Python that some tests need, from PyPI, in a folder of their own. Where they cannot be installed, the tests that
// need them are skipped and said so; with CI=true that is a failure.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { reportMissing } from './programs.ts';

/** A program of Python, and what its environment needs to find the packages. */
export interface Python {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/** An installation takes a minute on a slow line; a lock older than this belongs to a dead process. */
const staleLockMs = 300_000;

/**
 * Python with this package; undefined if it cannot be had here. Installed once for all test processes.
 *
 * @example
 * const python = ensurePython('mcp==1.20.0');
 * test.skipIf(python === undefined)('…', …);
 */
export function ensurePython(requirement: string): Python | undefined {
  const folder = join(tmpdir(), `mooring-test-python-${requirement.replace(/[^\w.-]/g, '_')}`);
  const done = join(folder, '.installed');
  const lock = `${folder}.lock`;
  while (!existsSync(done)) {
    if (takeLock(lock)) {
      try {
        if (!existsSync(done) && !install(requirement, folder)) {
          reportMissing(`the package ${requirement} of Python is missing (python3 -m pip install ${requirement})`);
          return undefined;
        }
        writeFileSync(done, '');
      } finally {
        rmSync(lock, { recursive: true, force: true });
      }
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
  return { command: 'python3', env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
}

function install(requirement: string, folder: string): boolean {
  // One retry: pip repeats each request to an index that cannot be reached five times, with pauses, for every package.
  const flags = ['--quiet', '--disable-pip-version-check', '--retries', '1'];
  const args = ['-m', 'pip', 'install', ...flags, '--target', folder, requirement];
  return spawnSync('python3', args, { stdio: 'ignore', timeout: staleLockMs }).status === 0;
}

function takeLock(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (age > staleLockMs) rmSync(lock, { recursive: true, force: true });
    return false;
  }
}
