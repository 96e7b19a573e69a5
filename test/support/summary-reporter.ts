// The last lines of a test run: what could not be tested here and why, and one line that counts.

import type { Reporter, TestModule } from 'vitest/node';
import { takeMissingPrograms } from './programs.ts';

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state]++;
      if (module.errors().length > 0) counts.failed++;
    }
    const missing = takeMissingPrograms();
    if (missing.length > 0) console.log(`\nNot tested on this machine:\n  ${missing.join('\n  ')}`);
    console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped`);
  }
}
