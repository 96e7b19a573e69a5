// A short soak of the built program: one hostile caller, ten honest ones. The whole one takes minutes: npm run soak.

import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';

const script = join(resolve(import.meta.dirname, '../..'), 'bench/soak/run.mjs');

interface Summary {
  readonly ended?: string;
  readonly results: readonly { readonly bar: string; readonly unit: string; readonly ok: boolean }[];
  readonly honest: {
    readonly all: { readonly count: number };
    readonly lost: readonly string[];
  };
}

test('honest callers lose no request and memory stays limited while one hostile caller runs every attack', {
  timeout: 120_000,
}, () => {
  const { stdout, stderr } = spawnSync(process.execPath, [script, '--seconds', isFullRun ? '20' : '5', '--json'], {
    encoding: 'utf8',
    timeout: 110_000,
  });
  expect(stdout, stderr).toContain('"results"');
  const { ended, results, honest } = JSON.parse(stdout) as Summary;
  expect(ended, stderr).toBeUndefined();
  expect(honest.lost).toEqual([]);
  expect(honest.all.count).toBeGreaterThan(100);
  // Times depend on what else the machine does: they are checked by `npm run soak` alone.
  expect(results.filter(({ ok, unit }) => !ok && unit !== 'ms')).toEqual([]);
});
