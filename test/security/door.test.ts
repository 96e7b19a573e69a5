// What importing the built doors loads: the core nothing of the guards, the guards no library until one is used.

import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');

/** Files of the build and packages that are loaded at once with a door. */
async function loadedWith(door: string): Promise<{ readonly files: string[]; readonly packages: string[] }> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [join('dist', door)],
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
  follow(join('dist', door));
  const isFile = (each: string): boolean => each in metafile.inputs;
  const files = [...found].filter(isFile).map((each) => basename(each));
  return { files, packages: [...found].filter((each) => !isFile(each) && !each.startsWith('node:')) };
}

test('importing mooring/security loads no library', async () => {
  const { files, packages } = await loadedWith('security.js');
  expect(files.length).toBeGreaterThan(5);
  expect(packages).toEqual([]);
});

test('importing mooring loads its core and nothing of the guards', async () => {
  const { files } = await loadedWith('index.js');
  const ours = files.map((each) => each.replace(/-.*/, '')).filter((each) => each !== 'rolldown');
  expect(ours).toEqual(['index.js', 'core']);
});
