import { defineConfig } from 'vitest/config';

/** Helper scripts of tests that are bundled or spawned, and the suite's own output, are not tests. */
const ignored = ['**/node_modules/**', '**/dist/**', '.tmp/**'];

/** Files whose tests wait for official suites, other implementations and servers that do not answer: half of their time nothing computes. */
const waiting = [
  'test/conformance/**/*.test.ts',
  'test/client/{conformance,tasks,third-party-tasks}.test.ts',
  'test/client/faulty/**/*.test.ts',
  'test/gateway/{conformance,served}.test.ts',
  'test/peers/**/*.test.ts',
];

/** On a shared machine a test of several processes is run once more if it fails; the closing summary names it. */
const retry = process.env['CI'] === 'true' ? 1 : 0;

export default defineConfig({
  test: {
    projects: [
      // Unit tests share one module cache per worker: loading the sources again for each file took two thirds of the time.
      { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false } },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [...ignored, ...waiting, 'test/scale/**'],
          retry,
        },
      },
      { extends: true, test: { name: 'waiting', include: waiting, maxWorkers: 3, sequence: { groupOrder: 1 }, retry } },
      // Several servers, a database and a load each, with time limits between them: last, and one file at a time.
      {
        extends: true,
        test: {
          name: 'scale',
          include: ['test/scale/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 2 },
          retry,
        },
      },
    ],
    // Only what hangs reaches it: a busy machine may stop a process for some seconds, several times in a test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // Tests start servers, sandboxes and browsers of their own: more at a time would only make each of them late.
    maxWorkers: 2,
    globalSetup: './test/support/prepare.ts',
    reporters: ['default', './test/support/summary-reporter.ts'],
    exclude: ignored,
    // What runs in processes of their own (the program, servers of tests) runs the build and is not counted.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/testing/**', 'src/**/fixtures/**'],
      reporter: ['text-summary', 'html'],
    },
  },
});
