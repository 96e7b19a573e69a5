// What importing an entry point loads: the core nothing of the guards, the guards no library until one is used.

import { resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Files and packages that are loaded at once with an entry point, and not later. */
async function loadedWith(entryPoint: string): Promise<{ readonly files: string[]; readonly packages: string[] }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entryPoint],
    outdir: '.tmp',
    bundle: true,
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    write: false,
    metafile: true,
  });
  const found = new Set<string>();
  const follow = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const { kind, path } of metafile.inputs[file]?.imports ?? []) if (kind === 'import-statement') follow(path);
  };
  follow(entryPoint);
  const isFile = (each: string): boolean => each in metafile.inputs;
  return {
    files: [...found].filter(isFile),
    packages: [...found].filter((each) => !isFile(each) && !each.startsWith('node:')),
  };
}

test.each(['src/security/index.ts', 'dist/security.js'])('importing %s loads no library', async (entryPoint) => {
  const { files, packages } = await loadedWith(entryPoint);
  expect(files.length).toBeGreaterThan(5);
  expect(packages).toEqual([]);
});

test('importing mooring loads nothing of the guards', async () => {
  const { files } = await loadedWith('src/index.ts');
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((each) => each.startsWith('src/security/'))).toEqual([]);
});
