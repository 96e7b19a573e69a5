// Runs once, before the first test.

import { ensureAllPrograms } from './programs.ts';

export function setup(): void {
  // Where everything must be tested, nothing may be missing; elsewhere each test looks for what it needs.
  if (process.env['CI'] === 'true') ensureAllPrograms();
}
