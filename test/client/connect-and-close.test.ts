// A thousand connections, one after the other, leave nothing behind: no memory, no descriptor, no child.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('fixtures/rounds.mjs', import.meta.url));

interface Look {
  readonly heap: number;
  readonly descriptors: number;
  readonly resources: number;
  readonly children: number;
}

test.concurrent.each(['memory', 'stdio', 'http'])(
  '%s: 1,000 rounds of connecting and closing',
  { timeout: 300_000 },
  async (kind) => {
    const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', script, kind, '1000']);
    const { before, after } = JSON.parse(stdout) as { before: Look; after: Look };
    expect(after.children).toBe(0);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors);
    expect(after.resources).toBeLessThanOrEqual(before.resources);
    // A single leaked connection object per round would be more than this.
    expect(after.heap - before.heap).toBeLessThan(1_500_000);
  },
);
