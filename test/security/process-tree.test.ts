import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { measureTree } from '../../src/security/sandbox/process-tree.ts';

test('a tree is its root and all descendants', async () => {
  const child = spawn('/bin/sh', ['-c', '(sleep 30 & wait) & echo ready; wait'], { detached: true });
  try {
    await new Promise((resolve) => child.stdout.once('data', resolve));
    await expect.poll(() => measureTree(child.pid!).pids.length).toBe(3);
    const usage = measureTree(child.pid!);
    expect(usage.tasks).toBe(3);
    expect(usage.memoryBytes).toBeGreaterThan(10_000);
    expect(usage.writtenBytes).toBeGreaterThanOrEqual(0);
  } finally {
    process.kill(-child.pid!, 'SIGKILL');
  }
});

test('a process that has ended has no tree', () => {
  expect(measureTree(2 ** 22 + 1)).toMatchObject({ pids: [], tasks: 0, memoryBytes: 0 });
});
