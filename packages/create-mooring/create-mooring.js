#!/usr/bin/env node
// `npm create mooring <name>`: the same as `mooring new <name>`, without installing anything first.

import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const manifest = createRequire(import.meta.url).resolve('mooring/package.json');
const program = join(dirname(manifest), 'dist/cli.js');
const { status } = spawnSync(process.execPath, [program, 'new', ...process.argv.slice(2)], { stdio: 'inherit' });
process.exitCode = status ?? 1;
