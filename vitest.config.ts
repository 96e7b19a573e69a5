import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // Many tests wait for processes and sockets: a worker more than a small machine has cores keeps it busy.
    maxWorkers: 3,
    reporters: ['default', './test/support/summary-reporter.ts'],
    // Helper scripts of tests that are bundled or spawned, and the suite's own output, are not tests.
    exclude: ['**/node_modules/**', '**/dist/**', '.tmp/**'],
  },
});
