// Many connections, one after the other, leave nothing behind: no memory, no descriptor, no child process.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { isFullRun } from '../support/full.ts';

const script = fileURLToPath(new URL('fixtures/rounds.mjs', import.meta.url));

const rounds = isFullRun ? 1000 : 50;

interface Look {
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: number;
  readonly children: number;
}

test.concurrent.each(['memory', 'stdio', 'http'])(
  '%s: connecting and closing many times leaves nothing behind',
  { timeout: 300_000 },
  async (kind) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, kind, `${rounds}`]);
    const { before, after } = JSON.parse(stdout) as { before: Look; after: Look };
    expect(after.children).toBe(0);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.resources).toBeLessThanOrEqual(before.resources);
    // A leaked client takes at least 17 KB. The constant is what compiled code and caches still grow by.
    expect(after.heap - before.heap).toBeLessThan(400_000 + 1_000 * rounds);
  },
);
