#!/usr/bin/env node
// `npm create mooring <name>`: the same as `mooring new <name>`, without installing anything first.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const args = process.argv.slice(2);
if (args.length === 0) {
  process.stderr.write('Usage: npm create mooring <name> [-- --js]\n');
  process.exitCode = 2;
} else {
  const manifest = createRequire(import.meta.url).resolve('mooring/package.json');
  const program = join(dirname(manifest), 'dist/cli.js');
  const { status } = spawnSync(process.execPath, [program, 'new', ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
