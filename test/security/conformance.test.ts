// Every guard on at once (tokens, scopes, policy, argument rules, rate and concurrency limits, load shedding, an audit log
// that answers wait for) and the official suite still passes: guards do not reject valid requests.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryAudit, verifyAudit } from '../../src/security/audit/index.ts';
import { createToken } from '../../src/security/auth/index.ts';
import { complaints } from '../conformance/outcome.ts';
import { runServerSuite } from '../conformance/run-suite.ts';
import { type HttpSubject, startHttpSubject } from '../conformance/subject.ts';
import { isFullRun } from '../support/full.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { type HeaderProxy, startHeaderProxy } from './fixtures/header-proxy.ts';

const timeout = 120_000;
let directory = '';
let proxy: HeaderProxy;
let subject: HttpSubject;
let url = '';

beforeAll(async () => {
  directory = temporaryFolder();
  const { token, hash } = createToken();
  const tokens = join(directory, 'tokens.json');
  writeFileSync(tokens, JSON.stringify({ tokens: [{ id: 'suite', hash, scopes: ['use'] }] }), { mode: 0o600 });
  const config = join(directory, 'config.json');
  writeFileSync(config, JSON.stringify({ audit: { fsync: 'always' } }), { mode: 0o600 });
  proxy = await startHeaderProxy('Authorization', `Bearer ${token}`);
  const names = ['localhost', '127.0.0.1', '[::1]'].flatMap((name) => ['--allow-host', `${name}:${proxy.port}`]);
  const origins = ['localhost', '127.0.0.1'].flatMap((name) => ['--allow-origin', `http://${name}:${proxy.port}`]);
  subject = await startHttpSubject(
    ...['--policy', join(import.meta.dirname, 'fixtures/everything-on.yaml')],
    ...[
      '--audit',
      join(directory, 'audit/audit.jsonl'),
      '--config',
      config,
      '--token-file',
      tokens,
      ...names,
      ...origins,
    ],
  );
  proxy.pointTo(Number(new URL(subject.url).port));
  url = `http://localhost:${proxy.port}/mcp`;
});

afterAll(async () => {
  await subject?.close();
  await proxy?.close();
});

test('the guards are on: requests without a token are rejected', async () => {
  const response = await fetch(subject.url, {
    method: 'POST',
    body: '{}',
    headers: { 'Content-Type': 'application/json' },
  });
  expect(response.status).toBe(401);
});

const suites = [
  ['2025-11-25', 33],
  ['2026-07-28', 40],
] as const;

test.each(isFullRun ? suites : suites.slice(1))(
  'with every guard on all scenarios of %s pass',
  { timeout },
  async (specVersion, count) => {
    const run = await runServerSuite({ url, specVersion });
    expect(complaints(run)).toEqual([]);
    expect(run.scenarios.size).toBe(count);
  },
);

test('all of it is in the audit log, whose chain holds', async () => {
  const calls = new Set<string | undefined>();
  for await (const entry of queryAudit(join(directory, 'audit'), { event: 'call', principal: 'suite' }))
    calls.add(entry.name);
  expect(calls.size).toBeGreaterThan(20);
  let rejected = 0;
  for await (const _entry of queryAudit(join(directory, 'audit'), { event: 'auth' })) rejected++;
  expect(rejected).toBeGreaterThan(0);
  expect((await verifyAudit(join(directory, 'audit'))).every(({ ok }) => ok)).toBe(true);
});
