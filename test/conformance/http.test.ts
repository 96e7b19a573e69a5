// The official suite checks `serve everything --http` directly: all revisions it knows, the suite without a version, and the old revisions pinned.
import { expect, test } from 'vitest';
import { describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { isTask, missingIn, neverRun, skillScenarios, taskScenarios } from './expectations.ts';
import { complaints } from './outcome.ts';
import { type PinnedRevision, startPinProxy } from './pin-proxy.ts';
import { runServerSuite } from './run-suite.ts';

const timeout = 300_000;

describeConcurrentHttp('by handshake', (subject) => {
  test('over Streamable HTTP the one scenario of 2025-03-26 passes', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, specVersion: '2025-03-26' });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(1);
  });

  test('over Streamable HTTP all 33 scenarios of 2025-11-25 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, specVersion: '2025-11-25' });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(33);
  });
});

describeConcurrentHttp('stateless, and without a version', (subject) => {
  test('over Streamable HTTP all 40 scenarios of 2026-07-28 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, specVersion: '2026-07-28' });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(40);
  });

  test('over Streamable HTTP all nine scenarios of tasks pass', { timeout: 2 * timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, scenarios: taskScenarios, atOnce: 2 });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(9);
  });

  test('over Streamable HTTP all three scenarios of skills pass', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, scenarios: skillScenarios });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(3);
    const skipped = [...run.scenarios.values()].flat().filter(({ status }) => status === 'SKIPPED');
    expect(skipped.map(({ id, description }) => `${id}: ${description}`)).toEqual([]);
  });

  // What it has beyond the tests above are the same scenarios without `--spec-version`.
  test.runIf(isFullRun)(
    'the suite without a version passes, extensions included',
    {
      timeout,
    },
    async () => {
      const run = await runServerSuite({ url: subject().url });
      expect(complaints(run, [neverRun])).toEqual([]);
      expect([...run.scenarios.keys()].filter(isTask)).toHaveLength(10);
      expect(run.scenarios.size).toBe(65);
    },
  );
});

/** By default each on one transport: 2024-11-05 over HTTP+SSE, 2025-06-18 over WebSocket. */
const pinned: readonly PinnedRevision[] = isFullRun ? ['2024-11-05', '2025-03-26', '2025-06-18'] : ['2025-03-26'];

describeConcurrentHttp('pinned', (subject) => {
  test.each(pinned)(
    'over Streamable HTTP every scenario passes that %s has the feature for',
    { timeout },
    async (revision) => {
      const proxy = await startPinProxy(subject().url, revision);
      try {
        const run = await runServerSuite({ url: proxy.url, specVersion: '2025-06-18' });
        expect(complaints(run, missingIn[revision])).toEqual([]);
        expect(run.scenarios.size).toBe(27);
      } finally {
        await proxy.close();
      }
    },
  );
});
