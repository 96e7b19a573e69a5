// The official suite checks the HTTP+SSE transport of `serve everything --http`, through the bridge; it carries the handshake era only.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';
import type { Bridge } from './bridge.ts';
import { missingIn, noPolling } from './expectations.ts';
import { complaints } from './outcome.ts';
import { startPinProxy } from './pin-proxy.ts';
import { runServerSuite } from './run-suite.ts';
import { startSseBridge } from './sse-bridge.ts';
import { type HttpSubject, startHttpSubject } from './subject.ts';

const timeout = 300_000;
let subject: HttpSubject;
let bridge: Bridge;

beforeAll(async () => {
  subject = await startHttpSubject();
  bridge = await startSseBridge(subject.sseUrl);
});

afterAll(async () => {
  await bridge?.close();
  await subject?.close();
});

test('over HTTP+SSE every scenario passes that its own revision 2024-11-05 has the feature for', {
  timeout,
}, async () => {
  const proxy = await startPinProxy(bridge.url, '2024-11-05');
  try {
    const run = await runServerSuite({ url: proxy.url, specVersion: '2025-06-18' });
    expect(complaints(run, missingIn['2024-11-05'])).toEqual([]);
    expect(run.scenarios.size).toBe(27);
  } finally {
    await proxy.close();
  }
});

test.runIf(isFullRun)('over HTTP+SSE all 33 scenarios of 2025-11-25 pass', { timeout }, async () => {
  const run = await runServerSuite({ url: bridge.url, specVersion: '2025-11-25' });
  expect(complaints(run, [noPolling])).toEqual([]);
  expect(run.scenarios.size).toBe(33);
});
