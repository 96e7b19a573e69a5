// The official suite at the address of one server behind the gateway: as good as the server itself. By default a client of
// each era with a server of the other one; with MOORING_TEST_FULL=1 our server at every revision, and servers of both lines of
// the official SDK, compared with a run without the gateway.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HttpServer } from '../../src/index.ts';
import { type Listening, startListening } from '../client/third-party.ts';
import { noPolling, skillScenarios, taskScenarios } from '../conformance/expectations.ts';
import { type Allowance, complaints, worse } from '../conformance/outcome.ts';
import { type PinnedRevision, startPinProxy } from '../conformance/pin-proxy.ts';
import { runServerSuite, type SuiteRun } from '../conformance/run-suite.ts';
import { isFullRun, pairsOf } from '../support/full.ts';
import { upstream } from './fixture.ts';
import { type ServedGateway, serveEverything, serveGateway } from './served-gateway.ts';

const timeout = 300_000;
const scenarioCount = { '2025-11-25': 33, '2026-07-28': 40 };
type SuiteVersion = keyof typeof scenarioCount;
const versions = Object.keys(scenarioCount) as SuiteVersion[];
const newest = '2026-07-28';

/** An upstream decides about its own streams; clients of the gateway have other streams. */
const polling: Allowance = { ...noPolling, reason: 'closing and resuming a stream concerns one connection only' };

const allow = (reason: string, ...checks: readonly (readonly [scenario: string, check: string])[]): Allowance[] =>
  checks.map(([scenario, check]) => ({ scenario, check, reason }));

/** What no server of an older revision can do for a client of the newest. */
const crossing: readonly Allowance[] = [
  ...allow(
    'a connection that callers share declares what any of them may declare',
    ['server-stateless', 'sep-2575-server-rejects-undeclared-capability'],
    ['server-stateless', 'sep-2575-missing-capability-http-400'],
  ),
  ...allow('the requests of older servers have no keys, so that the gateway makes them', [
    'input-required-result-basic-elicitation',
    'sep-2322-elicitation-incomplete',
  ]),
];

/** The same for servers that can ask. */
const asking: readonly Allowance[] = [
  {
    scenario: 'input-required-result-capability-check',
    check: 'sep-2322-respect-client-capabilities',
    reason: 'the server asks for two things at once, and fails when it is told that one of them cannot be asked for',
    // The other request reaches the client if the gateway has it before the failure of the call.
    maySucceed: true,
  },
  ...allow('the requests of older servers have no keys, so that the gateway makes them', [
    'input-required-result-ignore-extra-params',
    'sep-2322-ignore-unexpected-params',
  ]),
];

const noDialect = allow('schemas of tools have a dialect since 2025-11-25', [
  'json-schema-2020-12',
  'json-schema-2020-12-$schema',
]);
const notAsking = allow(
  'elicitation came with 2025-06-18; the tools fail without it',
  ['input-required-result-validate-input', 'sep-2322-validate-input-responses'],
  ['input-required-result-tampered-state', 'sep-2322-reject-tampered-state'],
  ['input-required-result-result-type', 'sep-2322-result-type-included'],
  ['input-required-result-request-state', 'sep-2322-request-state-incomplete'],
  ['input-required-result-non-tool-request', 'sep-2322-non-tool-incomplete'],
  ['input-required-result-multiple-input-requests', 'sep-2322-multiple-inputs-incomplete'],
  ['input-required-result-multi-round', 'sep-2322-multi-round-r1'],
  ['input-required-result-missing-input-response', 'sep-2322-missing-response-rerequests'],
);
const noAudio = allow('audio content came with 2025-03-26', ['tools-call-audio', 'tools-call-audio']);

/** What a client of the newest revision cannot get from a server of each revision. */
const lost = {
  '2024-11-05': [...crossing, ...noDialect, ...notAsking, ...noAudio],
  '2025-03-26': [...crossing, ...noDialect, ...notAsking],
  '2025-06-18': [...crossing, ...asking, ...noDialect],
  '2025-11-25': [...crossing, ...asking],
  [newest]: [],
} as const satisfies Record<string, readonly Allowance[]>;
type Revision = keyof typeof lost;

async function runThrough(front: ServedGateway, specVersion: SuiteVersion): Promise<SuiteRun> {
  const run = await runServerSuite({ url: front.urlOf('one'), specVersion });
  expect(run.scenarios.size).toBe(scenarioCount[specVersion]);
  return run;
}

describe.each(Object.keys(lost) as Revision[])('our server at %s', (revision) => {
  let behind: HttpServer;
  let front: ServedGateway;
  beforeAll(async () => {
    behind = await serveEverything();
    front = await serveGateway([upstream('one', { entry: { url: behind.url }, revision })]);
    await front.gateway.restart('one');
  });
  afterAll(async () => {
    await front?.close();
    await behind?.close();
  });

  const isOld = revision < '2025-11-25';
  test.runIf(isFullRun || revision === newest)('every scenario of 2025-11-25 passes', { timeout }, async () => {
    const run = await runThrough(front, '2025-11-25');
    if (!isOld) return expect(complaints(run, [polling])).toEqual([]);
    const pinned = await startPinProxy(behind.url, revision as PinnedRevision);
    const direct = await runServerSuite({ url: pinned.url, specVersion: '2025-11-25' });
    await pinned.close();
    expect(worse(run, direct, [polling])).toEqual([]);
  });

  test.runIf(isFullRun || revision === '2025-11-25')('every scenario of 2026-07-28 passes', { timeout }, async () => {
    expect(complaints(await runThrough(front, newest), lost[revision])).toEqual([]);
  });

  test.runIf(isFullRun && revision === newest)('the scenarios of tasks pass', { timeout }, async () => {
    const run = await runServerSuite({ url: front.urlOf('one'), scenarios: taskScenarios, atOnce: 2 });
    expect(complaints(run)).toEqual([]);
  });

  // Without the gateway no check is skipped either: test/conformance/http.test.ts.
  const hasSkills = revision === '2025-11-25' || (isFullRun && revision === newest);
  test.runIf(hasSkills)(
    'the scenarios of skills pass, at its address and in the view of all',
    { timeout },
    async () => {
      for (const [scenario, url] of pairsOf(skillScenarios, [front.urlOf('one'), front.url])) {
        const run = await runServerSuite({ url, scenarios: [scenario] });
        expect(complaints(run)).toEqual([]);
        const statuses = [...run.scenarios.values()].flat().map(({ status }) => status);
        expect(statuses).not.toContain('SKIPPED');
        expect(run.scenarios.size).toBe(1);
      }
    },
  );
});

/** What the servers of the SDK do not show even without a gateway. */
const simple: Record<SuiteVersion, readonly Allowance[]> = {
  '2025-11-25': [],
  [newest]: [
    ...allow(
      'the SDK turns errors of tools into results',
      ['server-stateless', 'sep-2575-server-rejects-undeclared-capability'],
      ['server-stateless', 'sep-2575-missing-capability-http-400'],
    ),
    ...allow(
      'their lists never change',
      ['server-stateless', 'sep-2575-server-sends-prompts-list-changed-on-subscription'],
      ['server-stateless', 'sep-2575-server-sends-tools-list-changed-on-subscription'],
    ),
  ],
};

const script = (name: string): string => fileURLToPath(new URL(`../conformance/servers/${name}.mjs`, import.meta.url));

describe.runIf(isFullRun).each([
  ['old', '2025-11-25'],
  ['new', '2025-11-25'],
  ['new', newest],
] as const)('a server of the %s line of the official SDK, at %s', (line, revision) => {
  let behind: Listening;
  let front: ServedGateway;
  beforeAll(async () => {
    behind = await startListening([script(`sdk-${line}`)]);
    front = await serveGateway([upstream('one', { entry: { url: behind.url }, revision })]);
    await front.gateway.restart('one');
  });
  afterAll(async () => {
    await front?.close();
    behind?.close();
  });

  test.each(versions)('no scenario of %s is worse than without the gateway', { timeout }, async (specVersion) => {
    const direct = await runServerSuite({ url: behind.url, specVersion });
    // The old line does not have the newest revision.
    if (line === 'new' || specVersion !== newest) expect(complaints(direct, simple[specVersion])).toEqual([]);
    const losses = specVersion === newest ? lost[revision] : [polling];
    expect(worse(await runThrough(front, specVersion), direct, losses)).toEqual([]);
  });
});
