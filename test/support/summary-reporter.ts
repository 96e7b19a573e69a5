// The last lines of a test run: what could not be tested here and why, what passed only the second time, and one line that counts.

import type { Reporter, TestModule } from 'vitest/node';
import { takeMissingPrograms } from './programs.ts';

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const repeated: string[] = [];
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state]++;
        if (test.diagnostic()?.flaky !== true) continue;
        const error = test.result().errors?.[0];
        repeated.push(`${module.relativeModuleId} > ${test.fullName}\n    ${error?.stack ?? error?.message ?? ''}`);
      }
      if (module.errors().length > 0) counts.failed++;
    }
    const missing = takeMissingPrograms();
    if (missing.length > 0) console.log(`\nNot tested on this machine:\n  ${missing.join('\n  ')}`);
    if (repeated.length > 0)
      console.log(`\nFailed once and passed when repeated, to be fixed:\n  ${repeated.join('\n  ')}`);
    console.log(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped + counts.pending} skipped`);
  }
}
