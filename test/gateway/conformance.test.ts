// The official suite at the address of one server behind the gateway: as good as the server itself.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createGateway, type Gateway } from '../../src/gateway/index.ts';
import { createServer, type HttpServer, serveHttp } from '../../src/index.ts';
import { everything } from '../../src/packs/everything/index.ts';
import { isTask, neverRun, noPolling } from '../conformance/expectations.ts';
import { type Allowance, complaints, without } from '../conformance/outcome.ts';
import { runServerSuite } from '../conformance/run-suite.ts';
import { describeConcurrent } from '../support/concurrent-suites.ts';
import { gatewayConfig, upstream } from './fixture.ts';

const timeout = 240_000;
const revisions = ['2025-11-25', '2026-07-28'];

/** An upstream decides about its own streams; clients of the gateway have other streams. */
const polling: Allowance = { ...noPolling, reason: 'closing and resuming a stream concerns one connection only' };

const undeclared = 'a connection that callers share declares what any of them may declare';
/** What a server of an older revision cannot do for a client of the newest. */
const crossing: readonly Allowance[] = [
  ...['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'].map((check) => ({
    scenario: 'server-stateless',
    check,
    reason: undeclared,
  })),
  {
    scenario: 'input-required-result-capability-check',
    check: 'sep-2322-respect-client-capabilities',
    reason: 'the server asks one after the other, and is told that the first cannot be asked',
  },
  ...['input-required-result-ignore-extra-params', 'input-required-result-basic-elicitation'].map((scenario) => ({
    scenario,
    check: scenario.endsWith('params') ? 'sep-2322-ignore-unexpected-params' : 'sep-2322-elicitation-incomplete',
    reason: 'the requests of older servers have no keys, so that the gateway makes them',
  })),
];

for (const revision of revisions) describeConcurrent(`a server at ${revision}`, () => declareSuite(revision));

function declareSuite(revision: string): void {
  let behind: HttpServer;
  let gateway: Gateway;
  let front: HttpServer;
  beforeAll(async () => {
    const server = createServer({ name: 'everything', version: '1.0.0' });
    await server.use(everything());
    behind = await serveHttp(server, { port: 0, graceMs: 100 });
    gateway = createGateway(gatewayConfig([upstream('one', { entry: { url: behind.url }, revision })]), {
      logger: false,
    });
    await gateway.restart('one');
    front = await serveHttp(gateway.single('one') as never, { port: 0, graceMs: 100 });
  });
  afterAll(async () => {
    await front.close();
    await gateway.close();
    await behind.close();
  });

  test('every scenario of 2025-11-25 passes', { timeout }, async () => {
    const run = await runServerSuite({ url: front.url, specVersion: '2025-11-25' });
    expect(complaints(run, [polling])).toEqual([]);
    expect(run.scenarios.size).toBe(33);
  });

  test.runIf(revision === '2026-07-28')('the scenarios of tasks pass', { timeout }, async () => {
    const whole = await runServerSuite({ url: front.url });
    const run = without(
      whole,
      [...whole.scenarios.keys()].filter((scenario) => !isTask(scenario)),
    );
    expect(complaints(run, [neverRun])).toEqual([]);
    expect(run.scenarios.size).toBe(10);
  });

  test('every scenario of 2026-07-28 passes', { timeout }, async () => {
    const run = await runServerSuite({ url: front.url, specVersion: '2026-07-28' });
    expect(complaints(run, revision === '2026-07-28' ? [] : crossing)).toEqual([]);
    expect(run.scenarios.size).toBe(40);
  });
}
