import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      // Unit tests share one module cache per worker: loading the sources again for each file took two thirds of the time.
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false } },
      { extends: true, test: { name: 'system', include: ['test/**/*.test.ts'] } },
    ],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    // Tests start servers, sandboxes and browsers of their own: more at a time would only make each of them late.
    maxWorkers: 2,
    globalSetup: './test/support/prepare.ts',
    reporters: ['default', './test/support/summary-reporter.ts'],
    // Helper scripts of tests that are bundled or spawned, and the suite's own output, are not tests.
    exclude: ['**/node_modules/**', '**/dist/**', '.tmp/**'],
    // What runs in processes of their own (the program, servers of tests) runs the build and is not counted.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/testing/**', 'src/**/fixtures/**'],
      reporter: ['text-summary', 'html'],
    },
  },
});
