// The official suite against two workers, each request served by another one than the request before; and against three replicas
// with Redis, each request sent to a random one.
import { describe, expect, test } from 'vitest';
import { complaints } from '../conformance/outcome.ts';
import { runServerSuite } from '../conformance/run-suite.ts';
import type { HttpSubject } from '../conformance/subject.ts';
import { describeConcurrentHttp } from '../support/concurrent-suites.ts';
import { isFullRun } from '../support/full.ts';
import { hasRedis } from '../support/redis.ts';
import { startWorkersSubject } from '../support/workers.ts';
import { startRedisSubject } from './support/redis-programs.ts';

const timeout = 300_000;

/** Sessions with workers and everything else with Redis, or all with both. */
const declareSuite = (own: '2025-11-25' | '2026-07-28') => (subject: () => HttpSubject) => {
  test.runIf(isFullRun || own === '2025-11-25')('all 33 scenarios of 2025-11-25 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, specVersion: '2025-11-25' });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(33);
  });

  test.runIf(isFullRun || own === '2026-07-28')('all 40 scenarios of 2026-07-28 pass', { timeout }, async () => {
    const run = await runServerSuite({ url: subject().url, specVersion: '2026-07-28' });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(40);
  });
};

describeConcurrentHttp('with two workers', declareSuite('2025-11-25'), startWorkersSubject);
describe.skipIf(!hasRedis())('with Redis', () => {
  describeConcurrentHttp('and three replicas', declareSuite('2026-07-28'), startRedisSubject);
});
