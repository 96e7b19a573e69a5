// Packages that some tests need and that are too large to be dependencies: each is installed once, in a folder of its own that all test
// processes share.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOneProcess } from './one-process.ts';

/** An installation takes a minute on a slow line; a lock older than this belongs to a dead process. */
export const installTimeoutMs = 300_000;

/**
 * The folder with what `install` has put there; undefined if it could not. The first process installs, the others wait.
 * `name`: tells it from others, including its version.
 */
export function installOnce(name: string, install: (folder: string) => boolean): string | undefined {
  const folder = join(tmpdir(), `mooring-test-${name.replace(/[^\w.-]/g, '_')}`);
  const done = join(folder, '.installed');
  return inOneProcess<string | undefined>(
    `${folder}.lock`,
    installTimeoutMs,
    () => (existsSync(done) ? folder : undefined),
    () => {
      mkdirSync(folder, { recursive: true });
      if (!install(folder)) return undefined;
      writeFileSync(done, '');
      return folder;
    },
  );
}
