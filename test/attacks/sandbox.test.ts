// Escape attempts, run for real inside the sandbox. After each the host is looked at: the canary is untouched, no
// listener was met, no process is left, and the caller was answered in time.

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunRequest, Sandbox } from '../../src/security/sandbox/index.ts';
import { createSandbox } from '../../src/security/sandbox/index.ts';
import { ensureProgram } from '../support/programs.ts';
import type { Seen } from './sandbox-attempt.ts';
import { limits, shell } from './sandbox-attempt.ts';
import { files, kernelFiles } from './sandbox-files.ts';
import { foreignPrograms } from './sandbox-foreign.ts';
import type { Host } from './sandbox-host.ts';
import { openHost } from './sandbox-host.ts';
import { kernel, network } from './sandbox-kernel.ts';
import { leaks, processes, resources } from './sandbox-resources.ts';

const available = ensureProgram('bwrap') && ensureProgram('perl');

/** Between our clock and the answer: killing and collecting the tree on a busy machine. */
const answerSlackMs = 20_000;

let host: Host;
let sandbox: Sandbox;

beforeAll(async () => {
  if (!available) return;
  host = await openHost();
  sandbox = await createSandbox({
    programs: ['bash', 'perl', 'cat', 'env', 'yes'],
    readOnly: [host.library],
    writable: [host.work],
    environment: { set: { ATTACK_MARK: host.mark }, allow: ['GREETING'] },
    limits,
  });
});

afterAll(async () => {
  await sandbox?.close();
  await host?.close();
});

/** Runs an attack and looks at the host afterwards. */
async function attack(request: RunRequest): Promise<Seen> {
  const startedAt = performance.now();
  const result = await sandbox.run(request);
  const elapsedMs = performance.now() - startedAt;
  expect(host.survivors(), 'no process is left').toEqual([]);
  expect(host.damage(), 'the host is untouched').toEqual([]);
  const patienceMs = (request.timeoutMs ?? limits.timeoutMs) + answerSlackMs;
  expect(elapsedMs, 'the caller was answered in time').toBeLessThan(patienceMs);
  const [stdout, stderr] = [result.stdout.toString(), result.stderr.toString()];
  expect(stdout + stderr, 'our environment stays ours').not.toContain(host.secret);
  expect(stdout, 'no byte from outside').not.toContain('the canary is alive');
  return { ...result, stdout, stderr };
}

describe.skipIf(!available)('escape attempts', () => {
  const groups = { files, 'kernel files': kernelFiles, processes, kernel, network, resources, leaks };
  for (const [group, attempts] of Object.entries(groups)) {
    describe(group, () => {
      test.each(attempts.map((attempt) => [...attempt] as const))('%s', async (_name, request, expected) => {
        expected(await attack(request(host)));
      });
    });
  }

  test('there are at least sixty of them', () => {
    expect(Object.values(groups).flat().length).toBeGreaterThanOrEqual(60);
  });

  test.each(foreignPrograms(process.arch))('a system call of another interface: %s', async (_name, bytes) => {
    writeFileSync(join(host.work, 'foreign'), bytes, { mode: 0o755 });
    // Unhindered it would end with status 42. The filter kills it; a kernel without that interface does not start it.
    const seen = await attack(shell('./foreign; echo "status $?"'));
    expect(seen.stdout.trim()).toMatch(/^status (159|126)$/);
  });

  test('files made inside belong to the user of the sandbox, never to root', async () => {
    await attack(shell('echo mine > mine'));
    expect(statSync(join(host.work, 'mine')).uid).not.toBe(0);
  });

  test('nothing writes any more once the caller has its answer', async () => {
    const seen = await attack(shell('while :; do echo tick >> ticks; done & sleep 0.2; echo answered'));
    expect(seen.stdout.trim()).toBe('answered');
    const then = statSync(join(host.work, 'ticks')).size;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(statSync(join(host.work, 'ticks')).size).toBe(then);
  });
});
