// Packages of Python that some tests need, from PyPI, in a folder of their own. Where they cannot be installed, the tests that
// need them are skipped and said so; with CI=true that is a failure.

import { spawnSync } from 'node:child_process';
import { installOnce, installTimeoutMs } from './install-once.ts';
import { reportMissing } from './programs.ts';

/** A program of Python, and what its environment needs to find the packages. */
export interface Python {
  readonly command: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Python with this package; undefined if it cannot be had here. Installed once for all test processes.
 *
 * @example
 * const python = ensurePython('mcp==1.20.0');
 * test.skipIf(python === undefined)('…', …);
 */
export function ensurePython(requirement: string): Python | undefined {
  const folder = installOnce(`python-${requirement}`, (target) => install(requirement, target));
  if (folder !== undefined) return { command: 'python3', env: { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' } };
  reportMissing(`the package ${requirement} of Python is missing (python3 -m pip install ${requirement})`);
  return undefined;
}

function install(requirement: string, folder: string): boolean {
  // One retry: pip repeats each request to an index that cannot be reached five times, with pauses, for every package.
  const flags = ['--quiet', '--disable-pip-version-check', '--retries', '1'];
  const args = ['-m', 'pip', 'install', ...flags, '--target', folder, requirement];
  return spawnSync('python3', args, { stdio: 'ignore', timeout: installTimeoutMs }).status === 0;
}
