// The program of the official suite in one file, made once for all test files of a run: it starts in a third of the processor time. On
// Node 20, which lacks the `fs.globSync` it imports for a command that no test runs, it would not start otherwise.

import { existsSync, mkdtempSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { runFolder } from '../support/run-folder.ts';

const suite = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'));

const fsWithGlob = `
  export * from 'node:fs';
  export { default } from 'node:fs';
  export function globSync() { throw new Error('fs.globSync is not available here'); }
`;

/** Gives the suite an `fs` that has globSync. */
const withGlob: Plugin = {
  name: 'with-glob',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(node:)?fs$/ }, ({ importer }) =>
      importer.startsWith(suite) ? { path: 'fs', namespace: 'with-glob' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'with-glob' }, () => ({ contents: fsWithGlob }));
  },
};

let made: Promise<string> | undefined;

/** Resolves with the path of the program. */
export function suiteProgram(): Promise<string> {
  made ??= makeProgram();
  return made;
}

async function makeProgram(): Promise<string> {
  const file = join(runFolder(), 'conformance.mjs');
  if (existsSync(file)) return file;
  // Two processes may do this at the same time: each makes a complete program, and the last one counts.
  const own = join(mkdtempSync(join(runFolder(), 'conformance-')), 'conformance.mjs');
  await build({
    entryPoints: [join(suite, 'dist/index.js')],
    outfile: own,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    plugins: [withGlob],
    // Of CommonJS packages, for modules of Node.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  renameSync(own, file);
  return file;
}
