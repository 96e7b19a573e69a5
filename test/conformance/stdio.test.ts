// The official suite checks `serve everything` over stdio, through the bridge: both eras; with MOORING_TEST_FULL=1 also tasks, and the
// old revisions pinned by the proxy.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import type { Bridge } from './bridge.ts';
import {
  headerChecks,
  headerScenarios,
  missingIn,
  noPolling,
  taskHeaderChecks,
  taskScenarios,
} from './expectations.ts';
import { complaints, without } from './outcome.ts';
import { type PinnedRevision, startPinProxy } from './pin-proxy.ts';
import { runServerSuite } from './run-suite.ts';
import { startStdioBridge } from './stdio-bridge.ts';
import { stdioSubject } from './subject.ts';

const timeout = 300_000;
let bridge: Bridge;

beforeAll(async () => {
  bridge = await startStdioBridge(stdioSubject);
});

afterAll(() => bridge?.close());

// Every session has a child of its own, so the suites may share the bridge.
describeConcurrent('as it is', () => {
  test('over stdio all 33 scenarios of 2025-11-25 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: bridge.url, specVersion: '2025-11-25' });
    expect(complaints(run, [noPolling])).toEqual([]);
    expect(run.scenarios.size).toBe(33);
  });

  test('over stdio the scenarios of 2026-07-28 pass that do not check HTTP headers', { timeout }, async () => {
    const run = without(await runServerSuite({ url: bridge.url, specVersion: '2026-07-28' }), headerScenarios);
    expect(complaints(run, headerChecks)).toEqual([]);
    expect(run.scenarios.size).toBe(38);
  });

  // By default over HTTP only, in http.test.ts.
  test.runIf(isFullRun)(
    'over stdio all nine scenarios of tasks pass but their checks of headers',
    {
      timeout: 2 * timeout,
    },
    async () => {
      const run = await runServerSuite({ url: bridge.url, scenarios: taskScenarios, atOnce: 2 });
      expect(complaints(run, taskHeaderChecks)).toEqual([]);
      expect(run.scenarios.size).toBe(9);
    },
  );
});

// By default each of them is pinned on one of the other transports.
describe.runIf(isFullRun)('pinned', () => {
  // Without the pin the harness offers 2025-11-25 whatever revision it checks; with it, 2025-06-18 is really negotiated.
  test.each<PinnedRevision>(['2024-11-05', '2025-03-26', '2025-06-18'])(
    'over stdio every scenario passes that %s has the feature for',
    { timeout },
    async (revision) => {
      const proxy = await startPinProxy(bridge.url, revision);
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
