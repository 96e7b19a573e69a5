// Packages of npm that only the full run needs and that are too large to be dependencies of this one.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installOnce, installTimeoutMs } from './install-once.ts';
import { reportMissing } from './programs.ts';

/** The folder of a package; undefined if it cannot be installed here. `version`: exact, or it would never change. */
export function ensureNpmPackage(name: string, version: string): string | undefined {
  const wanted = `${name}@${version}`;
  const folder = installOnce(`npm-${wanted}`, (target) => install(wanted, target));
  if (folder !== undefined) return join(folder, 'node_modules', name);
  reportMissing(`the package ${wanted} is missing (npm install ${wanted})`);
  return undefined;
}

function install(wanted: string, folder: string): boolean {
  const args = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', wanted];
  const env = { ...process.env, NODE_EXTRA_CA_CERTS: process.env['MOORING_TEST_CA_CERTS'] };
  return spawnSync('npm', args, { cwd: folder, env, stdio: 'ignore', timeout: installTimeoutMs }).status === 0;
}
