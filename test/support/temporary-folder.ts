// Temporary folders of tests.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runFolder } from './run-folder.ts';

const folders: string[] = [];

// Registered when a test file imports this module, so it runs after the hooks of that file. Of files that share their modules
// only the first one does so: what the others leave is removed when the run is over.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Creates an empty folder and returns its real path. It is removed after the tests of the file, or after the run. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(runFolder(), 'test-'));
  folders.push(folder);
  return folder;
}
