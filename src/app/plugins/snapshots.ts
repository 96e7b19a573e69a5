// Copies of plugin folders. Node loads a module and its imports once per path, so a changed plugin is loaded from a new
// copy. Its dependencies are linked, not copied.

import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';

/** The copies, deleted when the process ends. */
export class Snapshots {
  #root: string | undefined;
  #count = 0;

  /** Copies a folder, without node_modules and hidden folders. */
  take(folder: string): string {
    this.#root ??= realpathSync(mkdtempSync(join(tmpdir(), 'mooring-plugins-')));
    const copy = join(this.#root, String(++this.#count));
    const skip = new RegExp(`\\${sep}(node_modules|\\.[^\\${sep}]+)(\\${sep}|$)`);
    cpSync(folder, copy, { recursive: true, filter: (path) => !skip.test(path.slice(folder.length)) });
    const packages = nearestPackages(folder);
    if (packages !== undefined) symlinkSync(packages, join(copy, 'node_modules'), 'junction');
    return copy;
  }

  close(): void {
    if (this.#root !== undefined) rmSync(this.#root, { recursive: true, force: true });
    this.#root = undefined;
  }
}

function nearestPackages(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const packages = join(at, 'node_modules');
    if (existsSync(packages)) return packages;
    if (dirname(at) === at) return undefined;
  }
}
