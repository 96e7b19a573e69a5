// The official suite checks the WebSocket transport of `serve everything --http`, through the bridge, in both eras.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import type { Bridge } from './bridge.ts';
import { headerChecks, headerScenarios, noPolling, taskHeaderChecks, taskScenarios } from './expectations.ts';
import { complaints, without } from './outcome.ts';
import { startPinProxy } from './pin-proxy.ts';
import { runServerSuite } from './run-suite.ts';
import { startWebSocketBridge } from './ws-bridge.ts';

const timeout = 300_000;

/** Tests with a server and a bridge of their own. */
function describeBridged(title: string, declare: (url: () => string) => void): void {
  describeConcurrentHttp(title, (subject) => {
    let bridge: Bridge | undefined;
    beforeAll(async () => {
      bridge = await startWebSocketBridge(subject().webSocketUrl);
    });
    afterAll(() => bridge?.close());
    declare(() => bridge?.url as string);
  });
}

describeBridged('by handshake', (url) => {
  test('over WebSocket all 27 scenarios of 2025-06-18 pass', { timeout }, async () => {
    const proxy = await startPinProxy(url(), '2025-06-18');
    try {
      const run = await runServerSuite({ url: proxy.url, specVersion: '2025-06-18' });
      expect(complaints(run)).toEqual([]);
      expect(run.scenarios.size).toBe(27);
    } finally {
      await proxy.close();
    }
  });

  test.runIf(isFullRun)('over WebSocket all 33 scenarios of 2025-11-25 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: url(), specVersion: '2025-11-25' });
    expect(complaints(run, [noPolling])).toEqual([]);
    expect(run.scenarios.size).toBe(33);
  });
});

describeBridged('stateless', (url) => {
  test('over WebSocket the scenarios of 2026-07-28 pass that do not check HTTP headers', { timeout }, async () => {
    const run = without(await runServerSuite({ url: url(), specVersion: '2026-07-28' }), headerScenarios);
    expect(complaints(run, headerChecks)).toEqual([]);
    expect(run.scenarios.size).toBe(38);
  });
});

// By default over HTTP only, in http.test.ts.
describeBridged('tasks', (url) => {
  test.runIf(isFullRun)(
    'over WebSocket all nine scenarios of tasks pass but their checks of headers',
    {
      timeout: 2 * timeout,
    },
    async () => {
      const run = await runServerSuite({ url: url(), scenarios: taskScenarios, atOnce: 2 });
      expect(complaints(run, taskHeaderChecks)).toEqual([]);
      expect(run.scenarios.size).toBe(9);
    },
  );
});
