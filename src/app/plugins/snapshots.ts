// Copies of plugin folders. A module is loaded once per path, and so are those it imports: a changed plugin is loaded
// from a fresh copy. Packages it depends on are linked, not copied.

import { cpSync, existsSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';

/** Where copies are kept until the end of the process. */
export class Snapshots {
  #root: string | undefined;
  #count = 0;

  /** Copies a folder, without its packages and hidden folders. */
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
