// The package as npm publishes it, unpacked into a project folder. Installing it with npm would need the network.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** Makes a folder a project that has the package, and these packages of this repository. */
export function unpackPackage(folder: string, packages: readonly string[]): void {
  const shell = process.platform === 'win32';
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const [packed] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: 'pipe', shell }));
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'mooring'), { recursive: true });
  execFileSync('tar', ['-xzf', packed.filename, '-C', join('node_modules', 'mooring'), '--strip-components=1'], {
    cwd: folder,
  });
  for (const name of packages) {
    if (existsSync(join(root, 'node_modules', name))) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
    }
  }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
}
