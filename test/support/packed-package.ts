// The packages of this repository as `npm pack` makes them, once for all test files of a run, and one of them unpacked into a
// project folder. Installing it with npm would need a registry, see registry.ts.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { runFolder } from './run-folder.ts';

const root = resolve(import.meta.dirname, '../..');

export interface PackedPackage {
  readonly tarball: string;
  /** The paths of what is in it. */
  readonly files: readonly string[];
}

/** `cwd`: the folder of the package; this repository unless told. */
export function packPackage(cwd: string = root): PackedPackage {
  const folder = join(runFolder(), `packed-${basename(cwd)}`);
  if (!existsSync(folder)) {
    // Two files may pack at the same time: the first one to finish counts.
    const own = mkdtempSync(`${folder}-`);
    const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', own];
    const shell = process.platform === 'win32';
    writeFileSync(join(own, 'packed.json'), execFileSync('npm', args, { cwd, stdio: 'pipe', shell }));
    try {
      renameSync(own, folder);
    } catch (error) {
      rmSync(own, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  const [packed] = JSON.parse(readFileSync(join(folder, 'packed.json'), 'utf8'));
  return { tarball: join(folder, packed.filename), files: packed.files.map(({ path }: { path: string }) => path) };
}

/** Makes a folder a project that has the package, and these packages of this repository. */
export function unpackPackage(folder: string, packages: readonly string[]): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'mooring'), { recursive: true });
  execFileSync('tar', ['-xzf', packPackage().tarball, '-C', join(modules, 'mooring'), '--strip-components=1']);
  for (const name of packages) {
    if (existsSync(join(root, 'node_modules', name))) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
    }
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}
