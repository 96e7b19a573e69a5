// Bundles the library and the command line into dist/, and writes the type declarations beside them.
// Everything lazy stays a chunk of its own, so that a start loads only what it uses.
//
//   node scripts/build.mjs [--outdir DIR] [--no-types]
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const { values } = parseArgs({ options: { outdir: { type: 'string' }, 'no-types': { type: 'boolean' } } });
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const outdir = resolve(values.outdir ?? resolve(root, 'dist'));

const entries = {
  index: 'src/index.ts',
  cli: 'src/cli/main.ts',
  'mcp-clipboardify': 'src/cli/mcp-clipboardify.ts',
  'mcp-secure-local': 'src/cli/mcp-secure-local.ts',
  client: 'src/client/index.ts',
};

// Written beside and swapped in whole: whoever runs the old build meanwhile keeps it, and a failed one changes nothing.
mkdirSync(dirname(outdir), { recursive: true });
const fresh = mkdtempSync(`${outdir}-`);
try {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(resolve(root, file)))),
    outdir: fresh,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    chunkNames: 'chunks/[name]-[hash]',
    logLevel: 'warning',
    define: { __VERSION__: JSON.stringify(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')).version) },
  });
  if (values['no-types'] !== true) {
    const tsc = resolve(root, 'node_modules/typescript/bin/tsc');
    const args = ['-p', resolve(root, 'tsconfig.build.json'), '--outDir', fresh];
    execFileSync(process.execPath, [tsc, ...args], { stdio: 'inherit' });
  }
  const old = `${outdir}-old-${process.pid}`;
  if (existsSync(outdir)) renameSync(outdir, old);
  renameSync(fresh, outdir);
  rmSync(old, { recursive: true, force: true });
} catch (error) {
  rmSync(fresh, { recursive: true, force: true });
  // What tsc and esbuild had to say has been said; the stack of this script adds nothing.
  if (error?.status === undefined && error?.errors === undefined) throw error;
  process.exitCode = 1;
}
