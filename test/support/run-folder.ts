// A folder that all test files of a run share, for what takes long to make and for their temporary folders. It is removed when the
// run is over.

import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const variable = 'MOORING_TEST_RUN_FOLDER';

/** Before the first test, once for each project, of which the first one makes it; the result removes it. */
export function makeRunFolder(): () => void {
  if (process.env[variable] !== undefined) return () => {};
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mooring-run-')));
  // Sandboxes run as another user, and need what is below it.
  chmodSync(folder, 0o755);
  process.env[variable] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

export function runFolder(): string {
  return process.env[variable] as string;
}
