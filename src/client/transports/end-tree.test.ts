import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { endTree } from './end-tree.ts';

const folder = mkdtempSync(join(tmpdir(), 'end-tree-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('the program of Windows is told to end the process with all that it has started', async () => {
  const [program, given] = [join(folder, 'taskkill'), join(folder, 'given')];
  writeFileSync(program, `#!/bin/sh\nprintf '%s ' "$@" > '${given}.new'; mv '${given}.new' '${given}'\n`);
  chmodSync(program, 0o755);
  let failed = false;
  endTree(123, () => (failed = true), program);
  await expect.poll(() => existsSync(given)).toBe(true);
  expect(readFileSync(given, 'utf8')).toBe('/pid 123 /t /f ');
  expect(failed).toBe(false);
});

test.each(['no-such-program', '/bin/false'])('it is reported if %s does not end them', async (program) => {
  await new Promise<void>((resolve) => endTree(123, resolve, program));
});
