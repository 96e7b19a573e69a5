// Runs once, before the first test; what it returns runs after the last.

import { ensureAllPrograms } from './programs.ts';
import { makeRunFolder } from './run-folder.ts';

export function setup(): () => void {
  // Where everything must be tested, nothing may be missing; elsewhere each test looks for what it needs.
  if (process.env['CI'] === 'true') ensureAllPrograms();
  return makeRunFolder();
}
