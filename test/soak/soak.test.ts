// A short soak of the built program: one hostile caller, ten honest ones. The whole one takes minutes: npm run soak.

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const script = join(resolve(import.meta.dirname, '../..'), 'bench/soak/run.mjs');

/** Latencies are the server's only while the honest callers had a core when they wanted one. */
const quietLoopMs = 20;

interface Summary {
  readonly ended?: string;
  readonly results: readonly { readonly bar: string; readonly measured: number; readonly ok: boolean }[];
  readonly honest: {
    readonly all: { readonly count: number };
    readonly lost: readonly string[];
    readonly loop: { readonly p99Ms: number };
  };
}

test('honest callers lose nothing and wait for nothing while one hostile caller does all it can', {
  timeout: 120_000,
}, () => {
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, '--seconds', '20', '--json'], {
    encoding: 'utf8',
    timeout: 110_000,
  });
  expect(stdout, stderr).toContain('"results"');
  const { ended, results, honest } = JSON.parse(stdout) as Summary;
  expect(ended, stderr).toBeUndefined();
  expect(honest.lost).toEqual([]);
  expect(honest.all.count).toBeGreaterThan(100);
  const isBusy = honest.loop.p99Ms > quietLoopMs;
  const missed = results.filter(({ bar, ok }) => !ok && !(isBusy && bar.includes('p99')));
  expect(missed).toEqual([]);
  if (!isBusy) expect(status).toBe(0);
});
